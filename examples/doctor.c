/* SPDX-License-Identifier: MIT */
/*
 * Prints what this machine and this user can record, and how to mend it. With a process: also
 * whether its files have names and source lines. Valid C and C++.
 *
 *	cc doctor.c -lptcap -o doctor (README.md: without an installed ptcap)
 *	./doctor [PID]
 *
 * Ends with status 0 if a source of a trace works.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ptcap/debug_state.h"
#include "ptcap/doctor.h"

/* @what: of a machine or a command. Lent until ptc_doctor_free. */
static void show(const char *what, const struct ptc_doctor_check *c)
{
	printf("%s %s: %s: %s\n", what, c->name, ptc_check_state_name(c->state), c->value);
	if (*c->mend)
		printf("  mend: %s\n", c->mend);
}

/* Print the files with code of the process, and their debug files. */
static int show_files(const struct ptc_doctor *d, pid_t pid, struct ptc_err *err)
{
	static const char *const has[] = { "nothing", "exported names", "names",
					   "names and lines" };
	struct ptc_debug_search *search;
	size_t i;

	if (ptc_debug_search_new(NULL, &search, err))
		return err->code;
	for (i = 0; i < ptc_doctor_nfiles(d); i++) {
		const struct ptc_doctor_file *f = ptc_doctor_file(d, i);
		const struct ptc_debug_state *s;

		if (f->gone || f->in_memory) {
			printf("file %s: gone\n", f->name);
			continue;
		}
		s = ptc_debug_search_file(search, f->name, pid);
		printf("file %s: %s\n", f->name, has[s->has]);
		if (s->path)
			printf("  from %s\n", s->path);
	}
	ptc_debug_search_free(search);
	return 0;
}

int main(int argc, char **argv)
{
	struct ptc_doctor_opts opts = PTC_DOCTOR_OPTS_INIT;
	struct ptc_doctor *d;
	struct ptc_err err;
	int works, rc = 0;
	size_t i;

	if (argc > 2) {
		fprintf(stderr, "usage: doctor [PID]\n");
		return 2;
	}
	opts.quick = true;
	opts.pid = argc > 1 ? (pid_t)strtol(argv[1], NULL, 10) : 0;
	if (ptc_doctor_new(&opts, &d, &err)) {
		fprintf(stderr, "doctor: %s\n", err.msg);
		return 1;
	}
	for (i = 0; i < ptc_doctor_nchecks(d); i++)
		show("check", ptc_doctor_check(d, i));
	for (i = 0; i < ptc_doctor_ncommands(d); i++)
		show("command", ptc_doctor_command(d, i));
	if (ptc_doctor_process(d))
		rc = show_files(d, opts.pid, &err);
	if (rc)
		fprintf(stderr, "doctor: %s\n", err.msg);
	works = ptc_doctor_verdict(d) != PTC_DOCTOR_NOTHING;
	ptc_doctor_free(d);
	return rc || !works;
}
