/* SPDX-License-Identifier: MIT */
#include "cli/decode/call_profile.h"

#include <string.h>

enum ptc_call_profile_kind ptc_call_profile_parse(const char *name)
{
	static const char *const names[] = { [PTC_CALL_PROFILE_CALLGRIND] = "callgrind" };
	int i;

	for (i = PTC_CALL_PROFILE_NONE + 1; i < PTC_CALL_PROFILE_COUNT; i++)
		if (!strcmp(name, names[i]))
			return (enum ptc_call_profile_kind)i;
	return PTC_CALL_PROFILE_NONE;
}

bool ptc_call_profile_begin(struct ptc_call_profile *p, struct ptc_decode *d, struct ptc_sink *ret)
{
	*ret = (struct ptc_sink){ ptc_callgrind_items, &p->callgrind };
	return ptc_callgrind_init(&p->callgrind, d);
}

bool ptc_call_profile_print(struct ptc_call_profile *p, struct ptc_line *l)
{
	return ptc_callgrind_print(&p->callgrind, l);
}

void ptc_call_profile_release(struct ptc_call_profile *p)
{
	ptc_callgrind_release(&p->callgrind);
}
