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

static void show_check(const struct ptc_doctor_check *c, bool color)
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

static void show_files(const struct ptc_doctor *d, const struct ptc_file_check *files, bool color)
{
	const size_t n = ptc_doctor_nfiles(d);
	size_t i;

	for (i = 0; i < n; i++)
		show_check(&files[i].check, color);
	if (n)
		putchar('\n');
}

void ptc_doctor_text(const struct ptc_doctor *d, const struct ptc_file_check *files)
{
	const struct ptc_doctor_process *process = ptc_doctor_process(d);
	const bool color = ptc_terminal_has_colors();
	size_t i;

	for (i = 0; i < ptc_doctor_nchecks(d); i++)
		show_check(ptc_doctor_check(d, i), color);
	putchar('\n');
	if (files)
		show_files(d, files, color);
	if (process && process->more_files)
		printf("more files are mapped than %zu; the others are not checked\n\n",
		       ptc_doctor_nfiles(d));
	for (i = 0; i < ptc_doctor_ncommands(d); i++)
		show_check(ptc_doctor_command(d, i), color);
	printf("\nverdict  %s\n", verdict_text(ptc_doctor_verdict(d)));
}
