/* SPDX-License-Identifier: MIT */
#include "capture/session/opts.h"

#include "base/err.h"
#include "base/opts.h"

enum { PSB_MIN = 2048, PSB_SHIFT_MAX = 15, REALTIME_MAX = 99, LEVEL_MAX = 22 };

/*
 * Describes the first list that has a length but no elements, or that has invalid elements. Returns
 * NULL if there is none.
 */
static const char *odd_list(const struct ptc_record_opts *o)
{
	size_t i;

	if ((o->target.npids && !o->target.pids) || (o->target.ntids && !o->target.tids))
		return "pids or tids: a count without a list";
	if (o->source.nfilters && !o->source.filters)
		return "filters: a count without a list";
	if (o->snapshot.nat && !o->snapshot.at)
		return "at: a count without a list";
	for (i = 0; i < o->source.nfilters; i++)
		if ((unsigned int)o->source.filters[i].action > PTC_FILTER_STOP)
			return "filters: unknown action";
	return o->target.argv && !o->target.argv[0] ? "argv: the command has no name" : NULL;
}

static bool is_psb_period(uint32_t n)
{
	return n >= PSB_MIN && n <= (uint32_t)PSB_MIN << PSB_SHIFT_MAX && !(n & (n - 1));
}

static const char *odd_number(const struct ptc_record_opts *o)
{
	if ((unsigned int)o->source.kind > PTC_SOURCE_EMU)
		return "source: unknown source";
	if ((unsigned int)o->lbr.spoil.mode > PTC_SPOIL_FLAG)
		return "lbr_spoil: unknown mode";
	if (o->source.psb_period && !is_psb_period(o->source.psb_period))
		return "psb_period: expected a power of two from 2048 to 64 MiB";
	if (o->rings.realtime > REALTIME_MAX)
		return "realtime: expected a priority from 1 to 99";
	return o->output.compression > LEVEL_MAX ? "compression: expected a level from 1 to 22" :
						   NULL;
}

static const char *odd_callback(const struct ptc_record_opts *o)
{
	if (o->callbacks.wake_fd > 0 && !o->callbacks.on_wake)
		return "wake_fd is set, but on_wake is not; wake_fd -1 means none";
	return o->callbacks.lbr_truth && !o->callbacks.truth ?
		       "lbr_truth is set, but truth is not" :
		       NULL;
}

int ptc_record_opts_take(struct ptc_record_opts *ret, const struct ptc_record_opts *opts,
			 struct ptc_err *err)
{
	const int rc = ptc_opts_take(ret, sizeof(*ret), opts, "PTC_RECORD_OPTS_INIT", err);
	const char *odd;

	if (rc)
		return rc;
	odd = odd_list(ret);
	if (!odd)
		odd = odd_number(ret);
	if (!odd)
		odd = odd_callback(ret);
	if (odd)
		return ptc_fail(err, PTC_E_USAGE, "%s", odd);
	if (!ret->callbacks.on_wake) /* a zeroed struct means no descriptor, not standard input */
		ret->callbacks.wake_fd = -1;
	return 0;
}
