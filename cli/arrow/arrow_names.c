/* SPDX-License-Identifier: MIT */
#include "cli/arrow/arrow_names.h"

#include <string.h>

#include "base/budget.h"
#include "base/err.h"
#include "cli/calls/call_how.h"
#include "cli/common/jsontext.h"
#include "ptcap/decode.h"
#include "ptcap/kind.h"

int32_t ptc_arrow_name(struct ptc_arrow_names *n, enum ptc_arrow_dictionary dictionary,
		       const char *text)
{
	json_t *clean;
	uint32_t number;

	if (!text)
		return PTC_ARROW_NULL;
	clean = ptc_budget_allows(strlen(text)) ? ptc_json_text(text) : NULL;
	if (!clean)
		return PTC_ARROW_NO_MEMORY;
	number = ptc_names_get(&n->texts[dictionary], json_string_value(clean));
	json_decref(clean);
	return number > INT32_MAX ? PTC_ARROW_NO_MEMORY : (int32_t)number - 1;
}

int ptc_arrow_names_init(struct ptc_arrow_names *n, struct ptc_err *err)
{
	bool ok = true;
	int i;

	*n = (struct ptc_arrow_names){ .texts = { { .n = 0 } } };
	for (i = 0; ok && i < PTC_KIND_COUNT; i++)
		ok = ptc_arrow_name(n, PTC_ARROW_KIND, ptc_kind_name((enum ptc_kind)i)) == i;
	for (i = 0; ok && i < PTC_GAP_COUNT; i++)
		ok = ptc_arrow_name(n, PTC_ARROW_CAUSE, ptc_gap_name((enum ptc_gap_cause)i)) == i;
	for (i = 0; ok && i <= PTC_CALL_BY_END; i++)
		ok = ptc_arrow_name(n, PTC_ARROW_HOW, ptc_call_how_name((enum ptc_call_how)i)) == i;
	if (ok)
		return 0;
	ptc_arrow_names_release(n);
	return ptc_fail_mem(err);
}

void ptc_arrow_names_release(struct ptc_arrow_names *n)
{
	int i;

	for (i = 0; i < PTC_ARROW_DICTIONARIES; i++)
		ptc_names_release(&n->texts[i]);
}
