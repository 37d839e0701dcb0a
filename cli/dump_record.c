/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "auxtrace/layout.h"
#include "auxtrace/pt_info.h"
#include "auxtrace/sideband.h"
#include "base/err.h"
#include "dump.h"
#include "show.h"

static int short_record(const struct ptc_rec *rec, struct ptc_err *err)
{
	return ptc_fail_at(err, PTC_E_FORMAT, rec->off, "%s record is too short",
			   ptc_rec_name(rec->type));
}

static void show_sample_id(const struct ptc_sample_id *id)
{
	const char *separator = "";

	if (!id->has)
		return;
	printf(" {");
	if (id->has & PERF_SAMPLE_TID) {
		printf("pid=%d tid=%d", id->pid, id->tid);
		separator = " ";
	}
	if (id->has & PERF_SAMPLE_TIME) {
		printf("%stime=", separator);
		ptc_show_time(id->time);
		separator = " ";
	}
	if (id->has & PERF_SAMPLE_CPU) {
		/* -1 in what perf or a source without CPUs has made up */
		printf("%scpu=%d", separator, (int32_t)id->cpu);
		separator = " ";
	}
	if (id->has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) {
		printf("%sid=%" PRIu64, separator, id->id);
		separator = " ";
	}
	if (id->has & PERF_SAMPLE_STREAM_ID)
		printf("%sstream_id=%" PRIu64, separator, id->stream_id);
	printf("}");
}

static void show_mmap(const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;
	char hex[2 * PTC_BUILD_ID_MAX + 1];

	printf(" pid=%d tid=%d addr=0x%" PRIx64 " len=0x%" PRIx64 " pgoff=0x%" PRIx64
	       " prot=%c%c%c flags=0x%x",
	       m->pid, m->tid, m->addr, m->len, m->pgoff, m->prot & 1 ? 'r' : '-',
	       m->prot & 2 ? 'w' : '-', m->prot & 4 ? 'x' : '-', m->flags);
	if (m->build_id.len) {
		ptc_build_id_hex(&m->build_id, hex);
		printf(" build_id=%s", hex);
	} else if (sb->type == PERF_RECORD_MMAP2) {
		printf(" dev=%u:%u ino=%" PRIu64, m->maj, m->min, m->ino);
	}
	printf(" filename=");
	ptc_show_text(m->filename);
}

/* The first bytes of code, in hex. */
static void show_bytes(struct ptc_cur c)
{
	unsigned int i;
	uint8_t byte;

	printf(" bytes=");
	for (i = 0; i < 16 && ptc_cur_u8(&c, &byte); i++)
		printf("%02x", byte);
	if (ptc_cur_left(&c))
		printf("...");
}

static void show_sideband(const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		show_mmap(sb);
		break;
	case PERF_RECORD_COMM:
		printf(" pid=%d tid=%d%s comm=", sb->u.comm.pid, sb->u.comm.tid,
		       sb->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "");
		ptc_show_text(sb->u.comm.comm);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		printf(" pid=%d ppid=%d tid=%d ptid=%d time=", sb->u.task.pid, sb->u.task.ppid,
		       sb->u.task.tid, sb->u.task.ptid);
		ptc_show_time(sb->u.task.time);
		break;
	case PERF_RECORD_AUX:
		printf(" offset=0x%" PRIx64 " size=0x%" PRIx64 " flags=", sb->u.aux.offset,
		       sb->u.aux.size);
		ptc_show_aux_flags(sb->u.aux.flags);
		break;
	case PERF_RECORD_ITRACE_START:
		printf(" pid=%d tid=%d", sb->u.itrace_start.pid, sb->u.itrace_start.tid);
		break;
	case PERF_RECORD_LOST:
		printf(" id=%" PRIu64 " lost=%" PRIu64, sb->u.lost.id, sb->u.lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		printf(" lost=%" PRIu64, sb->u.lost.lost);
		break;
	case PERF_RECORD_TEXT_POKE:
		printf(" addr=0x%" PRIx64 " old_len=%zu new_len=%zu", sb->u.poke.addr,
		       ptc_cur_left(&sb->u.poke.old_bytes), ptc_cur_left(&sb->u.poke.new_bytes));
		show_bytes(sb->u.poke.new_bytes);
		break;
	default: /* SWITCH, SWITCH_CPU_WIDE */
		printf(" %s", sb->misc & PERF_RECORD_MISC_SWITCH_OUT ? "out" : "in");
		if (sb->type == PERF_RECORD_SWITCH_CPU_WIDE)
			printf(" next_prev_pid=%d next_prev_tid=%d", sb->u.sw.next_prev_pid,
			       sb->u.sw.next_prev_tid);
		break;
	}
	show_sample_id(&sb->id);
}

static int show_sample(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(f, rec);
	struct ptc_cur body = rec->body;
	struct ptc_sample s;

	if (!a)
		return 0;
	if (!ptc_sample_parse_front(&body, a->attr.sample_type, &s))
		return short_record(rec, err);
	if (s.id.has & PERF_SAMPLE_IP)
		printf(" ip=0x%" PRIx64, s.ip);
	if (s.id.has & PERF_SAMPLE_ADDR)
		printf(" addr=0x%" PRIx64, s.addr);
	if (s.id.has & PERF_SAMPLE_PERIOD)
		printf(" period=%" PRIu64, s.period);
	if (ptc_cur_left(&body))
		printf(" more=%zu", ptc_cur_left(&body));
	show_sample_id(&s.id);
	return 0;
}

static int show_id_index(const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint64_t n, id, idx, cpu, tid;

	if (!ptc_cur_le64(&c, &n) || n > ptc_cur_left(&c) / 32)
		return short_record(rec, err);
	printf(" n=%" PRIu64, n);
	while (n-- && ptc_cur_le64(&c, &id) && ptc_cur_le64(&c, &idx) && ptc_cur_le64(&c, &cpu) &&
	       ptc_cur_le64(&c, &tid))
		printf(" [id=%" PRIu64 " idx=%" PRIu64 " cpu=%" PRId64 " tid=%" PRId64 "]", id, idx,
		       (int64_t)cpu, (int64_t)tid);
	return 0;
}

static int show_thread_map(const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	struct ptc_cur comm;
	const char *text;
	uint64_t n, pid;

	if (!ptc_cur_le64(&c, &n) || n > ptc_cur_left(&c) / 24)
		return short_record(rec, err);
	printf(" n=%" PRIu64, n);
	while (n-- && ptc_cur_le64(&c, &pid) && ptc_cur_sub(&c, 16, &comm)) {
		printf(" [tid=%" PRId64 " comm=", (int64_t)pid);
		ptc_show_text(ptc_cur_str(&comm, &text) ? text : "");
		printf("]");
	}
	return 0;
}

static int show_pt_info(const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_pt_info i;
	int rc = ptc_pt_info_parse(rec, &i, err);

	if (rc)
		return rc;
	if (i.type != PTC_AUXTRACE_TYPE_INTEL_PT) {
		printf(" type=%u%s", i.type,
		       i.type == PTC_AUXTRACE_TYPE_INTEL_BTS ? " intel_bts" : "");
		return 0;
	}
	printf(" type=1 intel_pt pmu_type=%u time_shift=%u time_mult=%u time_zero=%" PRIu64
	       " cap_user_time_zero=%d tsc_bit=0x%" PRIx64 " noretcomp_bit=0x%" PRIx64
	       " have_sched_switch=%" PRIu64 " snapshot_mode=%d per_cpu_mmaps=%d mtc_bit=0x%" PRIx64
	       " mtc_freq_bits=0x%" PRIx64 " tsc_ctc_n=%u tsc_ctc_d=%u cyc_bit=0x%" PRIx64
	       " max_nonturbo_ratio=%u filter=",
	       i.pmu_type, i.time.shift, i.time.mult, i.time.zero, i.cap_user_time_zero, i.tsc_bit,
	       i.noretcomp_bit, i.have_sched_switch, i.snapshot_mode, i.per_cpu_mmaps, i.mtc_bit,
	       i.mtc_freq_bits, i.tsc_ctc_n, i.tsc_ctc_d, i.cyc_bit, i.max_nonturbo_ratio);
	ptc_show_text(i.filter);
	return 0;
}

static int show_time_conv(const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_time_conv tc;
	int rc = ptc_time_conv_parse(rec, &tc, err);

	if (!rc)
		printf(" time_shift=%u time_mult=%u time_zero=%" PRIu64, tc.shift, tc.mult,
		       tc.zero);
	return rc;
}

static int show_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur bytes;
	int rc = ptc_file_auxtrace(f, rec, &a, &bytes, err);

	if (!rc)
		printf(" size=0x%" PRIx64 " offset=0x%" PRIx64 " reference=0x%" PRIx64
		       " idx=%u tid=%d cpu=%d",
		       a.size, a.offset, a.reference, a.idx, a.tid, a.cpu);
	return rc;
}

static int show_auxtrace_error(const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint32_t w[6]; /* type, code, cpu, pid, tid, fmt */
	uint64_t ip, time;
	struct ptc_cur msg;
	const char *text;
	size_t i;

	for (i = 0; i < 6; i++)
		if (!ptc_cur_le32(&c, &w[i]))
			return short_record(rec, err);
	if (!ptc_cur_le64(&c, &ip))
		return short_record(rec, err);
	printf(" type=%u code=%u cpu=%d pid=%d tid=%d ip=0x%" PRIx64, w[0], w[1], (int32_t)w[2],
	       (int32_t)w[3], (int32_t)w[4], ip);
	if (ptc_cur_le64(&c, &time) && ptc_cur_sub(&c, 64, &msg) && ptc_cur_str(&msg, &text)) {
		printf(" time=");
		ptc_show_time(time);
		printf(" msg=");
		ptc_show_text(text);
	}
	return 0;
}

/* Records without typed fields: how much they hold, and whose they are. */
static int show_rest(const struct ptc_file *f, const struct ptc_rec *rec)
{
	struct ptc_sample_id id = { 0 };
	struct ptc_cur body = rec->body;

	(void)ptc_sample_id_parse(&body, ptc_file_trailer_type(f, rec), &id);
	if (ptc_cur_left(&body))
		printf(" bytes=%zu", ptc_cur_left(&body));
	show_sample_id(&id);
	return 0;
}

static int show_fields(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_sb sb;
	int rc;

	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		return show_sample(f, rec, err);
	case PTC_REC_ID_INDEX:
		return show_id_index(rec, err);
	case PTC_REC_THREAD_MAP:
		return show_thread_map(rec, err);
	case PTC_REC_AUXTRACE_INFO:
		return show_pt_info(rec, err);
	case PTC_REC_AUXTRACE:
		return show_auxtrace(f, rec, err);
	case PTC_REC_AUXTRACE_ERROR:
		return show_auxtrace_error(rec, err);
	case PTC_REC_TIME_CONV:
		return show_time_conv(rec, err);
	default:
		rc = ptc_sb_parse(rec, ptc_file_trailer_type(f, rec), &sb, err);
		if (rc == 1)
			show_sideband(&sb);
		return rc ? rc < 0 ? rc : 0 : show_rest(f, rec);
	}
}

int ptc_dump_record(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_err *err)
{
	const size_t size = PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	const char *name = ptc_rec_name(rec->type);
	int rc;

	printf("0x%06" PRIx64 " ", rec->off);
	if (name)
		printf("%-15s", name);
	else
		printf("UNKNOWN(%u)", rec->type);
	printf(" %5zu misc=0x%x", size, rec->misc);
	rc = show_fields(f, rec, err);
	printf("%s\n", rc ? " DAMAGED" : "");
	return rc;
}
