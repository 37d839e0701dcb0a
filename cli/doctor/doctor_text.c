/* SPDX-License-Identifier: MIT */
/* Text output of `ptcap doctor`. */
#include <stdio.h>
#include <string.h>

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

static void show_check(const struct ptc_check *c, bool color)
{
	printf("%s%-*s%s  %-*s  ", color ? state_color(c->state) : "", STATE_COLUMNS,
	       ptc_check_state_name(c->state), color ? "\033[m" : "", NAME_COLUMNS, c->name);
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

void ptc_doctor_text(const struct ptc_doctor *d, bool color)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		show_check(&d->checks[i], color);
	putchar('\n');
	for (i = 0; i < d->ncommands; i++)
		show_check(&d->commands[i], color);
	printf("\nverdict  %s\n", verdict_text(d->verdict));
}
