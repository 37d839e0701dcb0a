/* SPDX-License-Identifier: MIT */
/*
 * Description: the trace of stepped code reaches its reader chunk by chunk; a launch leaves no
 * child.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auxtrace/record/layout.h"
#include "base/cursor.h"
#include "capture/rings/aux.h"
#include "capture/rings/ring.h"
#include "capture/step/tracer.h"

#define P ((size_t)PTC_AUX_PAGE)

static void write_aux(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ptc_softring_aux_write(ctx, bytes, len, NULL, NULL);
}

/* Both ends of a ring: the tracer's and the reader's. */
struct traced {
	struct ptc_softring *ring;
	struct ptc_clock clock;
	struct ptc_records rec;
	struct ptc_flow flow;
	struct ptc_tracer t;
	struct ptc_ring data;
};

static void begin(struct traced *w)
{
	const struct ptc_softring_opts opts = { .data_size = P, .aux_size = 4 * P };
	const struct ptc_enc_opts enc = { .psb_period = 4096, .mtc_freq = 3, .tsc_per_ctc = 84 };
	struct ptc_err err;

	*w = (struct traced){ .clock = { .conv = { .mult = 1 } } };
	cr_assert_eq(ptc_softring_new(&opts, &w->ring, &err), 0);
	cr_assert_eq(ptc_enc_new(&enc, write_aux, w->ring, &w->flow.enc, &err), 0);
	cr_assert_eq(ptc_ring_init(&w->data, ptc_softring_page(w->ring), P, P, &err), 0);
	w->rec = (struct ptc_records){ .ring = w->ring, .clock = &w->clock, .pt_id = 5 };
	w->t = (struct ptc_tracer){ .flow = &w->flow, .rec = &w->rec };
}

static void end(struct traced *w)
{
	ptc_records_release(&w->rec);
	ptc_enc_free(w->flow.enc);
	ptc_softring_free(w->ring);
}

/* The next record must be an AUX record of [@from, @to); if both are 0, no record may follow. */
static void expect_aux(struct traced *w, uint64_t from, uint64_t to)
{
	uint8_t *out = malloc(PTC_REC_MAX + 8);
	struct ptc_seg seg[2];
	struct ptc_err err;
	uint64_t behind;
	const int64_t n = ptc_ring_read(&w->data, seg, &behind, &err);

	cr_assert_not_null(out);
	if (!to) {
		cr_assert_eq(n, 0);
	} else {
		cr_assert_gt(n, 0);
		cr_assert_eq(ptc_ring_record(seg, 0, out), (size_t)n, "one record");
		cr_assert_eq(ptc_le32(out), PERF_RECORD_AUX);
		cr_assert_eq(ptc_le64(out + 8), from);
		cr_assert_eq(ptc_le64(out + 16), to - from);
		ptc_ring_done(&w->data, behind);
	}
	free(out);
}

Test(tracer, a_piece_is_told_of_and_then_there)
{
	struct traced w;
	uint64_t first, second;

	begin(&w);
	ptc_tracer_publish(&w.t);
	expect_aux(&w, 0, 0);
	ptc_enc_begin(w.flow.enc, 1000);
	ptc_tracer_publish(&w.t);
	first = ptc_softring_page(w.ring)->aux_head;
	cr_assert_gt(first, 0);
	cr_assert_eq(w.t.published, first, "what the encoder has made, padding included");
	expect_aux(&w, 0, first);
	ptc_tracer_publish(&w.t);
	expect_aux(&w, 0, 0);
	ptc_enc_enter(w.flow.enc, 0x1000, 2000);
	ptc_tracer_publish(&w.t);
	second = ptc_softring_page(w.ring)->aux_head;
	expect_aux(&w, first, second);
	end(&w);
}

Test(tracer, records_are_about_the_task_that_is_named)
{
	const struct ptc_task k = { .tid = 12, .pid = 11 };
	struct ptc_records rec = { .pid = 1, .tid = 2 };
	struct ptc_tracer t = { .rec = &rec };

	ptc_tracer_speak_of(&t, &k);
	cr_assert(rec.tid == 12 && rec.pid == 11);
}

Test(tracer, a_command_stands_still_behind_its_exec)
{
	char *const argv[] = { (char *)"true", NULL };
	struct ptc_err err;
	int rc, status;
	pid_t pid;

	rc = ptc_tracer_launch(argv, NULL, &pid, &err);
	if (rc == PTC_E_IO && err.sys == EPERM)
		cr_skip_test("ptrace is forbidden here");
	cr_assert_eq(rc, 0, "%s", err.msg);
	cr_assert_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0, "it is stopped, and ours");
	do {
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		if (WIFSTOPPED(status))
			(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
	} while (WIFSTOPPED(status));
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
}

Test(tracer, a_command_that_cannot_run_leaves_no_child)
{
	char *const argv[] = { (char *)"/etc/passwd", NULL };
	struct ptc_err err;
	pid_t pid = 77;

	cr_assert_eq(ptc_tracer_launch(argv, NULL, &pid, &err), PTC_E_BAD_COMMAND);
	cr_assert_eq(pid, 77, "not touched");
	cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static int stop_status(int event, int sig)
{
	return event << 16 | sig << 8 | 0x7f;
}

Test(tracer, a_group_stop_is_told_from_other_stops)
{
	static const int group[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	size_t i;

	for (i = 0; i < sizeof(group) / sizeof(group[0]); i++) {
		cr_assert(ptc_stop_is_group(stop_status(PTRACE_EVENT_STOP, group[i])));
		cr_assert(!ptc_stop_is_group(stop_status(0, group[i])), "the signal itself");
	}
	cr_assert(!ptc_stop_is_group(stop_status(PTRACE_EVENT_STOP, SIGTRAP)));
}

/* Becomes ready for a tracer, then stops by job control, with or without a step's SIGTRAP. */
static _Noreturn void stop_by_job_control(int ready, bool trap)
{
	siginfo_t si = { .si_signo = SIGTRAP, .si_code = TRAP_TRACE };
	sigset_t set;
	char c;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if an assertion ends the test */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTRAP);
	if (read(ready, &c, 1) != 1 || sigprocmask(SIG_BLOCK, &set, NULL))
		_exit(1);
	if (trap && syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGTRAP, &si))
		_exit(1);
	(void)raise(SIGSTOP);
	_exit(1);
}

static bool is_due_in_a_group_stop(bool trap)
{
	struct ptc_task k = { .tid = 0 };
	int ready[2], status;
	bool due;

	cr_assert_eq(pipe(ready), 0);
	k.tid = fork();
	if (!k.tid)
		stop_by_job_control(ready[0], trap);
	cr_assert_eq(ptrace(PTRACE_SEIZE, k.tid, NULL, NULL), 0, "ptrace is forbidden: errno %d",
		     errno);
	cr_assert_eq(write(ready[1], "", 1), 1);
	cr_assert_eq(waitpid(k.tid, &status, 0), k.tid);
	cr_assert_eq(status >> 8, SIGSTOP, "the signal itself: %#x", (unsigned int)status);
	cr_assert_eq(ptrace(PTRACE_CONT, k.tid, NULL, (void *)(long)SIGSTOP), 0);
	cr_assert_eq(waitpid(k.tid, &status, 0), k.tid);
	cr_assert(ptc_stop_is_group(status), "%#x", (unsigned int)status);
	due = ptc_stop_trap_is_due(&k, status);
	(void)kill(k.tid, SIGKILL);
	(void)waitpid(k.tid, &status, 0);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return due;
}

Test(tracer, a_step_whose_trap_is_pending_is_seen_in_a_group_stop)
{
	cr_expect(is_due_in_a_group_stop(true));
	cr_expect(!is_due_in_a_group_stop(false));
}

Test(tracer, system_calls_and_software_interrupts_enter_the_kernel)
{
	unsigned int kind;

	for (kind = 0; kind < PTC_KIND_COUNT; kind++)
		cr_assert_eq(ptc_stop_enters_kernel(&(struct ptc_insn){ .kind = (uint8_t)kind }),
			     kind == PTC_KIND_SYSCALL || kind == PTC_KIND_INT, "%s",
			     ptc_kind_name((enum ptc_kind)kind));
}
