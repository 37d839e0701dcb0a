/* SPDX-License-Identifier: MIT */
/*
 * ptc_file_next_batch returns the same records as ptc_file_next, for every file form and batch
 * size.
 */
#include <criterion/criterion.h>

#include "lib_packed.h"

enum { MAX = 70 };

static const struct ptc_time_conv conv = { 31, 715827883, 5000 };

/* Builds runs of kernel records, separated by user-space records of perf. */
static void build(struct pd *p)
{
	const struct ptc_auxtrace aux = { .idx = 1, .tid = 10, .cpu = -1 };
	int i;

	pd_init_pt(p, &conv);
	for (i = 0; i < 40; i++) {
		pd_comm(p, i, (uint64_t)i, "batch", false);
		if (i % 7 == 6)
			pd_auxtrace(p, &aux, "\2\202\2\202\2\202\2\202", 8);
		if (i % 11 == 10)
			pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	}
}

/*
 * Walks @f to its end with both functions, @n records at once. Returns the code that ended both
 * walks.
 */
static int walk(const struct ptc_file *f, size_t n, size_t *ret_count)
{
	struct ptc_rec recs[MAX], one;
	uint64_t at = 0, pos = 0;
	struct ptc_err err, err_one;
	int i, got, rc = 0;

	*ret_count = 0;
	while ((got = ptc_file_next_batch(f, &pos, recs, n, &err)) > 0) {
		cr_assert_leq((size_t)got, n);
		for (i = 0; i < got; i++, ++*ret_count) {
			cr_assert_eq(ptc_file_next(f, &at, &one, &err_one), 1);
			cr_assert_eq(recs[i].off, one.off);
			cr_assert_eq(recs[i].type, one.type);
			cr_assert_eq(recs[i].misc, one.misc);
			cr_assert_eq(recs[i].body.pos, one.body.pos);
			cr_assert_eq(recs[i].body.end, one.body.end);
		}
		cr_assert_eq(pos, at, "one goes on where the other is");
	}
	rc = ptc_file_next(f, &at, &one, &err_one);
	cr_assert_eq(got, rc, "%s", err_one.msg);
	if (rc)
		cr_assert_str_eq(err.msg, err_one.msg);
	cr_assert_eq(ptc_file_next_batch(f, &pos, recs, n, &err), rc, "the end stays the end");
	return rc;
}

static void compare(const struct pd *p, bool pipe, size_t want, int code)
{
	struct ptc_file *f;
	struct ptc_err err;
	uint8_t *bytes;
	size_t len, n, count;

	bytes = pipe ? pd_finish_pipe(p, &len) : pd_finish(p, &len);
	cr_assert_eq(ptc_file_open_bytes(bytes, len, "batch", &f, &err), 0, "%s", err.msg);
	for (n = 1; n <= MAX; n++) {
		cr_assert_eq(walk(f, n, &count), code);
		cr_assert_geq(count, want);
	}
	cr_assert_eq(ptc_file_next_batch(f, &(uint64_t){ 0 }, NULL, 0, &err), 0);
	ptc_file_free(f);
	free(bytes);
}

Test(batch, gives_what_steps_give)
{
	static const struct {
		uint32_t type;
		size_t max;
	} forms[] = { { 0, 0 }, { PTC_REC_COMPRESSED, 40 }, { PTC_REC_COMPRESSED2, 4000 } };
	size_t i;

	for (i = 0; i < 3; i++) {
		struct pd p;

		build(&p);
		if (forms[i].type)
			pk_pack(&p, forms[i].type, forms[i].max);
		compare(&p, false, 48, 0);
		compare(&p, true, 48, 0);
		pd_release(&p);
	}
}

Test(batch, damage_comes_behind_what_is_whole)
{
	struct pd p;

	build(&p);
	ptc_buf_le32(&p.data, PERF_RECORD_COMM);
	ptc_buf_le32(&p.data, 7u << 16); /* a size smaller than the record header */
	compare(&p, false, 48, PTC_E_FORMAT);
	pd_release(&p);
}
