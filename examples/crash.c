/* SPDX-License-Identifier: MIT */
/*
 * Explains a crash: the signal and its reason, the signature, the stack, the last branches, and the
 * threads. Writes a core for a debugger on request. Valid C and C++.
 *
 *	cc crash.c -lptcap -o crash (README.md: without an installed ptcap)
 *	ptcap crash -- ./program
 *	./crash perf.data [CORE]
 */
#include <inttypes.h>
#include <stdio.h>

#include "ptcap/crash_report.h"

enum { BRANCHES = 8, FRAMES = 32 };

static void show_place(const struct ptc_crash_place *p)
{
	if (p->function)
		printf("%s+0x%" PRIx64, p->function, p->offset);
	else
		printf("0x%" PRIx64, p->ip);
	if (p->source)
		printf(" %s:%d", p->source, p->line);
	putchar('\n');
}

static void show_stack(const struct ptc_crash_report *r, const struct ptc_crash_stack *s)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_crash_frame *f;
	size_t i;

	for (i = 0; i < FRAMES && (f = ptc_crash_stack_frame(s, i)) != NULL; i++) {
		ptc_crash_place_frame(r, f, &place);
		printf("frame %zu: ", i);
		show_place(&place);
	}
}

static void show_branches(const struct ptc_crash_report *r)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_item *it;
	size_t i;

	for (i = 0; (it = ptc_crash_report_branch(r, i)) != NULL; i++) {
		if (it->type != PTC_ITEM_BRANCH || !ptc_item_has_to(it))
			continue;
		ptc_crash_place_at(r, it->to, &place);
		printf("%s to ", ptc_kind_name((enum ptc_kind)it->kind));
		show_place(&place);
	}
}

static void show_threads(const struct ptc_crash_state *state)
{
	const struct ptc_crash_state_thread *t;
	size_t i;

	for (i = 0; (t = ptc_crash_state_get_thread(state, i)) != NULL; i++)
		printf("thread %" PRIu64 " (%s)%s\n", ptc_crash_state_registers(t)->tid,
		       ptc_crash_state_thread_name(t),
		       t == ptc_crash_state_victim(state) ? ", killed" : "");
}

static void show(const struct ptc_crash_report *r)
{
	const struct ptc_crash_signal *s = ptc_crash_state_signal(ptc_crash_report_state(r));
	const struct ptc_crash_why *why = ptc_crash_report_why(r);

	printf("signal %" PRIu64 ": %s\n", s->signo, ptc_reason_name(why->reason));
	if (why->has_addr)
		printf("address 0x%" PRIx64 "\n", why->addr);
	printf("signature %s\n", ptc_crash_report_signature(r));
	show_stack(r, ptc_crash_report_believed(r));
	show_branches(r);
	show_threads(ptc_crash_report_state(r));
}

int main(int argc, char **argv)
{
	struct ptc_crash_opts opts = PTC_CRASH_OPTS_INIT;
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	struct ptc_crash_report *r = NULL;
	struct ptc_err err;
	int rc;

	if (argc < 2)
		return 2;
	opts.branches = BRANCHES;
	rc = ptc_crash_explain(argv[1], &opts, &r, &err);
	if (!rc)
		show(r);
	if (!rc && argc > 2)
		rc = ptc_core_write_file(ptc_crash_report_state(r), argv[2], &size, &err);
	ptc_crash_report_free(r);
	if (rc)
		fprintf(stderr, "crash: %s\n", err.msg);
	return rc ? 1 : 0;
}
