/* SPDX-License-Identifier: MIT */
#include "capture/soft/sideband_writer.h"

#include <string.h>

#include "auxtrace/record/layout.h"

enum { POKE_MAX = 2048 }; /* bytes per record: several records fit in the smallest ring */

void ptc_records_release(struct ptc_records *r)
{
	ptc_buf_release(&r->buf);
}

uint64_t ptc_records_time(struct ptc_records *r, uint64_t tsc)
{
	const uint64_t then = ptc_tsc_to_ns(&r->clock->conv, tsc);

	if (r->newest < then)
		r->newest = then;
	return r->newest;
}

/* Adds the current time and the event's id to @sb, and writes it to the ring. */
static void send(struct ptc_records *r, struct ptc_sb *sb, uint64_t id)
{
	sb->id.has = PTC_SOFT_SAMPLE_TYPE & ~(uint64_t)PERF_SAMPLE_IP;
	sb->id.pid = r->pid;
	sb->id.tid = r->tid;
	sb->id.time = ptc_records_time(r, ptc_rdtsc());
	sb->id.cpu = r->cpu;
	sb->id.id = id;
	if (sb->type == PERF_RECORD_EXIT || sb->type == PERF_RECORD_FORK)
		sb->u.task.time = sb->id.time;
	ptc_buf_reset(&r->buf);
	ptc_sb_put(&r->buf, sb, PTC_SOFT_SAMPLE_TYPE);
	if (ptc_buf_failed(&r->buf))
		r->no_memory = true;
	else
		(void)ptc_softring_record(r->ring, r->buf.bytes, r->buf.len, &sb->id);
}

void ptc_records_comm(struct ptc_records *r, const char *comm, bool exec)
{
	struct ptc_sb sb = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER };

	if (exec)
		sb.misc |= PERF_RECORD_MISC_COMM_EXEC;
	sb.u.comm.pid = r->pid;
	sb.u.comm.tid = r->tid;
	sb.u.comm.comm = comm;
	send(r, &sb, r->side_id);
}

void ptc_records_mmap(struct ptc_records *r, const struct ptc_maps *maps, const struct ptc_map *map,
		      const struct ptc_mapped_file *file)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER };
	const char *name = ptc_map_name(maps, map);

	sb.u.mmap.pid = r->pid;
	sb.u.mmap.tid = r->tid;
	sb.u.mmap.addr = map->start;
	sb.u.mmap.len = map->end - map->start;
	sb.u.mmap.pgoff = map->off;
	sb.u.mmap.maj = map->maj;
	sb.u.mmap.min = map->min;
	sb.u.mmap.ino = map->ino;
	if (file)
		sb.u.mmap.build_id = file->id;
	sb.u.mmap.prot = map->prot;
	sb.u.mmap.flags = map->flags;
	sb.u.mmap.filename = *name ? name : "//anon"; /* same name as perf_event_mmap_event uses */
	send(r, &sb, r->side_id);
}

void ptc_records_poke(struct ptc_records *r, uint64_t addr, const uint8_t *bytes, size_t len)
{
	while (len) {
		struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE, .misc = PERF_RECORD_MISC_USER };
		const size_t n = len < POKE_MAX ? len : POKE_MAX;

		sb.u.poke.addr = addr;
		sb.u.poke.new_bytes = ptc_cur_init(bytes, n);
		send(r, &sb, r->side_id);
		addr += n;
		bytes += n;
		len -= n;
	}
}

void ptc_records_exit(struct ptc_records *r, int ppid)
{
	struct ptc_sb sb = { .type = PERF_RECORD_EXIT };

	sb.u.task.pid = r->pid;
	sb.u.task.ppid = ppid;
	sb.u.task.tid = r->tid;
	sb.u.task.ptid = ppid;
	send(r, &sb, r->side_id);
}

void ptc_records_itrace_start(struct ptc_records *r)
{
	struct ptc_sb sb = { .type = PERF_RECORD_ITRACE_START };

	sb.u.itrace_start.pid = r->pid;
	sb.u.itrace_start.tid = r->tid;
	send(r, &sb, r->pt_id);
}

void ptc_records_switch(struct ptc_records *r, bool out)
{
	struct ptc_sb sb = { .type = PERF_RECORD_SWITCH };

	if (out)
		sb.misc = PERF_RECORD_MISC_SWITCH_OUT;
	sb.u.sw.next_prev_pid = -1;
	sb.u.sw.next_prev_tid = -1;
	send(r, &sb, r->side_id);
}

void ptc_records_aux(struct ptc_records *r, uint64_t from, uint64_t to, uint64_t flags)
{
	struct ptc_sb sb = { .type = PERF_RECORD_AUX };

	sb.u.aux.offset = from;
	sb.u.aux.size = to - from;
	sb.u.aux.flags = flags;
	if (ptc_softring_overwrites(r->ring)) { /* as pt.c: size is not the new data's */
		sb.u.aux.size = ptc_softring_aux_size(r->ring);
		sb.u.aux.offset = to % sb.u.aux.size;
		sb.u.aux.flags |= PERF_AUX_FLAG_OVERWRITE;
	}
	send(r, &sb, r->pt_id);
}

void ptc_records_fork(struct ptc_records *r, int ppid, int ptid)
{
	struct ptc_sb sb = { .type = PERF_RECORD_FORK };

	sb.u.task.pid = r->pid;
	sb.u.task.ppid = ppid;
	sb.u.task.tid = r->tid;
	sb.u.task.ptid = ptid;
	send(r, &sb, r->side_id);
}
