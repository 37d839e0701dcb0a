/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/common/text_escape.h"
#include "cli/dump/dump.h"
#include "cli/dump/dump_emit.h"
#include "ptcap/file.h"

static void emit_sample_id(struct ptc_emit *e, const struct ptc_sample_id *id)
{
	if (id->has & PERF_SAMPLE_TID) {
		ptc_emit_i64(e, "pid", id->pid);
		ptc_emit_i64(e, "tid", id->tid);
	}
	if (id->has & PERF_SAMPLE_TIME)
		ptc_emit_time(e, "time", id->time);
	if (id->has & PERF_SAMPLE_CPU) /* -1 if perf or a source without CPUs synthesized it */
		ptc_emit_i64(e, "cpu", (int32_t)id->cpu);
	if (id->has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		ptc_emit_u64(e, "id", id->id);
	if (id->has & PERF_SAMPLE_STREAM_ID)
		ptc_emit_u64(e, "stream_id", id->stream_id);
}

static bool has_id(const struct ptc_sample_id *id)
{
	return (id->has & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_ID |
			   PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID)) != 0;
}

static void emit_mmap(struct ptc_emit *e, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;
	const char prot[] = { m->prot & PROT_READ ? 'r' : '-', m->prot & PROT_WRITE ? 'w' : '-',
			      m->prot & PROT_EXEC ? 'x' : '-', 0 };
	char hex[2 * PTC_BUILD_ID_MAX + 1], dev[32];

	ptc_emit_i64(e, "pid", m->pid);
	ptc_emit_i64(e, "tid", m->tid);
	ptc_emit_hex(e, "addr", m->addr);
	ptc_emit_hex(e, "len", m->len);
	ptc_emit_hex(e, "pgoff", m->pgoff);
	ptc_emit_word(e, "prot", prot);
	ptc_emit_hex(e, "flags", m->flags);
	if (m->build_id.len) {
		ptc_build_id_hex(&m->build_id, hex);
		ptc_emit_word(e, "build_id", hex);
	} else if (sb->type == PERF_RECORD_MMAP2) {
		(void)snprintf(dev, sizeof(dev), "%u:%u", m->maj, m->min);
		ptc_emit_word(e, "dev", dev);
		ptc_emit_u64(e, "ino", m->ino);
		ptc_emit_u64(e, "ino_generation", m->ino_generation);
	}
	ptc_emit_text(e, "filename", m->filename);
}

static void emit_task(struct ptc_emit *e, const struct ptc_sb_task *t)
{
	ptc_emit_i64(e, "pid", t->pid);
	ptc_emit_i64(e, "ppid", t->ppid);
	ptc_emit_i64(e, "tid", t->tid);
	ptc_emit_i64(e, "ptid", t->ptid);
	ptc_emit_time(e, "time", t->time);
}

static void emit_switch(struct ptc_emit *e, const struct ptc_sb *sb)
{
	const char *way = sb->misc & PERF_RECORD_MISC_SWITCH_OUT ? "out" : "in";

	ptc_emit_word(e, e->json ? "way" : NULL, way);
	if (sb->type != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	ptc_emit_i64(e, "next_prev_pid", sb->u.sw.next_prev_pid);
	ptc_emit_i64(e, "next_prev_tid", sb->u.sw.next_prev_tid);
}

/* Print values in the attr's read_format, or as bytes if that is unknown. */
static void emit_read(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_sb *sb)
{
	const struct ptc_file_attr *a = ptc_file_attr_of_id(f, sb->id.id);
	struct ptc_cur values = sb->u.read.values;
	struct ptc_read_value v;
	struct ptc_read r;

	ptc_emit_i64(e, "pid", sb->u.read.pid);
	ptc_emit_i64(e, "tid", sb->u.read.tid);
	if (!a && ptc_file_nattrs(f) == 1)
		a = ptc_file_attr(f, 0);
	if (!a || !ptc_read_parse(&values, a->attr.read_format, &r)) {
		ptc_emit_bytes(e, "bytes", values);
		return;
	}
	ptc_emit_time(e, "time_enabled", r.time_enabled);
	ptc_emit_time(e, "time_running", r.time_running);
	ptc_emit_entries(e, "values");
	while (ptc_read_next(&r, &v)) {
		ptc_emit_entry(e);
		ptc_emit_u64(e, "value", v.value);
		ptc_emit_u64(e, "id", v.id);
		ptc_emit_u64(e, "lost", v.lost);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_namespaces(struct ptc_emit *e, const struct ptc_sb *sb)
{
	struct ptc_cur links = sb->u.namespaces.links;
	struct ptc_ns_link link;
	uint64_t i;

	ptc_emit_i64(e, "pid", sb->u.namespaces.pid);
	ptc_emit_i64(e, "tid", sb->u.namespaces.tid);
	ptc_emit_entries(e, "links");
	for (i = 0; ptc_sb_next_namespace(&links, &link); i++) {
		ptc_emit_entry(e);
		ptc_emit_named(e, "ns", i, &ptc_names_ns);
		ptc_emit_u64(e, "dev", link.dev);
		ptc_emit_u64(e, "ino", link.ino);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_poke(struct ptc_emit *e, const struct ptc_sb_poke *p)
{
	ptc_emit_hex(e, "addr", p->addr);
	ptc_emit_u64(e, "old_len", ptc_cur_left(&p->old_bytes));
	ptc_emit_u64(e, "new_len", ptc_cur_left(&p->new_bytes));
	ptc_emit_bytes(e, "bytes", p->new_bytes);
}

/* Print records about code and containers. */
static void emit_kernel(struct ptc_emit *e, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_NAMESPACES:
		emit_namespaces(e, sb);
		break;
	case PERF_RECORD_KSYMBOL:
		ptc_emit_hex(e, "addr", sb->u.ksymbol.addr);
		ptc_emit_u64(e, "len", sb->u.ksymbol.len);
		ptc_emit_named(e, "ksym_type", sb->u.ksymbol.ksym_type, &ptc_names_ksymbol_type);
		ptc_emit_bits(e, "flags", sb->u.ksymbol.flags, &ptc_names_ksymbol_flag);
		ptc_emit_text(e, "name", sb->u.ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		ptc_emit_named(e, "event", sb->u.bpf.type, &ptc_names_bpf_event);
		ptc_emit_u64(e, "flags", sb->u.bpf.flags);
		ptc_emit_u64(e, "id", sb->u.bpf.id);
		ptc_emit_bytes(e, "tag", ptc_cur_init(sb->u.bpf.tag, sizeof(sb->u.bpf.tag)));
		break;
	case PERF_RECORD_CGROUP:
		ptc_emit_u64(e, "id", sb->u.cgroup.id);
		ptc_emit_text(e, "path", sb->u.cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		emit_poke(e, &sb->u.poke);
		break;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		ptc_emit_hex(e, "hw_id", sb->u.hw_id.hw_id);
		break;
	default: /* CALLCHAIN_DEFERRED */
		ptc_emit_hex(e, "cookie", sb->u.callchain.cookie);
		ptc_emit_callchain(e, sb->u.callchain.ips);
		break;
	}
}

/* Print records about a ring. */
static void emit_ring(struct ptc_emit *e, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_LOST:
		ptc_emit_u64(e, "id", sb->u.lost.id);
		ptc_emit_u64(e, "lost", sb->u.lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		ptc_emit_u64(e, "lost", sb->u.lost.lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		ptc_emit_time(e, "time", sb->u.throttle.time);
		ptc_emit_u64(e, "id", sb->u.throttle.id);
		ptc_emit_u64(e, "stream_id", sb->u.throttle.stream_id);
		break;
	case PERF_RECORD_AUX:
		ptc_emit_hex(e, "offset", sb->u.aux.offset);
		ptc_emit_hex(e, "size", sb->u.aux.size);
		ptc_emit_bits(e, "flags", sb->u.aux.flags, &ptc_names_aux_flag);
		break;
	case PERF_RECORD_ITRACE_START:
		ptc_emit_i64(e, "pid", sb->u.itrace_start.pid);
		ptc_emit_i64(e, "tid", sb->u.itrace_start.tid);
		break;
	default:
		emit_kernel(e, sb);
		break;
	}
}

static void emit_sideband(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_sb *sb)
{
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		emit_mmap(e, sb);
		break;
	case PERF_RECORD_COMM:
		ptc_emit_i64(e, "pid", sb->u.comm.pid);
		ptc_emit_i64(e, "tid", sb->u.comm.tid);
		if (e->json)
			ptc_emit_bool(e, "exec", sb->misc & PERF_RECORD_MISC_COMM_EXEC);
		else if (sb->misc & PERF_RECORD_MISC_COMM_EXEC)
			ptc_emit_word(e, NULL, "exec");
		ptc_emit_text(e, "comm", sb->u.comm.comm);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		emit_task(e, &sb->u.task);
		break;
	case PERF_RECORD_READ:
		emit_read(e, f, sb);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		emit_switch(e, sb);
		break;
	default:
		emit_ring(e, sb);
		break;
	}
}

/* Print the size and ids of a record of unknown type. */
static int emit_rest(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		     struct ptc_sample_id *ret_id)
{
	struct ptc_cur body = rec->body;

	(void)ptc_sample_id_parse(&body, ptc_file_trailer_type(f, rec), ret_id);
	if (ptc_cur_left(&body))
		ptc_emit_u64(e, "bytes", ptc_cur_left(&body));
	return 0;
}

static int emit_fields(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		       struct ptc_sample_id *ret_id, struct ptc_err *err)
{
	struct ptc_sb sb;
	int rc;

	if (rec->type == PERF_RECORD_SAMPLE)
		return ptc_dump_sample(e, f, rec, ret_id, err);
	rc = ptc_dump_user(e, f, rec, err);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = ptc_sb_parse(rec, ptc_file_trailer_type(f, rec), &sb, err);
	if (rc == 1) {
		emit_sideband(e, f, &sb);
		*ret_id = sb.id;
	}
	return rc ? rc < 0 ? rc : 0 : emit_rest(e, f, rec, ret_id);
}

static const char *base_name(const struct ptc_file_place *place)
{
	const char *slash = strrchr(place->name, '/');

	return slash ? slash + 1 : place->name;
}

void ptc_show_place(const struct ptc_file *f, uint64_t off)
{
	struct ptc_file_place place;

	ptc_file_place(f, off, &place);
	if (ptc_file_nparts(f) > 1)
		printf("%s:", base_name(&place));
	printf("0x%06" PRIx64, place.off);
	if (place.inflated)
		printf("+0x%" PRIx64, place.inner);
	printf(" ");
}

void ptc_emit_place(struct ptc_emit *e, const struct ptc_file *f, uint64_t off)
{
	struct ptc_file_place place;

	ptc_file_place(f, off, &place);
	if (ptc_file_nparts(f) > 1)
		ptc_emit_text(e, "file", base_name(&place));
	ptc_emit_hex(e, "offset", place.off);
	if (place.inflated)
		ptc_emit_hex(e, "inner", place.inner);
}

static void text_head(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const char *name = ptc_rec_name(rec->type);

	ptc_show_place(f, rec->off);
	if (name)
		printf("%-15s", name);
	else
		printf("UNKNOWN(%u)", rec->type);
	printf(" %5zu misc=0x%x", PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body), rec->misc);
}

static void json_head(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec)
{
	const uint64_t mode = rec->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	ptc_emit_object(e, NULL);
	ptc_emit_word(e, "type", "record");
	ptc_emit_place(e, f, rec->off);
	ptc_emit_u64(e, "record", rec->type);
	ptc_emit_text(e, "name", ptc_rec_name(rec->type));
	ptc_emit_u64(e, "misc", rec->misc);
	ptc_emit_named(e, "cpumode", mode, &ptc_names_cpumode);
	ptc_emit_bits(e, "flags", rec->misc & ~(uint64_t)PERF_RECORD_MISC_CPUMODE_MASK,
		      ptc_names_misc(rec->type));
	ptc_emit_u64(e, "size", PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body));
}

static void emit_id(struct ptc_emit *e, const struct ptc_sample_id *id)
{
	if (!has_id(id))
		return;
	if (e->json) {
		ptc_emit_object(e, "sample_id");
		emit_sample_id(e, id);
		ptc_emit_end(e);
		return;
	}
	printf(" {");
	e->at[e->depth].kind = '['; /* no space before the first */
	e->at[e->depth].any = false;
	e->depth++;
	emit_sample_id(e, id);
	e->depth--;
	printf("}");
}

int ptc_dump_record(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_err *err)
{
	const unsigned int depth = e->depth;
	struct ptc_sample_id id = { 0 };
	int rc;

	if (e->json) {
		json_head(e, f, rec);
		ptc_emit_object(e, "fields");
	} else {
		text_head(f, rec);
	}
	rc = emit_fields(e, f, rec, &id, err);
	if (e->json)
		ptc_emit_end(e);
	emit_id(e, &id);
	if (e->json)
		ptc_emit_bool(e, "damaged", rc != 0);
	ptc_emit_unwind(e, depth);
	printf("%s\n", rc && !e->json ? " DAMAGED" : "");
	return rc;
}
