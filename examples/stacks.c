/* SPDX-License-Identifier: MIT */
/*
 * Shows the stack of each thread in a recording of `ptcap stacks -o` or `ptcap crash`, what the
 * thread waits for, and deadlocks. Valid C and C++.
 *
 *	cc stacks.c -lptcap -o stacks (README.md: without an installed ptcap)
 *	ptcap stacks -p PID -o perf.data
 *	./stacks perf.data
 */
#include <inttypes.h>
#include <stdio.h>

#include "ptcap/stacks.h"

static uint64_t tid_of(const struct ptc_stack_process *p, size_t thread)
{
	return ptc_crash_state_registers(ptc_stack_process_thread(p, thread)->state)->tid;
}

static void show_deadlocks(const struct ptc_stack_process *p)
{
	const size_t *threads;
	size_t i, k, n;

	for (i = 0; (threads = ptc_stack_process_deadlock(p, i, &n)) != NULL; i++) {
		printf("deadlock:");
		for (k = 0; k < n; k++)
			printf(" %" PRIu64, tid_of(p, threads[k]));
		putchar('\n');
	}
}

static void show_stack(const struct ptc_stacks_report *r, const struct ptc_stack_process *p,
		       size_t thread)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; ptc_stacks_place(r, p, thread, i, &place); i++)
		if (place.function)
			printf("frame %zu: %s+0x%" PRIx64 "\n", i, place.function, place.offset);
		else
			printf("frame %zu: 0x%" PRIx64 "\n", i, place.ip);
}

static void show_process(const struct ptc_stacks_report *r, const struct ptc_stack_process *p)
{
	const struct ptc_crash_state *state = ptc_stack_process_state(p);
	const struct ptc_stack_thread *t;
	size_t i;

	printf("process %" PRIu64 "\n", ptc_crash_state_signal(state)->pid);
	show_deadlocks(p);
	for (i = 0; (t = ptc_stack_process_thread(p, i)) != NULL; i++) {
		printf("thread %" PRIu64 " (%s): %s", tid_of(p, i),
		       ptc_crash_state_thread_name(t->state), ptc_wait_name(t->wait->kind));
		if (t->object)
			printf(" %s", t->object);
		if (t->wait->owner)
			printf(", thread %" PRIu64, t->wait->owner);
		putchar('\n');
		if (t->same_as == i)
			show_stack(r, p, i);
	}
}

int main(int argc, char **argv)
{
	struct ptc_stacks_report *r;
	struct ptc_err err;
	size_t i;

	if (argc != 2)
		return 2;
	if (ptc_stacks_explain(argv[1], NULL, &r, &err)) {
		fprintf(stderr, "stacks: %s\n", err.msg);
		return 1;
	}
	for (i = 0; i < ptc_stacks_report_processes(r); i++)
		show_process(r, ptc_stacks_report_process(r, i));
	ptc_stacks_report_free(r);
	return 0;
}
