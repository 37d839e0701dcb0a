/* SPDX-License-Identifier: MIT */
/*
 * mkrec FILE [truncated|features|all]: makes a small recording with the writer, with every feature
 * and record that `ptcap record` writes. The trace is only a PSB+. truncated: reports a loss;
 * features: adds the other features that perf accepts; all: also adds features that perf does not
 * accept.
 */
#include <stdio.h>
#include <string.h>

#include "auxtrace/record/auxtrace_info.h"
#include "auxtrace/record/layout.h"
#include "auxtrace/record/sideband.h"
#include "auxtrace/writer/writer.h"
#include "mkfeatures.h"

#define TYPE                                                                                       \
	((uint64_t)(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |        \
		    PERF_SAMPLE_IDENTIFIER))

enum { PMU = 8, TID = 4242, ID_PT = 100, ID_DUMMY = 200 };

static const struct ptc_time_conv tc = { 31, 715827883, 5000000000 };

static int events(struct ptc_writer *w, struct ptc_err *err)
{
	struct perf_event_attr attr = {
		.type = PMU,
		.config = 0x300e601,
		.sample_period = 1,
		.sample_type = TYPE,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.enable_on_exec = 1,
		.sample_id_all = 1,
	};
	uint64_t id = ID_PT;
	int rc;

	rc = ptc_writer_attr(w, &attr, "intel_pt//u", &id, 1, err);
	if (rc)
		return rc;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 1;
	id = ID_DUMMY;
	return ptc_writer_attr(w, &attr, "dummy:u", &id, 1, err);
}

static struct ptc_sb side(uint32_t type, uint16_t misc, uint64_t id, uint64_t time)
{
	return (struct ptc_sb){
		.type = type,
		.misc = misc,
		.id = { .has = TYPE, .pid = TID, .tid = TID, .time = time, .id = id },
	};
}

static void id_index(struct ptc_buf *b)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_ID_INDEX, 0);
	static const uint64_t ids[] = { ID_PT, ID_DUMMY };
	size_t i;

	ptc_buf_le64(b, 2);
	for (i = 0; i < 2; i++) {
		ptc_buf_le64(b, ids[i]);
		ptc_buf_le64(b, 0);
		ptc_buf_le64(b, UINT64_MAX);
		ptc_buf_le64(b, TID);
	}
	ptc_rec_end(b, start);
}

static void thread_map(struct ptc_buf *b)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_THREAD_MAP, 0);

	ptc_buf_le64(b, 1);
	ptc_buf_le64(b, TID);
	ptc_buf_put(b, "mkrec\0\0\0\0\0\0\0\0\0\0", 16);
	ptc_rec_end(b, start);
}

static void records(struct ptc_buf *b, uint64_t aux_flags)
{
	const struct ptc_pt_info info = {
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = PMU,
		.time = tc,
		.cap_user_time_zero = true,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.mtc_bit = 0x200,
		.mtc_freq_bits = 0x3c000,
		.tsc_ctc_n = 250,
		.tsc_ctc_d = 2,
		.cyc_bit = 2,
		.max_nonturbo_ratio = 30,
		.filter = "",
	};
	static const uint8_t code[] = { 0x0f, 0x05, 0xc3 };
	struct ptc_sb sb;

	id_index(b);
	ptc_time_conv_put(b, &tc);
	ptc_pt_info_put(b, &info);
	thread_map(b);
	sb = side(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, ID_DUMMY, 0);
	sb.u.comm = (struct ptc_sb_comm){ TID, TID, "mkrec" };
	ptc_sb_put(b, &sb, TYPE);
	sb = side(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, ID_DUMMY, 0);
	sb.u.mmap = (struct ptc_sb_mmap){ .pid = TID,
					  .tid = TID,
					  .addr = 0x401000,
					  .len = 0x1000,
					  .pgoff = 0x1000,
					  .prot = 5,
					  .flags = 2,
					  .filename = "/usr/bin/mk rec\033[2J" };
	ptc_sb_put(b, &sb, TYPE);
	sb = side(PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_USER, ID_DUMMY, 0);
	sb.u.poke.addr = 0x7fff12340000;
	sb.u.poke.new_bytes = ptc_cur_init(code, sizeof(code));
	ptc_sb_put(b, &sb, TYPE);
	ptc_rec_end(b, ptc_rec_begin(b, PTC_REC_FINISHED_INIT, 0));
	sb = side(PERF_RECORD_ITRACE_START, 0, ID_PT, 6000000000);
	sb.u.itrace_start = (struct ptc_sb_itrace_start){ TID, TID };
	ptc_sb_put(b, &sb, TYPE);
	sb = side(PERF_RECORD_SWITCH, 0, ID_DUMMY, 6000000000);
	ptc_sb_put(b, &sb, TYPE);
	sb = side(PERF_RECORD_AUX, 0, ID_PT, 6000000100);
	sb.u.aux = (struct ptc_sb_aux){ 0, 24, aux_flags };
	ptc_sb_put(b, &sb, TYPE);
}

static int feature(struct ptc_writer *w, unsigned int bit, struct ptc_buf *b, struct ptc_err *err)
{
	int rc = ptc_writer_feature(w, bit, b->bytes, b->len, err);

	ptc_buf_reset(b);
	return rc;
}

static int features(struct ptc_writer *w, struct ptc_buf *b, struct ptc_err *err)
{
	static const struct {
		unsigned int bit;
		const char *text;
	} strings[] = {
		{ PTC_FEAT_HOSTNAME, "box" },	  { PTC_FEAT_OSRELEASE, "6.1.0" },
		{ PTC_FEAT_VERSION, "0.1.0" },	  { PTC_FEAT_ARCH, "x86_64" },
		{ PTC_FEAT_CPUDESC, "Some CPU" }, { PTC_FEAT_CPUID, "GenuineIntel,6,158,10" },
	};
	static const char *const argv[] = { "ptcap", "record", "--", "mk rec" };
	static const struct ptc_pmu_mapping pmus[] = { { 1, "software" }, { PMU, "intel_pt" } };
	const struct ptc_build_id_entry id = {
		PERF_RECORD_MISC_USER, -1, { { 1, 2, 3 }, 20 }, "/usr/bin/mk rec"
	};
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]) && !rc; i++) {
		ptc_feature_put_string(b, strings[i].text);
		rc = feature(w, strings[i].bit, b, err);
	}
	ptc_feature_put_nrcpus(b, 2, 2);
	rc = rc ? rc : feature(w, PTC_FEAT_NRCPUS, b, err);
	ptc_feature_put_total_mem(b, 4096);
	rc = rc ? rc : feature(w, PTC_FEAT_TOTAL_MEM, b, err);
	ptc_feature_put_cmdline(b, argv, 4);
	rc = rc ? rc : feature(w, PTC_FEAT_CMDLINE, b, err);
	ptc_feature_put_pmu_mappings(b, pmus, 2);
	rc = rc ? rc : feature(w, PTC_FEAT_PMU_MAPPINGS, b, err);
	ptc_feature_put_sample_time(b, 6000000000, 6000000100);
	rc = rc ? rc : feature(w, PTC_FEAT_SAMPLE_TIME, b, err);
	ptc_feature_put_build_id(b, &id);
	return rc ? rc : feature(w, PTC_FEAT_BUILD_ID, b, err);
}

static int make(const char *path, const char *how, struct ptc_err *err)
{
	/* PSB and PSBEND: 18 bytes, which the writer pads to 24. */
	static const uint8_t trace[] = { 2,    0x82, 2,	   0x82, 2,    0x82, 2,	   0x82, 2,
					 0x82, 2,    0x82, 2,	 0x82, 2,    0x82, 2,	 0x23 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_writer *w;
	int rc;

	rc = ptc_writer_new(path, &w, err);
	if (rc)
		return rc;
	records(&b, strcmp(how, "truncated") ? 0 : PERF_AUX_FLAG_TRUNCATED);
	rc = events(w, err);
	if (!rc)
		rc = ptc_writer_records(w, (struct ptc_seg[2]){ { b.bytes, b.len }, { NULL, 0 } },
					err);
	if (!rc)
		rc = ptc_writer_auxtrace(
			w, &(struct ptc_auxtrace){ .reference = 3000000000, .tid = TID, .cpu = -1 },
			(struct ptc_seg[2]){ { trace, sizeof(trace) }, { NULL, 0 } }, err);
	ptc_buf_reset(&b);
	if (!rc)
		rc = features(w, &b, err);
	if (!rc && (!strcmp(how, "features") || !strcmp(how, "all")))
		rc = mkfeatures(w, !strcmp(how, "all"), err);
	ptc_buf_release(&b);
	if (rc)
		ptc_writer_free(w);
	return rc ? rc : ptc_writer_commit(w, err);
}

int main(int argc, char **argv)
{
	struct ptc_err err;

	if (argc < 2)
		return 2;
	if (make(argv[1], argc > 2 ? argv[2] : "", &err)) {
		(void)fprintf(stderr, "mkrec: %s\n", err.msg);
		return 1;
	}
	return 0;
}
