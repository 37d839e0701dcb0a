/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/sideband.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/layout.h"
#include "base/err.h"

enum { NS_LINK_SIZE = 16 }; /* struct perf_ns_link_info */

static bool get_i32(struct ptc_cur *c, int32_t *ret)
{
	uint32_t v;

	if (!ptc_cur_le32(c, &v))
		return false;
	*ret = (int32_t)v;
	return true;
}

static bool get_build_id(struct ptc_cur *c, struct ptc_build_id *ret)
{
	const uint8_t *bytes;
	uint8_t len;

	if (!ptc_cur_u8(c, &len) || len > PTC_BUILD_ID_MAX || !ptc_cur_skip(c, 3) ||
	    !ptc_cur_bytes(c, PTC_BUILD_ID_MAX, &bytes))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->bytes, bytes, len);
	ret->len = len;
	return true;
}

/* All valid bits: PROT_READ, PROT_WRITE, PROT_EXEC, PROT_SEM, PROT_GROWSDOWN, PROT_GROWSUP. */
enum { ALL_PROT = 0x0300000f };

/*
 * Read prot, flags and the file name. Kernels of RHEL 7 write the name in the position of prot and
 * flags. Such records are about code, so prot is READ|EXEC.
 */
static bool get_prot(struct ptc_cur *c, struct ptc_sb_mmap *m)
{
	struct ptc_cur name = *c;

	if (!ptc_cur_le32(c, &m->prot) || !ptc_cur_le32(c, &m->flags))
		return false;
	if (m->prot & ~(uint32_t)ALL_PROT && (*name.pos == '/' || *name.pos == '[')) {
		*c = name;
		m->prot = PROT_READ | PROT_EXEC;
		m->flags = MAP_PRIVATE;
	}
	return ptc_cur_str(c, &m->filename);
}

static bool get_mmap(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_mmap *m = &sb->u.mmap;

	if (!get_i32(c, &m->pid) || !get_i32(c, &m->tid) || !ptc_cur_le64(c, &m->addr) ||
	    !ptc_cur_le64(c, &m->len) || !ptc_cur_le64(c, &m->pgoff))
		return false;
	if (sb->type == PERF_RECORD_MMAP) {
		m->prot = sb->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC;
		return ptc_cur_str(c, &m->filename);
	}
	if (sb->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (!get_build_id(c, &m->build_id))
			return false;
	} else if (!ptc_cur_le32(c, &m->maj) || !ptc_cur_le32(c, &m->min) ||
		   !ptc_cur_le64(c, &m->ino) || !ptc_cur_le64(c, &m->ino_generation)) {
		return false;
	}
	return get_prot(c, m);
}

static bool get_lost(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.lost.id) && ptc_cur_le64(c, &sb->u.lost.lost);
}

static bool get_lost_samples(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.lost.lost);
}

static bool get_comm(struct ptc_cur *c, struct ptc_sb *sb)
{
	return get_i32(c, &sb->u.comm.pid) && get_i32(c, &sb->u.comm.tid) &&
	       ptc_cur_str(c, &sb->u.comm.comm);
}

static bool get_task(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_task *t = &sb->u.task;

	return get_i32(c, &t->pid) && get_i32(c, &t->ppid) && get_i32(c, &t->tid) &&
	       get_i32(c, &t->ptid) && ptc_cur_le64(c, &t->time);
}

static bool get_throttle(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_throttle *t = &sb->u.throttle;

	return ptc_cur_le64(c, &t->time) && ptc_cur_le64(c, &t->id) &&
	       ptc_cur_le64(c, &t->stream_id);
}

/* Values are u64, at least one. Their meaning is in the attr. */
static bool get_read(struct ptc_cur *c, struct ptc_sb *sb)
{
	return get_i32(c, &sb->u.read.pid) && get_i32(c, &sb->u.read.tid) && ptc_cur_left(c) >= 8 &&
	       ptc_cur_left(c) % 8 == 0 && ptc_cur_sub(c, ptc_cur_left(c), &sb->u.read.values);
}

static bool get_aux(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.aux.offset) && ptc_cur_le64(c, &sb->u.aux.size) &&
	       ptc_cur_le64(c, &sb->u.aux.flags);
}

static bool get_itrace_start(struct ptc_cur *c, struct ptc_sb *sb)
{
	return get_i32(c, &sb->u.itrace_start.pid) && get_i32(c, &sb->u.itrace_start.tid);
}

static bool get_switch(struct ptc_cur *c, struct ptc_sb *sb)
{
	(void)c;
	sb->u.sw = (struct ptc_sb_switch){ -1, -1 };
	return true;
}

static bool get_switch_cpu(struct ptc_cur *c, struct ptc_sb *sb)
{
	return get_i32(c, &sb->u.sw.next_prev_pid) && get_i32(c, &sb->u.sw.next_prev_tid);
}

/* Take a u64 count and that many entries of @size bytes. */
static bool get_array(struct ptc_cur *c, size_t size, struct ptc_cur *ret)
{
	uint64_t n;

	return ptc_cur_le64(c, &n) && n <= ptc_cur_left(c) / size &&
	       ptc_cur_sub(c, (size_t)n * size, ret);
}

static bool get_namespaces(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_namespaces *n = &sb->u.namespaces;

	return get_i32(c, &n->pid) && get_i32(c, &n->tid) && get_array(c, NS_LINK_SIZE, &n->links);
}

static bool get_ksymbol(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_ksymbol *k = &sb->u.ksymbol;

	return ptc_cur_le64(c, &k->addr) && ptc_cur_le32(c, &k->len) &&
	       ptc_cur_le16(c, &k->ksym_type) && ptc_cur_le16(c, &k->flags) &&
	       ptc_cur_str(c, &k->name);
}

static bool get_bpf(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_bpf *p = &sb->u.bpf;
	const uint8_t *tag;

	if (!ptc_cur_le16(c, &p->type) || !ptc_cur_le16(c, &p->flags) || !ptc_cur_le32(c, &p->id) ||
	    !ptc_cur_bytes(c, sizeof(p->tag), &tag))
		return false;
	memcpy(p->tag, tag, sizeof(p->tag));
	return true;
}

static bool get_cgroup(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.cgroup.id) && ptc_cur_str(c, &sb->u.cgroup.path);
}

static bool get_poke(struct ptc_cur *c, struct ptc_sb *sb)
{
	struct ptc_sb_poke *p = &sb->u.poke;
	uint16_t old_len, new_len;

	return ptc_cur_le64(c, &p->addr) && ptc_cur_le16(c, &old_len) &&
	       ptc_cur_le16(c, &new_len) && ptc_cur_sub(c, old_len, &p->old_bytes) &&
	       ptc_cur_sub(c, new_len, &p->new_bytes);
}

static bool get_hw_id(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.hw_id.hw_id);
}

static bool get_callchain(struct ptc_cur *c, struct ptc_sb *sb)
{
	return ptc_cur_le64(c, &sb->u.callchain.cookie) && get_array(c, 8, &sb->u.callchain.ips);
}

static void put_i32(struct ptc_buf *b, int32_t v)
{
	ptc_buf_le32(b, (uint32_t)v);
}

static void put_str(struct ptc_buf *b, const char *s)
{
	ptc_buf_put(b, s, strlen(s) + 1);
}

static void put_mmap(struct ptc_buf *b, const struct ptc_sb *sb)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;

	put_i32(b, m->pid);
	put_i32(b, m->tid);
	ptc_buf_le64(b, m->addr);
	ptc_buf_le64(b, m->len);
	ptc_buf_le64(b, m->pgoff);
	if (sb->type == PERF_RECORD_MMAP2) {
		if (m->build_id.len) {
			ptc_buf_u8(b, m->build_id.len);
			ptc_buf_zero(b, 3);
			ptc_buf_put(b, m->build_id.bytes, PTC_BUILD_ID_MAX);
		} else {
			ptc_buf_le32(b, m->maj);
			ptc_buf_le32(b, m->min);
			ptc_buf_le64(b, m->ino);
			ptc_buf_le64(b, m->ino_generation);
		}
		ptc_buf_le32(b, m->prot);
		ptc_buf_le32(b, m->flags);
	}
	put_str(b, m->filename);
}

static void put_lost(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.lost.id);
	ptc_buf_le64(b, sb->u.lost.lost);
}

static void put_lost_samples(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.lost.lost);
}

static void put_comm(struct ptc_buf *b, const struct ptc_sb *sb)
{
	put_i32(b, sb->u.comm.pid);
	put_i32(b, sb->u.comm.tid);
	put_str(b, sb->u.comm.comm);
}

static void put_task(struct ptc_buf *b, const struct ptc_sb *sb)
{
	put_i32(b, sb->u.task.pid);
	put_i32(b, sb->u.task.ppid);
	put_i32(b, sb->u.task.tid);
	put_i32(b, sb->u.task.ptid);
	ptc_buf_le64(b, sb->u.task.time);
}

static void put_throttle(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.throttle.time);
	ptc_buf_le64(b, sb->u.throttle.id);
	ptc_buf_le64(b, sb->u.throttle.stream_id);
}

static void put_read(struct ptc_buf *b, const struct ptc_sb *sb)
{
	const struct ptc_cur *values = &sb->u.read.values;

	if (ptc_cur_left(values) % 8)
		b->failed = true;
	put_i32(b, sb->u.read.pid);
	put_i32(b, sb->u.read.tid);
	ptc_buf_put(b, values->pos, ptc_cur_left(values));
}

static void put_aux(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.aux.offset);
	ptc_buf_le64(b, sb->u.aux.size);
	ptc_buf_le64(b, sb->u.aux.flags);
}

static void put_itrace_start(struct ptc_buf *b, const struct ptc_sb *sb)
{
	put_i32(b, sb->u.itrace_start.pid);
	put_i32(b, sb->u.itrace_start.tid);
}

static void put_switch(struct ptc_buf *b, const struct ptc_sb *sb)
{
	(void)b;
	(void)sb;
}

static void put_switch_cpu(struct ptc_buf *b, const struct ptc_sb *sb)
{
	put_i32(b, sb->u.sw.next_prev_pid);
	put_i32(b, sb->u.sw.next_prev_tid);
}

static void put_array(struct ptc_buf *b, size_t size, struct ptc_cur array)
{
	const size_t len = ptc_cur_left(&array);

	if (len % size)
		b->failed = true;
	ptc_buf_le64(b, len / size);
	ptc_buf_put(b, array.pos, len);
}

static void put_namespaces(struct ptc_buf *b, const struct ptc_sb *sb)
{
	put_i32(b, sb->u.namespaces.pid);
	put_i32(b, sb->u.namespaces.tid);
	put_array(b, NS_LINK_SIZE, sb->u.namespaces.links);
}

static void put_ksymbol(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.ksymbol.addr);
	ptc_buf_le32(b, sb->u.ksymbol.len);
	ptc_buf_le16(b, sb->u.ksymbol.ksym_type);
	ptc_buf_le16(b, sb->u.ksymbol.flags);
	put_str(b, sb->u.ksymbol.name);
}

static void put_bpf(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le16(b, sb->u.bpf.type);
	ptc_buf_le16(b, sb->u.bpf.flags);
	ptc_buf_le32(b, sb->u.bpf.id);
	ptc_buf_put(b, sb->u.bpf.tag, sizeof(sb->u.bpf.tag));
}

static void put_cgroup(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.cgroup.id);
	put_str(b, sb->u.cgroup.path);
}

static void put_poke(struct ptc_buf *b, const struct ptc_sb *sb)
{
	const struct ptc_sb_poke *p = &sb->u.poke;
	const size_t old_len = ptc_cur_left(&p->old_bytes);
	const size_t new_len = ptc_cur_left(&p->new_bytes);

	if (old_len > UINT16_MAX || new_len > UINT16_MAX) {
		b->failed = true;
		return;
	}
	ptc_buf_le64(b, p->addr);
	ptc_buf_le16(b, (uint16_t)old_len);
	ptc_buf_le16(b, (uint16_t)new_len);
	ptc_buf_put(b, p->old_bytes.pos, old_len);
	ptc_buf_put(b, p->new_bytes.pos, new_len);
}

static void put_hw_id(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.hw_id.hw_id);
}

static void put_callchain(struct ptc_buf *b, const struct ptc_sb *sb)
{
	ptc_buf_le64(b, sb->u.callchain.cookie);
	put_array(b, 8, sb->u.callchain.ips);
}

/* Parser and writer of the part between the header and the trailer, by record type. */
static const struct kind {
	bool (*get)(struct ptc_cur *c, struct ptc_sb *sb);
	void (*put)(struct ptc_buf *b, const struct ptc_sb *sb);
} kinds[PERF_RECORD_MAX] = {
	[PERF_RECORD_MMAP] = { get_mmap, put_mmap },
	[PERF_RECORD_LOST] = { get_lost, put_lost },
	[PERF_RECORD_COMM] = { get_comm, put_comm },
	[PERF_RECORD_EXIT] = { get_task, put_task },
	[PERF_RECORD_THROTTLE] = { get_throttle, put_throttle },
	[PERF_RECORD_UNTHROTTLE] = { get_throttle, put_throttle },
	[PERF_RECORD_FORK] = { get_task, put_task },
	[PERF_RECORD_READ] = { get_read, put_read },
	[PERF_RECORD_MMAP2] = { get_mmap, put_mmap },
	[PERF_RECORD_AUX] = { get_aux, put_aux },
	[PERF_RECORD_ITRACE_START] = { get_itrace_start, put_itrace_start },
	[PERF_RECORD_LOST_SAMPLES] = { get_lost_samples, put_lost_samples },
	[PERF_RECORD_SWITCH] = { get_switch, put_switch },
	[PERF_RECORD_SWITCH_CPU_WIDE] = { get_switch_cpu, put_switch_cpu },
	[PERF_RECORD_NAMESPACES] = { get_namespaces, put_namespaces },
	[PERF_RECORD_KSYMBOL] = { get_ksymbol, put_ksymbol },
	[PERF_RECORD_BPF_EVENT] = { get_bpf, put_bpf },
	[PERF_RECORD_CGROUP] = { get_cgroup, put_cgroup },
	[PERF_RECORD_TEXT_POKE] = { get_poke, put_poke },
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = { get_hw_id, put_hw_id },
	[PERF_RECORD_CALLCHAIN_DEFERRED] = { get_callchain, put_callchain },
};

static const struct kind *find_kind(uint32_t type)
{
	return type < PERF_RECORD_MAX && kinds[type].get ? &kinds[type] : NULL;
}

int ptc_sb_parse(const struct ptc_rec *rec, uint64_t sample_type, struct ptc_sb *ret,
		 struct ptc_err *err)
{
	const struct kind *kind = find_kind(rec->type);
	struct ptc_cur body = rec->body;
	struct ptc_sb sb;

	if (!kind) {
		ret->off = rec->off;
		ret->type = rec->type;
		ret->misc = rec->misc;
		return 0;
	}
	memset(&sb, 0, sizeof(sb));
	sb.off = rec->off;
	sb.type = rec->type;
	sb.misc = rec->misc;
	/* The trailer is cut off first: without that, the end of a string would be unknown. */
	if (!ptc_sample_id_parse(&body, sample_type, &sb.id))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "%s record is too short for its sample id",
				   ptc_rec_name(rec->type));
	if (!kind->get(&body, &sb))
		return ptc_fail_at(
			err, PTC_E_FORMAT, rec->off,
			"%s record is too short for what it claims or its text does not end",
			ptc_rec_name(rec->type));
	*ret = sb;
	return 1;
}

void ptc_sb_put(struct ptc_buf *b, const struct ptc_sb *sb, uint64_t sample_type)
{
	const struct kind *kind = find_kind(sb->type);
	uint16_t misc = sb->misc;
	size_t start;

	assert(kind);
	if (sb->type == PERF_RECORD_MMAP2) {
		misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		if (sb->u.mmap.build_id.len)
			misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	start = ptc_rec_begin(b, sb->type, misc);
	kind->put(b, sb);
	if (!ptc_buf_failed(
		    b)) /* the trailer starts at a multiple of 8, after the padding of a string */
		ptc_buf_zero(b, -(b->len - start) & 7);
	ptc_sample_id_put(b, sample_type, &sb->id);
	ptc_rec_end(b, start);
}

bool ptc_sb_next_namespace(struct ptc_cur *links, struct ptc_ns_link *ret)
{
	struct ptc_ns_link link;

	if (!ptc_cur_le64(links, &link.dev) || !ptc_cur_le64(links, &link.ino))
		return false;
	*ret = link;
	return true;
}
