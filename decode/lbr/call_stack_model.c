/* SPDX-License-Identifier: MIT */
#include "decode/lbr/call_stack_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ptcap/branchsel.h"
#include "ptcap/kind.h"

enum { CALL_REL32 = 5 }; /* bytes */

void ptc_live_release(struct ptc_live *l)
{
	free(l->calls);
	*l = (struct ptc_live){ .n = 0 };
}

static bool push_live_call(struct ptc_live *l, const struct ptc_step *s)
{
	if (l->n == 2 * (size_t)PTC_LIVE_MAX) {
		memmove(l->calls, l->calls + PTC_LIVE_MAX, PTC_LIVE_MAX * sizeof(*s));
		l->n = PTC_LIVE_MAX;
		l->cut = true;
	}
	if (l->n == l->cap && !ptc_grow(&l->calls, &l->cap, l->n + 1, sizeof(*s)))
		return false;
	l->calls[l->n++] = *s;
	return true;
}

static bool is_pushed(const struct ptc_step *s)
{
	return s->from && s->to && !ptc_is_kernel_ip(s->to) &&
	       (s->kind == PTC_KIND_ICALL ||
		(s->kind == PTC_KIND_CALL && s->to != s->from + CALL_REL32));
}

static bool is_popping(const struct ptc_step *s)
{
	return s->kind == PTC_KIND_RET && s->to && !ptc_is_kernel_ip(s->to);
}

bool ptc_live_step(struct ptc_live *l, const struct ptc_step *s, bool *ret_changed)
{
	struct ptc_step call = *s;
	bool changed = true;

	if (s->flags & PTC_STEP_GAP) {
		l->n = 0;
		l->cut = true;
		call.flags = PTC_STEP_GAP;
		if (!push_live_call(l, &call))
			return false;
	} else if (is_pushed(s)) {
		call.flags = PTC_STEP_WANTED | PTC_STEP_END;
		if (!push_live_call(l, &call))
			return false;
	} else if (is_popping(s) && l->n && !(l->calls[l->n - 1].flags & PTC_STEP_GAP)) {
		l->n--;
	} else {
		changed = false;
	}
	if (ret_changed)
		*ret_changed = changed;
	return true;
}

bool ptc_live_copy(struct ptc_live *to, const struct ptc_live *from)
{
	if (!ptc_grow(&to->calls, &to->cap, from->n + 1, sizeof(*to->calls)))
		return false;
	if (from->n)
		memcpy(to->calls, from->calls, from->n * sizeof(*to->calls));
	to->n = from->n;
	to->cut = from->cut;
	return true;
}
