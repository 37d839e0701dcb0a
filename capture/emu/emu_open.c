/* SPDX-License-Identifier: MIT */
/* Opens the emulated source: finds QEMU and the program, makes the shared memory and the CPUs. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/find_program.h"
#include "capture/emu/block_store.h"
#include "capture/emu/command_check.h"
#include "capture/emu/emu_source.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/owner_liveness.h"
#include "capture/emu/pid_namespace.h"
#include "capture/emu/qemu_locate.h"
#include "capture/emu/shm_segment.h"
#include "capture/host/hostinfo.h"
#include "capture/host/place_lookup.h"
#include "capture/soft/ground_truth.h"

enum { DATA_DEFAULT = 1 << 20, AUX_DEFAULT = 16 << 20 };

/* Lets the shell run a script without "#!", like execvp(3): sh, the script, its arguments. */
static enum ptc_emu_verdict find_shell(struct ptc_emu_source *s)
{
	char *const *argv = s->opts->target.argv;
	size_t n = 0;

	while (argv[n])
		n++;
	s->sh_argv = calloc(n + 2, sizeof(*s->sh_argv));
	if (!s->sh_argv)
		return PTC_EMU_NO_MEMORY;
	s->sh_argv[0] = (char *)"sh";
	s->sh_argv[1] = s->path;
	memcpy(s->sh_argv + 2, argv + 1, (n - 1) * sizeof(*argv));
	return ptc_emu_program_find("/bin/sh", s->sh_argv, &s->program);
}

static int find_program(struct ptc_emu_source *s, struct ptc_err *err)
{
	char *const *argv = s->opts->target.argv;
	enum ptc_emu_verdict v;
	int rc = ptc_find_program(argv[0], &s->path, err);

	if (rc)
		return rc;
	v = ptc_emu_program_find(s->path, argv, &s->program);
	if (v == PTC_EMU_NO_FORMAT)
		v = find_shell(s);
	if (v == PTC_EMU_RUNS)
		return 0;
	if (v == PTC_EMU_NO_MEMORY)
		return ptc_fail_mem(err);
	return ptc_fail(err, PTC_E_BAD_COMMAND, "cannot emulate '%s': not a %sprogram", s->path,
			v == PTC_EMU_FOREIGN ? "64-bit x86 " : "");
}

static int set_points(struct ptc_emu_source *s, struct ptc_err *err)
{
	const struct ptc_record_snapshot *o = &s->opts->snapshot;
	size_t i;

	for (i = 0; i < o->nat && i < PTC_AT_MAX; i++) {
		const struct ptc_placed placed = ptc_placed_of(&o->at[i].place);
		struct ptc_emu_point *p = &s->sh->points[i];
		const char *file = o->at[i].place.file ? o->at[i].place.file : "";

		if (strlen(file) >= sizeof(p->file))
			return ptc_fail(err, PTC_E_USAGE, "the name '%.60s...' is too long", file);
		memcpy(p->file, file, strlen(file) + 1);
		p->dev = placed.dev;
		p->ino = placed.ino;
		p->addr = o->at[i].place.addr;
		p->count = o->at[i].count ? o->at[i].count : 1;
		s->sh->npoints++;
	}
	return 0;
}

static int share(struct ptc_emu_source *s, struct ptc_err *err)
{
	const uint64_t arena = s->opts->source.code_size ? s->opts->source.code_size :
							   PTC_EMU_ARENA;
	int sys, rc = ptc_emu_segment_new(arena, &s->shm_id, &s->sh, err);

	if (rc)
		return rc;
	sys = ptc_emu_own(s->sh);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot create a robust mutex");
	if (ptc_emu_program_has_rights(&s->program))
		ptc_emu_lack_note(s->sh, PTC_EMU_RIGHTS);
	s->sh->turns_env = ptc_emu_turns_env(s->qemu);
	s->sh->pid_ns = ptc_emu_pids_namespace();
	s->sh->saves_state = s->opts->snapshot.crash;
	s->sh->saves_stacks = s->opts->snapshot.stacks && s->opts->snapshot.series;
	s->sh->held_signals = s->opts->snapshot.enabled ? s->opts->snapshot.on_signals : 0;
	s->sh->owner = getpid();
	rc = set_points(s, err);
	if (rc)
		return rc;
	ptc_emu_arena_init(s->sh, arena);
	return 0;
}

static int open_cpus(struct ptc_emu_source *s, struct ptc_err *err)
{
	const struct ptc_record_opts *o = s->opts;
	const uint64_t ratio = s->clock.tsc_hz / 100000000;
	const size_t n = o->source.vcpus ? o->source.vcpus : 1;
	struct ptc_emu_cpu_opts cpu = {
		.ring = { .data_size = o->rings.data_size ? o->rings.data_size : DATA_DEFAULT,
			  .aux_size = o->rings.aux_size ? o->rings.aux_size : AUX_DEFAULT,
			  .sample_type = PTC_SOFT_SAMPLE_TYPE,
			  .lossy = o->rings.lossy,
			  .overwrite = o->snapshot.enabled },
		.enc = { .no_retcomp = o->source.no_retcomp,
			 .psb_period = o->source.psb_period ? o->source.psb_period :
							      PTC_EMU_PSB_DEFAULT,
			 .mtc_freq = PTC_EMU_MTC_FREQ,
			 .tsc_per_ctc = PTC_EMU_TSC_PER_CTC,
			 .cbr = (uint8_t)(ratio > 255 ? 255 : ratio) },
		.clock = &s->clock,
	};
	int rc = ptc_source_check_rings(cpu.ring.data_size, cpu.ring.aux_size, err);

	if (!rc && o->lbr.branches)
		rc = ptc_lbr_check(o, cpu.ring.data_size, err);
	if (rc)
		return rc;
	s->cpus = calloc(n, sizeof(*s->cpus));
	s->descs = calloc(n, sizeof(*s->descs));
	if (!s->cpus || !s->descs)
		return ptc_fail_mem(err);
	for (s->ncpus = 0; !rc && s->ncpus < n; s->ncpus++) {
		struct ptc_emu_cpu *c = &s->cpus[s->ncpus];

		cpu.number = (uint32_t)s->ncpus;
		cpu.first_id = (o->lbr.branches ? 3 : 2) * s->ncpus + 1;
		rc = ptc_emu_cpu_open(c, &cpu, err);
		if (!rc && o->lbr.branches)
			rc = ptc_emu_cpu_open_lbr(c, o, &s->stacks, s->base.truth, err);
		if (rc)
			continue;
		s->descs[s->ncpus] = ptc_emu_cpu_desc(c, cpu.number);
		c->flow.truth = o->callbacks.truth ? ptc_truth_put : NULL;
		c->flow.truth_ctx = s->base.truth;
	}
	return rc;
}

static int open_unit(struct ptc_emu_source *s, struct ptc_err *err)
{
	s->unit.sh = s->sh;
	s->unit.cpus = s->cpus;
	s->unit.ncpus = s->ncpus;
	s->unit.stacks = s->opts->lbr.branches ? &s->stacks : NULL;
	s->unit.watermark = s->opts->snapshot.enabled ? SIZE_MAX : s->descs[0].aux_size / 4;
	s->unit.shm_id = s->shm_id;
	s->unit.pause = s->opts->snapshot.enabled ? &s->pause : NULL;
	s->unit.held_fd = s->held_fd;
	s->unit.no_state_memory = s->opts->snapshot.no_memory;
	s->unit.gone = &s->gone;
	s->unit.want = &s->want;
	return ptc_emu_unit_init(&s->unit, err);
}

static int open_held(struct ptc_emu_source *s, struct ptc_err *err)
{
	const struct ptc_record_snapshot *o = &s->opts->snapshot;

	if (!o->enabled || !(o->crash || o->on_signals || o->nat))
		return 0;
	s->held_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return s->held_fd < 0 ? ptc_fail_sys(err, errno, "cannot create an eventfd") : 0;
}

static int refuse(const struct ptc_record_opts *o, struct ptc_err *err)
{
	const char *what = ptc_emu_cannot(o);

	if (o->source.vcpus > PTC_VCPUS_MAX)
		return ptc_fail(err, PTC_E_USAGE, "--vcpus is larger than %u", PTC_VCPUS_MAX);
	if (what)
		return ptc_fail(err, PTC_E_USAGE, "the emu source cannot %s; use --source step",
				what);
	if (o->source.code_size &&
	    (o->source.code_size < PTC_EMU_ARENA_MIN || o->source.code_size > PTC_EMU_ARENA_MAX ||
	     o->source.code_size % 4096))
		return ptc_fail(err, PTC_E_USAGE,
				"--code-size is not a multiple of the page size from 64K to 16G");
	return 0;
}

int ptc_emu_open(const struct ptc_record_opts *opts, struct ptc_source **ret, struct ptc_err *err)
{
	struct ptc_emu_source *s;
	int rc = refuse(opts, err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ptc_fail_mem(err);
	s->base.ops = &ptc_emu_source_ops;
	s->base.emulated = true;
	s->opts = opts;
	s->launch = (struct ptc_launch)PTC_LAUNCH_INIT;
	s->end_fd = eventfd(0, EFD_CLOEXEC);
	s->quit_fd = eventfd(0, EFD_CLOEXEC);
	s->held_fd = -1;
	if (opts->target.sigmask)
		s->mask = *opts->target.sigmask;
	else
		(void)pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
	if (s->end_fd < 0 || s->quit_fd < 0)
		rc = ptc_fail_sys(err, errno, "cannot create an eventfd");
	if (!rc)
		rc = open_held(s, err);
	if (!rc)
		rc = ptc_emu_find(&s->qemu, &s->plugin, err);
	if (!rc)
		rc = find_program(s, err);
	if (!rc)
		rc = share(s, err);
	if (!rc && opts->callbacks.truth)
		rc = ptc_truth_new(&s->base.truth, err);
	if (!rc) {
		ptc_clock_init_monotonic(&s->clock);
		s->pmu_type = ptc_hostinfo_pt_type("");
		rc = open_cpus(s, err);
	}
	if (!rc)
		rc = open_unit(s, err);
	if (rc)
		s->base.ops->free(&s->base);
	else
		*ret = &s->base;
	return rc;
}
