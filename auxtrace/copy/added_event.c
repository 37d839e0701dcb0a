/* SPDX-License-Identifier: MIT */
#include "auxtrace/copy/added_event.h"

#include "auxtrace/feature/feature_event.h"
#include "auxtrace/record/userrec.h"

enum { HEAD = 8 }; /* u32 events, u32 attr_size */

bool ptc_added_event_desc(struct ptc_buf *b, struct ptc_cur section, const struct ptc_added *a)
{
	const struct ptc_event_desc d = { a->attr, a->name, &a->id, 1 };
	struct ptc_buf one = PTC_BUF_INIT;
	uint32_t events, size;
	bool fits;

	ptc_feature_put_event_desc(&one, &d, 1);
	fits = !ptc_buf_failed(&one) && ptc_cur_le32(&section, &events) &&
	       ptc_cur_le32(&section, &size) && events < UINT32_MAX &&
	       size == ptc_le32(one.bytes + 4);
	if (fits) {
		ptc_buf_le32(b, events + 1);
		ptc_buf_le32(b, size);
		ptc_buf_put(b, section.pos, ptc_cur_left(&section));
		ptc_buf_put(b, one.bytes + HEAD, one.len - HEAD);
	}
	ptc_buf_release(&one);
	return fits;
}

void ptc_added_id_index(struct ptc_buf *b, const struct ptc_added *a)
{
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	struct ptc_buf entry = PTC_BUF_INIT;

	ptc_buf_le64(&entry, a->id);
	ptc_buf_le64(&entry, 0);	  /* ring */
	ptc_buf_le64(&entry, UINT64_MAX); /* any CPU */
	ptc_buf_le64(&entry, UINT64_MAX); /* any thread */
	u.u.id_index.n = 1;
	u.u.id_index.entries = ptc_cur_init(entry.bytes, entry.len);
	ptc_user_put(b, &u);
	b->failed |= ptc_buf_failed(&entry);
	ptc_buf_release(&entry);
}
