/* SPDX-License-Identifier: MIT */
/* Description: adding one event to the event descriptions of a recording. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/copy/added_event.h"
#include "auxtrace/feature/feature_event.h"
#include "auxtrace/record/userrec.h"

static const struct perf_event_attr old_attr = { .size = PERF_ATTR_SIZE_VER7, .config = 1 };
static const struct perf_event_attr new_attr = { .size = PERF_ATTR_SIZE_VER7, .config = 2 };
static const struct ptc_added added = { &new_attr, "branches", 77 };

static void make(struct ptc_buf *b)
{
	static const uint64_t ids[] = { 1, 2 };
	const struct ptc_event_desc d = { &old_attr, "old", ids, 2 };

	ptc_feature_put_event_desc(b, &d, 1);
}

Test(added_event, it_is_described_behind_the_others)
{
	struct ptc_buf old = PTC_BUF_INIT, out = PTC_BUF_INIT;
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_err err;
	uint64_t id;

	make(&old);
	cr_assert(ptc_added_event_desc(&out, ptc_cur_init(old.bytes, old.len), &added));
	cr_assert_eq(ptc_feature_open_event_desc(ptc_cur_init(out.bytes, out.len), 0, &it, &err),
		     0);
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 1);
	cr_assert_str_eq(e.name, "old");
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 1);
	cr_assert_str_eq(e.name, "branches");
	cr_assert_eq(e.attr.config, 2);
	cr_assert(ptc_cur_le64(&e.ids, &id));
	cr_assert_eq(id, 77);
	cr_assert_eq(ptc_feature_next_event_desc(&it, &e, &err), 0);
	ptc_buf_release(&old);
	ptc_buf_release(&out);
}

Test(added_event, a_head_that_is_cut_or_has_other_attrs_is_left_alone)
{
	struct ptc_buf old = PTC_BUF_INIT, out = PTC_BUF_INIT;
	size_t n;

	make(&old);
	for (n = 0; n < 8; n++) {
		uint8_t *cut = malloc(n ? n : 1);

		memcpy(cut, old.bytes, n);
		cr_assert_not(ptc_added_event_desc(&out, ptc_cur_init(cut, n), &added), "%zu", n);
		free(cut);
	}
	old.bytes[4]++;
	cr_assert_not(ptc_added_event_desc(&out, ptc_cur_init(old.bytes, old.len), &added));
	cr_assert_eq(out.len, 0);
	ptc_buf_release(&old);
}

Test(added_event, it_has_an_entry_in_the_index_of_ids)
{
	struct ptc_id_index_entry e;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_cur c;

	ptc_added_id_index(&b, &added);
	c = ptc_cur_init(b.bytes, b.len);
	cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_user_parse(&rec, &u, &err), 1);
	cr_assert(ptc_id_index_next(&u.u.id_index, &e));
	cr_assert_eq(e.id, 77);
	cr_assert_eq(e.cpu, -1);
	cr_assert_eq(e.tid, -1);
	cr_assert_not(ptc_id_index_next(&u.u.id_index, &e));
	ptc_buf_release(&b);
}
