/* SPDX-License-Identifier: MIT */
/* Description: recordings that perf made on real machines. Skipped if these files are missing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/reader/aux_index.h"
#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sideband.h"

#define PT PTCAP_TRACES "/quipper-intel_pt-4.14/perf.data.intel_pt-4.14"

/* Opens a recording. Skips the test if the file is missing. */
static struct ptc_file *open_real(const char *path)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;

	if (access(path, R_OK))
		cr_skip_test("no %s", path);
	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	return f;
}

/* Counts the records by type and parses each record of a known type. */
static uint64_t count(const struct ptc_file *f, uint64_t by_type[128], struct ptc_index *ix)
{
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0, n = 0;
	int rc;

	while ((rc = ptc_file_next(f, &pos, &rec, &err)) > 0) {
		struct ptc_sb sb;

		cr_assert_lt(rec.type, 128);
		by_type[rec.type]++;
		n++;
		cr_assert_geq(ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, &err), 0,
			      "%s", err.msg);
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(ix, f, &rec, &err), 0);
	}
	cr_assert_eq(rc, 0, "%s", err.msg);
	return n;
}

Test(real, the_records_of_an_intel_pt_recording_are_those_perf_counts)
{
	struct ptc_file *f = open_real(PT);
	uint64_t n[128] = { 0 };
	struct ptc_index ix = PTC_INDEX_INIT;
	unsigned int bit, features = 0;
	uint64_t off, v;
	struct ptc_cur c;

	cr_assert_eq(count(f, n, &ix), 257);
	cr_assert(n[PERF_RECORD_MMAP] == 56 && n[PERF_RECORD_MMAP2] == 10 &&
		  n[PERF_RECORD_COMM] == 3 && n[PERF_RECORD_EXIT] == 1 &&
		  n[PERF_RECORD_SAMPLE] == 15 && n[PERF_RECORD_AUX] == 10 &&
		  n[PERF_RECORD_ITRACE_START] == 2 && n[PERF_RECORD_SWITCH_CPU_WIDE] == 152);
	cr_assert(n[PTC_REC_FINISHED_ROUND] == 4 && n[PTC_REC_AUXTRACE_INFO] == 1 &&
		  n[PTC_REC_TIME_CONV] == 1 && n[PTC_REC_AUXTRACE] == 2);
	cr_assert_eq(ix.nqueues, 2);
	cr_assert(ix.queues[0].idx == 0 && ix.queues[0].cpu == 0 && ix.queues[0].bytes == 12240);
	cr_assert(ix.queues[1].idx == 3 && ix.queues[1].cpu == 3 && ix.queues[1].bytes == 137728);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		features += ptc_file_feature(f, bit, &c, &off);
	cr_assert_eq(features, 15);
	cr_assert(ptc_file_feature(f, PTC_FEAT_AUXTRACE, &c, &off));
	cr_assert(ptc_cur_le64(&c, &v) && v == 2);
	cr_assert(ptc_cur_le64(&c, &v) && v == 10688);
	cr_assert_eq(v + 48, ix.queues[0].chunks[0].file_off);
	cr_assert(ptc_cur_le64(&c, &v) && v == 48);
	cr_assert(ptc_cur_le64(&c, &v) && v == 30600);
	cr_assert_eq(v + 48, ix.queues[1].chunks[0].file_off);
	ptc_index_release(&ix);
	ptc_file_free(f);
}

Test(real, its_clock_and_cpu_are_read)
{
	struct ptc_file *f = open_real(PT);
	struct ptc_pt_info info = { .type = 0 };
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur c;
	uint64_t pos = 0, off;
	const char *cpuid;

	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE_INFO)
			cr_assert_eq(ptc_pt_info_parse(&rec, &info, &err), 0, "%s", err.msg);
	cr_assert(info.type == PTC_AUXTRACE_TYPE_INTEL_PT && info.pmu_type == 6);
	cr_assert(info.cap_user_time_zero && info.time.shift == 31 && info.per_cpu_mmaps);
	cr_assert(info.have_sched_switch == 3 && !info.snapshot_mode);
	cr_assert(info.tsc_ctc_n == 100 && info.tsc_ctc_d == 2 && info.max_nonturbo_ratio == 12);
	cr_assert(ptc_file_feature(f, PTC_FEAT_CPUID, &c, &off));
	cr_assert(ptc_feature_get_string(&c, &cpuid));
	cr_assert_str_eq(cpuid, "GenuineIntel,6,78,3");
	ptc_file_free(f);
}

/* Parses every feature to its last byte. */
static void features_are_whole(const struct ptc_file *f)
{
	struct ptc_nrcpus cpus = { 0, 0 };
	unsigned int bit;
	struct ptc_cur c;

	if (ptc_file_feature(f, PTC_FEAT_NRCPUS, &c, NULL))
		cr_assert(ptc_feature_get_nrcpus(&c, &cpus));
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		struct ptc_cur rest;
		struct ptc_err err;
		uint64_t off;

		if (!ptc_file_feature(f, bit, &c, &off))
			continue;
		cr_assert_not_null(ptc_feature_name(bit));
		cr_assert_eq(ptc_feature_check(bit, c, off, cpus.available, &rest, &err), 0,
			     "%s: %s", ptc_file_name(f), err.msg);
		cr_assert_eq(ptc_cur_left(&rest), 0, "%s: %s has %zu bytes more", ptc_file_name(f),
			     ptc_feature_name(bit), ptc_cur_left(&rest));
	}
}

Test(real, features_are_read_to_their_last_byte)
{
	static const char *const paths[] = {
		PT,
		PTCAP_TRACES "/quipper-branch-stack/perf.data.branch-4.14",
		PTCAP_TRACES "/quipper-branch-stack/perf.data.branch_stack_hw_index",
		PTCAP_TRACES "/quipper-branch-stack/perf.data.branch_stack_spec",
	};
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct ptc_file *f = open_real(paths[i]);

		features_are_whole(f);
		ptc_file_free(f);
	}
}

/* Reads a recording that perf makes on this machine. Skipped if perf may not record. */
Test(real, features_of_a_fresh_recording_are_read_to_their_last_byte)
{
	char folder[] = "/tmp/ptcap-test-XXXXXX", command[256], path[64];
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_cur c;
	int status;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/perf.data", folder);
	(void)snprintf(command, sizeof(command),
		       "perf record -q -k CLOCK_MONOTONIC -e '{cpu-clock:u,task-clock:u}' -o %s "
		       "/bin/true >/dev/null 2>&1",
		       path);
	status = system(command);
	if (!status) {
		cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
		features_are_whole(f);
		cr_assert(ptc_file_feature(f, PTC_FEAT_CPU_TOPOLOGY, &c, NULL));
		cr_assert(ptc_file_feature(f, PTC_FEAT_GROUP_DESC, &c, NULL));
		cr_assert(ptc_file_feature(f, PTC_FEAT_CLOCK_DATA, &c, NULL));
		ptc_file_free(f);
	}
	(void)unlink(path);
	(void)rmdir(folder);
	if (status)
		cr_skip_test("perf cannot record here");
}

Test(real, recordings_with_branch_stacks_open_too)
{
	static const char *const names[] = { "branch-4.14", "branch_stack_hw_index",
					     "branch_stack_spec" };
	size_t i;

	for (i = 0; i < 3; i++) {
		uint64_t n[128] = { 0 };
		struct ptc_index ix = PTC_INDEX_INIT;
		struct ptc_file *f;
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/quipper-branch-stack/perf.data.%s",
			       PTCAP_TRACES, names[i]);
		f = open_real(path);
		cr_assert_gt(count(f, n, &ix), 0);
		cr_assert_gt(n[PERF_RECORD_SAMPLE], 0);
		cr_assert_eq(ix.nqueues, 0);
		ptc_file_free(f);
	}
}

Test(real, a_recording_in_pipe_mode_is_as_one_in_a_file)
{
	struct ptc_file *f = open_real(PTCAP_TRACES "/quipper-piped.intel_pt-4.14/"
						    "perf.data.piped.intel_pt-4.14");
	struct ptc_index ix = PTC_INDEX_INIT;
	unsigned int bit, features = 0;
	uint64_t n[128] = { 0 };
	struct ptc_cur c;
	const char *s;

	cr_assert_eq(ptc_file_form(f), PTC_FORM_PIPE);
	(void)count(f, n, &ix);
	cr_assert(n[PTC_REC_HEADER_ATTR] == 4 && n[PTC_REC_HEADER_FEATURE] == 12);
	cr_assert(n[PERF_RECORD_SWITCH_CPU_WIDE] == 552 && n[PERF_RECORD_AUX] == 8 &&
		  n[PERF_RECORD_SAMPLE] == 11 && n[PTC_REC_AUXTRACE] == 2);
	cr_assert_eq(ptc_file_nattrs(f), 4);
	cr_assert_gt(ptc_file_attr(f, 0)->nids, 0);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		features += ptc_file_feature(f, bit, &c, NULL);
	cr_assert_eq(features, 12);
	cr_assert(ptc_file_feature(f, PTC_FEAT_ARCH, &c, NULL) && ptc_feature_get_string(&c, &s) &&
		  !strcmp(s, "x86_64"));
	cr_assert_eq(ix.nqueues, 2);
	cr_assert_eq(ix.queues[0].bytes + ix.queues[1].bytes, 76400 + 68192);
	ptc_index_release(&ix);
	ptc_file_free(f);
}
