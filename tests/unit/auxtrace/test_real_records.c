/* SPDX-License-Identifier: MIT */
/*
 * Description: parses every record of real recordings to its last byte. Skipped if the recordings
 * are missing.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "auxtrace/record/sideband.h"
#include "auxtrace/record/userrec.h"

#define STACKS PTCAP_TRACES "/quipper-branch-stack/perf.data."
#define PT     PTCAP_TRACES "/quipper-intel_pt-4.14/perf.data.intel_pt-4.14"

struct counted {
	unsigned int records, samples, branches, with_spec, with_hw_idx;
};

static void count_sample(const struct ptc_file *f, const struct ptc_rec *rec, struct counted *n)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(f, rec);
	struct ptc_branch b;
	struct ptc_sample s;
	struct ptc_err err;

	cr_assert_not_null(a);
	cr_assert_eq(ptc_sample_parse(rec, &a->attr, &s, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_cur_left(&s.rest), 0, "sample at 0x%llx", (unsigned long long)rec->off);
	n->samples++;
	n->with_hw_idx += s.branches.has_hw_idx;
	while (ptc_branches_next(&s.branches, &b)) {
		n->branches++;
		n->with_spec += b.spec != 0;
	}
}

/* Writes the parsed record again and expects the same bytes. */
static void check_user(const struct ptc_rec *rec)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_user u;
	struct ptc_err err;

	cr_assert_eq(ptc_user_parse(rec, &u, &err), 1, "%s", err.msg);
	ptc_user_put(&b, &u);
	cr_assert(!ptc_buf_failed(&b) && b.len >= 8 + ptc_cur_left(&rec->body));
	cr_assert_eq(memcmp(b.bytes + 8, rec->body.pos, ptc_cur_left(&rec->body)), 0,
		     "record %u at 0x%llx", rec->type, (unsigned long long)rec->off);
	ptc_buf_release(&b);
}

static void check_kernel(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const uint64_t trailer = ptc_file_trailer_type(f, rec);
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_sb sb;

	cr_assert_eq(ptc_sb_parse(rec, trailer, &sb, &err), 1, "%s", err.msg);
	ptc_sb_put(&b, &sb, trailer);
	cr_assert(!ptc_buf_failed(&b) && b.len == 8 + ptc_cur_left(&rec->body),
		  "record %u at 0x%llx", rec->type, (unsigned long long)rec->off);
	ptc_buf_release(&b);
}

static struct counted count(const char *path)
{
	struct counted n = { 0 };
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	if (access(path, R_OK))
		cr_skip_test("no %s", path);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	while ((rc = ptc_file_next(f, &pos, &rec, &err)) > 0) {
		n.records++;
		if (rec.type == PERF_RECORD_SAMPLE)
			count_sample(f, &rec, &n);
		else if (rec.type >= PTC_REC_USER_START)
			check_user(&rec);
		else
			check_kernel(f, &rec);
	}
	cr_assert_eq(rc, 0, "%s", err.msg);
	ptc_file_free(f);
	return n;
}

Test(real_records, branch_stacks_of_skylake)
{
	const struct counted n = count(STACKS "branch-4.14");

	cr_assert_eq(n.records, 50);
	cr_assert(n.samples && n.branches == 32 * n.samples && !n.with_hw_idx);
}

Test(real_records, branch_stacks_with_a_hardware_index)
{
	const struct counted n = count(STACKS "branch_stack_hw_index");

	cr_assert_eq(n.records, 5728);
	cr_assert(n.samples && n.branches && n.with_hw_idx == n.samples);
}

Test(real_records, branch_stacks_with_speculation)
{
	const struct counted n = count(STACKS "branch_stack_spec");

	cr_assert_eq(n.records, 132);
	cr_assert(n.samples == 8 && n.branches == 8 * 16 && n.with_spec == n.branches);
}

Test(real_records, records_of_intel_pt)
{
	const struct counted n = count(PT);

	cr_assert(n.records == 257 && n.samples == 15);
}
