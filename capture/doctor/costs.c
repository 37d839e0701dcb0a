/* SPDX-License-Identifier: MIT */
#include "capture/doctor/costs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/temp_name.h"
#include "ptcap/capture.h"

enum { STEPS = 10000, MOST_NS = 500000000 };

/* The loop that is measured. POSIX requires /bin/sh and this arithmetic. */
static char shell[] = "/bin/sh", option[] = "-c",
	    loop[] = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done";
static char *const command[] = { shell, option, loop, NULL };

static uint64_t run_alone(void)
{
	const uint64_t begin = ptc_monotonic_ns();
	char *none[] = { NULL };
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, shell, NULL, NULL, command, none))
		return 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? 0 : ptc_monotonic_ns() - begin;
}

/* Returns the duration in ns, and *r. 0: failed. */
static uint64_t run_recorded(enum ptc_source_kind kind, const char *path,
			     struct ptc_record_result *r)
{
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	struct ptc_err ignored;

	o.target.argv = command;
	o.source.kind = kind;
	o.output.path = path;
	o.range.max_ns = MOST_NS; /* on a busy machine; the loop then ends unrecorded */
	if (kind == PTC_SOURCE_STEP)
		o.range.max_steps = STEPS;
	if (ptc_record(&o, r, &ignored))
		return 0;
	(void)unlink(path);
	return r->duration_ns;
}

static uint64_t per_second(uint64_t insns, uint64_t ns)
{
	return ns ? (uint64_t)((double)insns * 1e9 / (double)ns) : 0;
}

static void measure_in(const char *path, struct ptc_doctor_costs *ret, bool emu, bool step)
{
	struct ptc_record_result r = { .insns = 0 };
	uint64_t ns, all = 0; /* instructions of the whole loop */

	ret->native_ns = run_alone();
	if (emu) {
		ns = run_recorded(PTC_SOURCE_EMU, path, &r);
		ret->emu_per_second = per_second(r.insns, ns);
		all = r.limited ? 0 : r.insns;
		ret->emu_ns = r.limited ? 0 : ns;
	}
	if (step) {
		r.insns = 0;
		ns = run_recorded(PTC_SOURCE_STEP, path, &r);
		ret->step_per_second = per_second(r.insns, ns);
	}
	if (ret->step_per_second && ret->native_ns)
		ret->step_slowdown = per_second(all, ret->native_ns) / ret->step_per_second;
}

void ptc_costs_measure(struct ptc_doctor_costs *ret, bool emu, bool step)
{
	const char *tmp = getenv("TMPDIR");
	char *near, *folder, *path;
	int lock;

	memset(ret, 0, sizeof(*ret));
	if ((!emu && !step) || asprintf(&near, "%s/ptcap-doctor", tmp && *tmp ? tmp : "/tmp") < 0)
		return;
	ptc_hidden_sweep(near);
	lock = ptc_hidden_folder(near, &folder);
	free(near);
	if (lock < 0)
		return;
	if (asprintf(&path, "%s/perf.data", folder) >= 0) {
		measure_in(path, ret, emu, step);
		free(path);
	}
	(void)rmdir(folder);
	free(folder);
	(void)close(lock);
}
