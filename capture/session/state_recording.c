/* SPDX-License-Identifier: MIT */
#include "ptcap/state_recording.h"

#include <unistd.h>

#include "auxtrace/writer/writer.h"
#include "base/err.h"
#include "base/opts.h"
#include "capture/live/live_process.h"
#include "capture/perf/synthesize.h"
#include "capture/session/file_metadata.h"

enum { SIDE_ID = 1 }; /* id of the only event */

/* What the recording is made of. */
struct parts {
	const struct ptc_state_recording_opts *opts;
	struct ptc_buf running; /* records about the processes: threads and mappings */
	struct ptc_buf saved;	/* the states */
};

static int read_states(struct parts *p, struct ptc_err *err)
{
	const struct ptc_live_targets t = { .pids = p->opts->pids,
					    .npids = p->opts->npids,
					    .no_memory = p->opts->no_memory };
	uint64_t n = 0;

	return ptc_live_process_read(&p->saved, &t, &n, NULL, err);
}

/* Before the stop: the kernel's list of mappings, and the build-ids of their files. */
static int read_processes(struct parts *p, uint64_t sample_type, struct ptc_err *err)
{
	const struct ptc_running r = { .proc = "/proc",
				       .sample_type = sample_type,
				       .id = SIDE_ID,
				       .build_ids = true,
				       .vdso = true };
	size_t i;

	for (i = 0; i < p->opts->npids; i++) {
		const int rc = ptc_running_put(&p->running, &r, p->opts->pids[i], err);

		if (!rc)
			return ptc_fail(err, PTC_E_NOT_EXIST, "there is no process %d",
					(int)p->opts->pids[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The event that the records about the processes would come from: dummy:u. */
static struct ptc_source_desc describe_dummy(void)
{
	struct ptc_source_desc d = { .nevents = 1, .no_info = true, .label = "stacks" };
	struct perf_event_attr *side = &d.attr[0];

	side->type = PERF_TYPE_SOFTWARE;
	side->size = PERF_ATTR_SIZE_VER7;
	side->config = PERF_COUNT_SW_DUMMY;
	side->sample_period = 1;
	side->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_IDENTIFIER;
	side->read_format = PERF_FORMAT_ID;
	side->exclude_kernel = side->exclude_hv = 1;
	side->mmap = side->mmap2 = side->comm = side->task = side->build_id = 1;
	side->sample_id_all = 1;
	d.name[0] = "dummy:u";
	return d;
}

static int write_parts(const struct parts *p, const struct ptc_filing *f, struct ptc_writer *w,
		       struct ptc_err *err)
{
	const struct ptc_seg seg[2] = { { p->running.bytes, p->running.len }, { NULL, 0 } };
	struct ptc_ledger_ring none = { .idx = 0 };
	struct ptc_noted noted;
	int rc;

	ptc_noted_init(&noted, ptc_filing_sample_type(f));
	rc = ptc_noted_scan(&noted, seg, &none, err);
	if (!rc)
		rc = ptc_filing_attrs(f, w, err);
	if (!rc)
		rc = ptc_filing_prologue(f, w, &p->running, err);
	if (!rc)
		rc = ptc_writer_plain(w, p->saved.bytes, p->saved.len, err);
	if (!rc)
		rc = ptc_filing_features(f, w, &noted, err);
	ptc_noted_release(&noted);
	return rc;
}

static int write_recording(const struct parts *p, const struct ptc_filing *f, int *ret_fd,
			   struct ptc_err *err)
{
	const char *path = p->opts->output;
	struct ptc_writer *w = NULL;
	int fd = -1, rc;

	rc = path ? ptc_writer_new(path, &w, err) : ptc_writer_new_in_memory(&w, &fd, err);
	if (!rc)
		rc = write_parts(p, f, w, err);
	if (rc)
		ptc_writer_free(w);
	else
		rc = ptc_writer_commit(w, err);
	if (rc && fd >= 0)
		(void)close(fd);
	else
		*ret_fd = fd;
	return rc;
}

static int record_parts(struct parts *p, int *ret_fd, struct ptc_err *err)
{
	const struct ptc_record_opts o = { .size = sizeof(o),
					   .output = { .path = p->opts->output,
						       .cmdline = p->opts->cmdline } };
	struct ptc_source_id id = { .event = 0, .id = SIDE_ID, .cpu = -1, .tid = -1 };
	struct ptc_filing f = {
		.opts = &o, .desc = describe_dummy(), .ids = &id, .nids = 1, .pid = p->opts->pids[0]
	};
	int rc = read_processes(p, ptc_filing_sample_type(&f), err);

	if (!rc)
		rc = read_states(p, err);
	if (!rc)
		rc = write_recording(p, &f, ret_fd, err);
	return rc;
}

int ptc_record_states(const struct ptc_state_recording_opts *given, int *ret_fd,
		      struct ptc_err *err)
{
	struct ptc_state_recording_opts opts;
	struct parts p = { .opts = &opts };
	int rc = ptc_opts_take(&opts, sizeof(opts), given, "PTC_STATE_RECORDING_OPTS_INIT", err);

	if (!rc && !opts.npids)
		rc = ptc_fail(err, PTC_E_USAGE, "no process to record");
	if (!rc)
		rc = record_parts(&p, ret_fd, err);
	ptc_buf_release(&p.running);
	ptc_buf_release(&p.saved);
	return rc;
}
