/* SPDX-License-Identifier: MIT */
/* Description: every false claim about compressed records is found. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "auxtrace/feature/feature.h"
#include "findings.h"
#include "lib_packed.h"

Test(verify, the_feature_compressed)
{
	static const struct ptc_compressed future = { 2, 1, 3, 5, 65536 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;

	vf_sound(&p);
	ptc_feature_put_compressed(&b, &future);
	vf_put_feature(&p, PTC_FEAT_COMPRESSED, &b);
	vf_expect(&p, "compressed ");
	pd_release(&p);
}

/* Adds many records: one compressed record expands to more than the largest record size. */
static void packed(struct pd *p, uint32_t ratio, uint32_t mmap_len)
{
	const struct ptc_compressed c = { 1, 1, 1, ratio, mmap_len };
	struct ptc_buf b = PTC_BUF_INIT;
	int i;

	vf_sound(p);
	ptc_buf_reset(&p->data);
	for (i = 0; i < 1500; i++)
		pd_comm(p, 7, 10, "x", false);
	pk_pack(p, PTC_REC_COMPRESSED, 60000);
	p->has[PTC_FEAT_COMPRESSED] = false;
	ptc_buf_release(&p->features[PTC_FEAT_COMPRESSED]);
	ptc_feature_put_compressed(&b, &c);
	vf_put_feature(p, PTC_FEAT_COMPRESSED, &b);
}

Test(verify, what_compressed_records_expand_to)
{
	struct pd p;

	packed(&p, 0, 1 << 20);
	cr_assert_gt(p.data.len, 0);
	vf_expect(&p, "");
	pd_release(&p);
	packed(&p, 0, 1);
	vf_expect(&p, "compressed ");
	pd_release(&p);
	packed(&p, 7, 1 << 20); /* the real ratio is several hundred */
	vf_expect(&p, "compressed ");
	pd_release(&p);
	packed(&p, 100000, 1 << 20);
	vf_expect(&p, "compressed ");
	pd_release(&p);
}

Test(verify, compressed_records_of_which_nothing_tells)
{
	struct pd p;
	uint8_t *bytes;
	size_t len;

	packed(&p, 0, 1 << 20);
	p.has[PTC_FEAT_COMPRESSED] = false;
	bytes = pd_finish_pipe(&p, &len);
	cr_assert_str_eq(vf_found_in_bytes(bytes, len), "compressed ");
	free(bytes);
	pd_release(&p);
}
