/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "cli.h"

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
		ptc_say("%" PRIu64
			" processes turned to 32-bit code, which cannot be stepped: from there on "
			"they were not recorded",
			r->untraced);
	else if (r->unfollowed[0])
		ptc_say("%" PRIu64
			" programs or threads that the command started were not recorded: %s",
			r->untraced, r->unfollowed);
	else if (r->untraced)
		ptc_say("%" PRIu64
			" threads or processes that the command started were not recorded",
			r->untraced);
	if (r->rightless)
		ptc_say("%" PRIu64
			" set-user-ID programs, or the like, ran without the rights of their "
			"file (the first: '%s'): the kernel gives none while an unprivileged ptcap "
			"steps them. As root they get theirs",
			r->rightless, r->rightless_path);
	if (r->lacking[0])
		ptc_say("the program made system calls that QEMU does not have (%s): with --source "
			"step it may do something else",
			r->lacking);
}

void ptc_outcome_say_losses(const struct ptc_record_opts *o, const struct ptc_record_result *r)
{
	if (r->lost_records || r->lost_aux || r->truncated || r->partial)
		ptc_say("LOST: %" PRIu64 " side records, %" PRIu64 " trace bytes; %" PRIu64
			" truncated and %" PRIu64 " partial pieces (larger rings: -m)",
			r->lost_records, r->lost_aux, r->truncated, r->partial);
	if (r->disk_full)
		ptc_say("LOST: no space is left for '%s': it ends where the disk was full; %" PRIu64
			" trace bytes more were read and dropped",
			o->output, r->unwritten);
	if (r->collisions || r->throttled)
		ptc_say("LOST: %" PRIu64 " pieces of trace collided with another tracer, %" PRIu64
			" times the kernel held an event back",
			r->collisions, r->throttled);
	if (r->unscheduled || r->failed)
		ptc_say("LOST: %" PRIu64
			" events did not run all the time they were on (the PMU was somebody "
			"else's), %" PRIu64 " ended in error",
			r->unscheduled, r->failed);
	if (r->unwatched)
		ptc_say("LOST: pt-watcher, which waits for signals, has failed or was killed: they "
			"were not seen from then on");
	if (r->unanswered)
		ptc_say("LOST: the tracer (pt-step-tracer) did not answer, and was killed: the "
			"recording "
			"ends early, and what was stepped may have died with it");
	if (r->missed_cpus)
		ptc_say("LOST: what ran on %" PRIu64
			" CPUs that came online while it was recorded (-v says which)",
			r->missed_cpus);
	if (r->late_cpus)
		ptc_say("LOST: what ran in the first moment after a CPU came online, %" PRIu64
			" times (-v says which)",
			r->late_cpus);
}

int ptc_outcome_code(const struct ptc_record_opts *o, const struct ptc_record_result *r,
		     bool strict, int sig)
{
	if (!o->argv)
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
	if (!o->argv)
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
