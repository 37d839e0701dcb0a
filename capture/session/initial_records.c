/* SPDX-License-Identifier: MIT */
#include "capture/session/initial_records.h"

#include <string.h>

#include "auxtrace/record/layout.h"
#include "auxtrace/record/sideband.h"

enum { ID_INDEX_MAX = 1024 };

static const char before_exec[] = "ptcap-exec"; /* the command's name before its exec */

void ptc_prologue_put_ids(struct ptc_buf *b, const struct ptc_source_id *ids, size_t n)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_ID_INDEX, 0);
	size_t i;

	ptc_buf_le64(b, n);
	for (i = 0; i < n; i++) {
		ptc_buf_le64(b, ids[i].id);
		ptc_buf_le64(b, ids[i].idx);
		ptc_buf_le64(b, (uint64_t)(int64_t)ids[i].cpu);
		ptc_buf_le64(b, (uint64_t)(int64_t)ids[i].tid);
	}
	ptc_rec_end(b, start);
}

/* Writes ID_INDEX records, each with ids of one event, as many as fit. */
static void put_id_indexes(struct ptc_buf *b, const struct ptc_prologue *p)
{
	size_t i, n;

	for (i = 0; i < p->nids; i += n) {
		for (n = 1; n < ID_INDEX_MAX && i + n < p->nids; n++)
			if (p->ids[i + n].event != p->ids[i].event)
				break;
		ptc_prologue_put_ids(b, p->ids + i, n);
	}
}

/* THREAD_MAP: u64 count, then u64 pid and a comm of 16 bytes for each. */
static void put_thread_map(struct ptc_buf *b, pid_t pid, const char *comm)
{
	const size_t start = ptc_rec_begin(b, PTC_REC_THREAD_MAP, 0);

	ptc_buf_le64(b, 1);
	ptc_buf_le64(b, (uint64_t)pid);
	ptc_buf_str(b, comm, 0);
	ptc_buf_zero(b, 16 - (strlen(comm) + 1));
	ptc_rec_end(b, start);
}

static void put_comm(struct ptc_buf *b, const struct ptc_prologue *p)
{
	struct ptc_sb sb = { .type = PERF_RECORD_COMM, .misc = PERF_RECORD_MISC_USER };

	sb.u.comm.pid = p->pid;
	sb.u.comm.tid = p->pid;
	sb.u.comm.comm = before_exec;
	sb.id.pid = p->pid;
	sb.id.tid = p->pid;
	sb.id.id = p->ids[p->nids - 1].id; /* the event for sideband records is the last one */
	ptc_sb_put(b, &sb, p->desc->attr[p->desc->nevents - 1].sample_type);
}

void ptc_prologue_put(struct ptc_buf *b, const struct ptc_prologue *p)
{
	put_id_indexes(b, p);
	if (p->desc->info.cap_user_time_zero)
		ptc_time_conv_put(b, &p->desc->info.time);
	if (!p->desc->no_info)
		ptc_pt_info_put(b, &p->desc->info);
	put_thread_map(b, p->pid ? p->pid : -1, p->is_command ? before_exec : "");
	if (p->is_command) /* an attached process has a name of its own */
		put_comm(b, p);
	ptc_buf_put(b, p->running->bytes, p->running->len);
	ptc_rec_end(b, ptc_rec_begin(b, PTC_REC_FINISHED_INIT, 0));
}
