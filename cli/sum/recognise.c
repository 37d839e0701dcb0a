/* SPDX-License-Identifier: MIT */
/* Recognises the format of a file from its first line. */
#include <string.h>

#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

static const struct ptc_sum_format *format_of_object(const json_t *o)
{
	static const struct {
		const char *schema;
		const struct ptc_sum_format *format;
	} schemas[] = {
		{ "ptcap-decode-stats", &ptc_sum_stats_format },
		{ "ptcap-decode-counts", &ptc_sum_counts_format },
		{ "ptcap-calls-part", &ptc_sum_parts_format },
		{ "ptcap-report", &ptc_sum_report_format },
		{ "ptcap-crash", &ptc_sum_crashes_format },
		{ "ptcap-sum-crashes", &ptc_sum_crashes_format },
	};
	const char *schema = ptc_sum_json_word(o, "schema");
	size_t i;

	for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (!strcmp(schema, schemas[i].schema))
			return !strcmp(ptc_sum_json_word(o, "of"), "coverage") ?
				       &ptc_sum_coverage_format :
				       schemas[i].format;
	return NULL;
}

static bool is_number(const char *s, char sep)
{
	uint64_t n;

	return ptc_sum_take_number(&s, &n) && *s == sep;
}

/* Takes a blank and an address of BOLT's profile, or "X:0" for an address outside. */
static bool take_bolt_end(const char **at)
{
	uint64_t addr;

	if (!strncmp(*at, " X:0", 4)) {
		*at += 4;
		return true;
	}
	return *(*at)++ == ' ' && ptc_sum_take_hex(at, &addr);
}

/* The name of a thread may begin with "B " too, so a stack can begin like a branch. */
static bool is_bolt(const char *text)
{
	const char *at = text + 1;

	return (*text == 'B' || *text == 'F') && take_bolt_end(&at) && take_bolt_end(&at) &&
	       *at == ' ' && !strchr(at, ';');
}

/* A stack is names with ";" between, a blank and a number. */
static bool is_stack(const char *text)
{
	const char *blank = strrchr(text, ' ');

	return blank && blank != text && is_number(blank + 1, '\0');
}

const struct ptc_sum_format *ptc_sum_recognise(const char *text)
{
	const struct ptc_sum_format *format;
	json_t *o;

	if (*text == '{') {
		o = json_loads(text, 0, NULL);
		format = format_of_object(o);
		json_decref(o);
		if (o)
			return format;
	}
	if (!strcmp(text, "# callgrind format"))
		return &ptc_sum_callgrind_format;
	if (!strcmp(text, "TN:"))
		return &ptc_sum_lcov_format;
	if (is_bolt(text))
		return &ptc_sum_bolt_format;
	if (is_number(text, '\0'))
		return &ptc_sum_spans_format;
	return is_stack(text) ? &ptc_sum_folded_format : NULL;
}
