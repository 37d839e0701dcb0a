/* SPDX-License-Identifier: MIT */
/* Text output of `ptcap doctor`. */
#include <stdio.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/common/terminal.h"
#include "cli/common/text_escape.h"
#include "cli/doctor/doctor_out.h"

enum { STATE_COLUMNS = 7, NAME_COLUMNS = 24 };

static const char *state_color(enum ptc_check_state s)
{
	switch (s) {
	case PTC_CHECK_OK:
		return "\033[32m";
	case PTC_CHECK_BROKEN:
		return "\033[1;31m";
	case PTC_CHECK_NOTE:
		return "\033[33m";
	case PTC_CHECK_MISSING:
	case PTC_CHECK_UNKNOWN:
		break;
	}
	return "\033[2m";
}

/* Prints the name in its column. It may be the name of an untrusted file. */
static void show_name(const char *name)
{
	const size_t width = ptc_plain_width(name);

	ptc_show_plain(name);
	printf("%*s  ", width < NAME_COLUMNS ? NAME_COLUMNS - (int)width : 0, "");
}

static void show_check(const struct ptc_check *c, bool color)
{
	printf("%s%-*s%s  ", color ? state_color(c->state) : "", STATE_COLUMNS,
	       ptc_check_state_name(c->state), color ? "\033[m" : "");
	show_name(c->name);
	ptc_show_plain(c->value);
	if (*c->mend) {
		printf("; mend: ");
		ptc_show_plain(c->mend);
	}
	putchar('\n');
}

static void show_checks(const struct ptc_check *checks, size_t n, bool color)
{
	size_t i;

	for (i = 0; i < n; i++)
		show_check(&checks[i], color);
	putchar('\n');
}

const char *ptc_doctor_verdict_name(enum ptc_doctor_verdict v)
{
	return v == PTC_DOCTOR_HARDWARE ? "hardware" :
	       v == PTC_DOCTOR_SOFTWARE ? "software" :
					  "nothing";
}

static const char *verdict_text(enum ptc_doctor_verdict v)
{
	return v == PTC_DOCTOR_HARDWARE ?
		       "hardware: this user can record with Intel PT" :
	       v == PTC_DOCTOR_SOFTWARE ?
		       "software only: commands can be recorded, slower, without "
		       "Intel PT" :
		       "nothing: no source of a trace works for this user";
}

void ptc_doctor_text(const struct ptc_doctor *d, const struct ptc_check *files)
{
	const bool color = ptc_terminal_has_colors();

	show_checks(d->checks, d->n, color);
	if (files && d->target.nfiles)
		show_checks(files, d->target.nfiles, color);
	if (d->target.more_files)
		printf("more files are mapped than %d; the others are not checked\n\n",
		       PTC_TARGET_FILES_MAX);
	show_checks(d->commands, d->ncommands, color);
	printf("verdict  %s\n", verdict_text(d->verdict));
}
