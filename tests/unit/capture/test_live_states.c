/* SPDX-License-Identifier: MIT */
/*
 * Description: snapshots have the states of live processes. States that the source has are taken in
 * the pause, and others are read when the trace is on again.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "auxtrace/reader/reader.h"
#include "auxtrace/record/crash_record.h"
#include "fake_source.h"

/* Waits until it is killed, at the latest by the end of the process @parent. */
static _Noreturn void wait_for_kill(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it has ended before the call */
		_exit(1);
	for (;;)
		(void)pause();
}

/* Starts a process with a child. Both wait until they are killed, and end with this process. */
static pid_t start_family(pid_t *ret_child)
{
	const pid_t self = getpid();
	pid_t pid, child;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		pid = getpid();
		child = fork();
		if (!child)
			wait_for_kill(pid);
		if (child < 0 || write(fds[1], &child, sizeof(child)) != (ssize_t)sizeof(child))
			_exit(1);
		(void)close(fds[1]);
		wait_for_kill(self);
	}
	(void)close(fds[1]);
	cr_assert(pid > 0);
	cr_assert_eq(read(fds[0], ret_child, sizeof(*ret_child)), (ssize_t)sizeof(*ret_child));
	cr_assert(*ret_child > 0);
	(void)close(fds[0]);
	return pid;
}

/* Returns the number of states of live processes in the file. Sets *ret_pid to the last. */
static unsigned int count_live(const char *path, uint64_t *ret_pid)
{
	unsigned int n = 0;
	struct ptc_crash c;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	while (ptc_file_next(f, &pos, &rec, &err) > 0) {
		if (ptc_crash_parse(&rec, &c, &err) <= 0 || c.kind != PTC_CRASH_LIVE)
			continue;
		*ret_pid = c.u.live.pid;
		n++;
	}
	ptc_file_free(f);
	return n;
}

/* Takes a snapshot while the command runs, and one at a request to end. */
Test(live_states, a_snapshot_has_the_states_of_a_command_and_its_children)
{
	static char *argv[] = { (char *)"x", NULL };
	struct ptc_record_opts opts = { .snapshot.count = 1, .target.argv = argv };
	char path[64];
	struct ptc_err err;
	pid_t pid, child;
	uint64_t last;
	int way;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	pid = start_family(&child);
	for (way = 0; way < 8; way++) {
		const bool at_end = way & 1, stacks = way & 2, emulated = way & 4;
		const unsigned int want = stacks && !emulated ? 2 : 0;
		struct fake f;

		make(&f);
		f.base.emulated = emulated;
		opts.snapshot.stacks = stacks;
		opts.snapshot.after_ns = at_end ? 0 : 1;
		opts.range.max_ns = at_end ? 1 : 0;
		cr_assert_eq(take_series_of(&f, path, opts, pid, &err), 0, "%s", err.msg);
		cr_assert_eq(count_live(path, &last), want, "way %d", way);
		cr_assert(!want || last == (uint64_t)child);
		(void)unlink(path);
		release(&f);
	}
	(void)kill(child, SIGKILL);
	(void)kill(pid, SIGKILL);
}

/* ptrace may wait long for a thread: the trace is on by then. */
Test(live_states, states_of_live_processes_are_read_while_the_trace_is_on)
{
	static char *argv[] = { (char *)"x", NULL };
	const struct ptc_record_opts opts = { .snapshot.count = 1,
					      .snapshot.stacks = true,
					      .snapshot.after_ns = 1,
					      .target.argv = argv };
	char path[64];
	struct ptc_err err;
	struct fake f;
	pid_t child;
	uint64_t last;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	make(&f);
	f.victim = start_family(&child);
	cr_assert_eq(take_series_of(&f, path, opts, f.victim, &err), 0, "%s", err.msg);
	cr_assert_eq(f.resumes, 1);
	cr_assert_eq(count_live(path, &last), 0, "it was dead by then");
	(void)unlink(path);
	(void)kill(child, SIGKILL);
	release(&f);
}

/* The source's states belong to the moment of the pause. */
static int fake_lives(struct ptc_source *s, struct ptc_buf *b, uint64_t *ret, struct ptc_err *err)
{
	struct fake *f = of(s);

	(void)b;
	(void)err;
	cr_assert(f->pauses == 2 && !f->resumes);
	++*ret;
	return 0;
}

Test(live_states, states_that_a_source_has_are_taken_in_the_pause)
{
	const struct ptc_record_opts opts = { .snapshot.count = 1,
					      .snapshot.stacks = true,
					      .snapshot.after_ns = 1 };
	struct ptc_source_ops with_lives = fake_ops;
	char path[64];
	struct ptc_err err;
	struct fake f;

	(void)snprintf(path, sizeof(path), "/tmp/ptcap-loop-%d", (int)getpid());
	make(&f);
	with_lives.lives = fake_lives;
	f.base.ops = &with_lives;
	cr_assert_eq(take_series(&f, path, opts, &err), 0, "%s", err.msg);
	cr_assert_eq(f.resumes, 1);
	(void)unlink(path);
	release(&f);
}
