/* SPDX-License-Identifier: MIT */
#include "cli/record/record_exit.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "base/plural.h"
#include "cli/common/cli.h"

bool ptc_outcome_lost(const struct ptc_record_result *r)
{
	return r->lost_records || r->lost_aux || r->truncated || r->partial || r->untraced ||
	       r->cut_short || r->disk_full || r->collisions || r->throttled || r->unscheduled ||
	       r->failed || r->unanswered || r->rightless || r->missed_cpus || r->late_cpus ||
	       r->unwatched || r->lacking[0];
}

void ptc_outcome_say_untraced(const struct ptc_record_result *r)
{
	if (r->untraced && r->source == PTC_SOURCE_STEP)
		ptc_say("%" PRIu64 " process%s switched to 32-bit code, which cannot be "
			"single-stepped; nothing was recorded from then on",
			r->untraced, ptc_plural_es(r->untraced));
	else if (r->unfollowed[0])
		ptc_say("programs or threads of the command that were not recorded: %" PRIu64
			" (%s)",
			r->untraced, r->unfollowed);
	else if (r->untraced)
		ptc_say("threads or processes of the command that were not recorded: %" PRIu64,
			r->untraced);
	if (r->rightless)
		ptc_say("%" PRIu64 " set-ID program%s ran without the rights of %s file (first: "
			"'%s'): the kernel ignores these bits while an unprivileged ptcap steps; "
			"run ptcap as root",
			r->rightless, ptc_plural(r->rightless), r->rightless == 1 ? "its" : "their",
			r->rightless_path);
	if (r->lacking[0])
		ptc_say("QEMU does not support some system calls of the program (%s); with "
			"--source step the program may behave differently",
			r->lacking);
	if (r->undumped)
		ptc_say("%" PRIu64 " emulated process%s died without a core dump: "
			"kernel.core_pattern names a program, and only the kernel can start it. "
			"`ptcap crash core` writes a core from a recording of `ptcap crash`",
			r->undumped, ptc_plural_es(r->undumped));
}

void ptc_outcome_say_missing(const struct ptc_record_result *r)
{
	if (r->missing_states)
		ptc_say("not saved: %" PRIu64 " state%s of running processes; the first: %s",
			r->missing_states, ptc_plural(r->missing_states), r->missing_why);
}

void ptc_outcome_say_losses(const struct ptc_record_opts *o, const struct ptc_record_result *r)
{
	if (r->lost_records || r->lost_aux || r->truncated || r->partial)
		ptc_say("LOST: %" PRIu64 " sideband record%s, %" PRIu64 " bytes of trace; %" PRIu64
			" truncated and %" PRIu64 " partial chunks of trace; use larger ring "
			"buffers (-m)",
			r->lost_records, ptc_plural(r->lost_records), r->lost_aux, r->truncated,
			r->partial);
	if (r->disk_full)
		ptc_say("LOST: the disk is full: '%s' ends there; %" PRIu64
			" more bytes of trace were dropped",
			o->output.path, r->unwritten);
	if (r->collisions || r->throttled)
		ptc_say("LOST: %" PRIu64 " chunks of trace collided with another tracer; the "
			"kernel throttled events %" PRIu64 " times",
			r->collisions, r->throttled);
	if (r->unscheduled || r->failed)
		ptc_say("LOST: %" PRIu64 " event%s ran only part of the time, because another user "
			"had the PMU; %" PRIu64 " event%s failed",
			r->unscheduled, ptc_plural(r->unscheduled), r->failed,
			ptc_plural(r->failed));
	if (r->unwatched)
		ptc_say("LOST: pt-watcher failed or was killed; no signal was seen from then on");
	if (r->late_crashes)
		ptc_say("%" PRIu64 " more process%s killed while ptcap wrote the last recording: "
			"no recording has the state; --count=N keeps N deaths",
			r->late_crashes, r->late_crashes == 1 ? " was" : "es were");
	ptc_outcome_say_missing(r);
	if (r->unanswered)
		ptc_say("LOST: pt-step-tracer did not answer and was killed; the recording ends "
			"early, and the stepped processes may have died");
	if (r->missed_cpus)
		ptc_say("LOST: %" PRIu64
			" CPU%s came online while recording and had no ring buffer; -v lists them",
			r->missed_cpus, ptc_plural(r->missed_cpus));
	if (r->late_cpus)
		ptc_say("LOST: the first moment after a CPU came online, %" PRIu64
			" time%s; -v lists the CPUs",
			r->late_cpus, ptc_plural(r->late_cpus));
}

int ptc_outcome_code(const struct ptc_record_opts *o, const struct ptc_record_result *r,
		     bool strict, int sig)
{
	if (!o->target.argv)
		return strict && ptc_outcome_lost(r) ? PTC_EXIT_FINDINGS : PTC_EXIT_OK;
	if (r->left_running)
		return sig ? 128 + sig : PTC_EXIT_OK;
	if (WIFSIGNALED(r->status))
		return 128 + WTERMSIG(r->status);
	if (!WEXITSTATUS(r->status) && strict && ptc_outcome_lost(r))
		return PTC_EXIT_FINDINGS;
	return WEXITSTATUS(r->status);
}

int ptc_outcome_failure(const struct ptc_record_opts *o, const struct ptc_err *err)
{
	if (!o->target.argv)
		return err->code == PTC_E_USAGE ? PTC_EXIT_USAGE : PTC_EXIT_FAIL;
	switch (err->code) {
	case PTC_E_NO_COMMAND:
		return PTC_EXIT_NOT_FOUND;
	case PTC_E_BAD_COMMAND:
		return PTC_EXIT_CANNOT_RUN;
	case PTC_E_USAGE:
		return PTC_EXIT_USAGE;
	default:
		return PTC_EXIT_PTCAP;
	}
}
