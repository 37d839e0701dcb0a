/* SPDX-License-Identifier: MIT */
/*
 * The reference stepper: the judge of an Intel PT recording must not share code with the
 * recorder. Runs a program under raw ptrace, one instruction at a time. Prints the address of each
 * instruction that retired, in hex, one per line. No code of ptcap, no instruction decoder.
 *
 *   refstep PROGRAM [ARGS...] > ips          exits as PROGRAM does (128+n: signal n)
 *
 * For deterministic programs with one thread; addresses repeat under `setarch -R`.
 *
 * Meaning of a stop (measured, and arch/x86/kernel/{signal,traps,step}.c):
 *   SIGTRAP, TRAP_TRACE   one instruction was executed
 *   SIGTRAP, TRAP_BRKPT   the exit of a system call - or int1, which is a signal
 *                         of the program's own
 *   SIGTRAP, code 5       the kernel entered a signal handler, nothing ran
 *   SIGTRAP, SI_KERNEL    int3 retired; the program's own signal
 *   SIGTRAP, SI_USER      a process sent it; SI_TKILL the same
 *   another signal        it arrived before the instruction at rip, or that
 *                         instruction faulted: nothing ran either way
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	EXIT_BROKEN = 125,
	OUT_SIZE = 1 << 16,
	HANDLER_ENTERED = SIGTRAP, /* si_code of ptrace_notify(SIGTRAP), signal_setup_done() */
};

static void die(const char *what)
{
	fprintf(stderr, "refstep: %s: %s\n", what, strerror(errno));
	exit(EXIT_BROKEN);
}

/* Properties of the next instruction. */
struct next {
	uint64_t ip;
	bool rep;  /* REP string instruction: a trap after each iteration */
	bool int3; /* retires, then signals */
	bool int1; /* as int3, and its stop looks like a system call's exit */
	bool syscall;
	bool to_ss;  /* loads SS: no trap after it, one after the next instruction */
	bool cpuid;  /* under some hypervisors: the same */
	uint8_t len; /* of a to_ss or cpuid, only */
};

static void examine(pid_t pid, uint64_t ip, struct next *n)
{
	uint8_t b[15] = { 0 };
	struct iovec here = { b, sizeof(b) };
	struct iovec there = { (void *)(uintptr_t)ip, sizeof(b) };
	size_t i = 0;
	bool rep = false;
	ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);

	if (got < (ssize_t)sizeof(b)) { /* at the end of a mapping: reads the rest of this page */
		there.iov_len = 4096 - (ip & 4095);
		if (there.iov_len < sizeof(b))
			(void)process_vm_readv(pid, &here, 1, &there, 1, 0);
	}
	*n = (struct next){ .ip = ip };
	for (; i < sizeof(b) - 1; i++) {
		if (b[i] == 0xf2 || b[i] == 0xf3)
			rep = true;
		else if (b[i] != 0x66 && b[i] != 0x67 && b[i] != 0x2e && b[i] != 0x36 &&
			 b[i] != 0x3e && b[i] != 0x26 && b[i] != 0x64 && b[i] != 0x65)
			break;
	}
	if ((b[i] & 0xf0) == 0x40 && i < sizeof(b) - 1) /* REX */
		i++;
	n->int3 = b[i] == 0xcc || (b[i] == 0xcd && i + 1 < sizeof(b) && b[i + 1] == 3);
	n->int1 = b[i] == 0xf1;
	n->syscall = b[i] == 0x0f && i + 1 < sizeof(b) && b[i + 1] == 0x05;
	n->to_ss = b[i] == 0x8e && i + 1 < sizeof(b) && (b[i + 1] & 0xf8) == 0xd0;
	n->cpuid = b[i] == 0x0f && i + 1 < sizeof(b) && b[i + 1] == 0xa2;
	n->len = (uint8_t)(i + 2);
	/* ins outs 6c-6f, movs cmps a4-a7, stos lods scas aa-af; not test a8, a9. */
	n->rep = rep && ((b[i] >= 0x6c && b[i] <= 0x6f) || (b[i] >= 0xa4 && b[i] <= 0xa7) ||
			 (b[i] >= 0xaa && b[i] <= 0xaf));
}

static uint64_t rip(pid_t pid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		die("PTRACE_GETREGS");
	return r.rip;
}

static uint64_t return_address(pid_t pid)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &r))
		die("PTRACE_GETREGS");
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)r.rsp, NULL);
}

static void retired(const struct next *n, uint64_t now)
{
	printf("%" PRIx64 "\n", n->ip);
	if (n->to_ss ||
	    (n->cpuid &&
	     now != n->ip + n->len)) /* the instruction behind it ran in the same step */
		printf("%" PRIx64 "\n", n->ip + n->len);
}

/* Handles a SIGTRAP that is not the program's own signal. */
static void trapped(const struct next *n, int code, uint64_t now)
{
	if (code == HANDLER_ENTERED)
		return;
	if (n->rep && now == n->ip) /* more iterations follow */
		return;
	retired(n, now);
}

static int step_all(pid_t pid)
{
	struct next n;
	int sig = 0;

	for (;;) {
		siginfo_t si;
		const int delivered = sig;
		int status;

		examine(pid, rip(pid), &n);
		if (n.ip >> 12 ==
		    0xffffffffff600) /* emulated; this step shows the return address */
			examine(pid, return_address(pid), &n);
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig))
			die("PTRACE_SINGLESTEP");
		sig = 0;
		if (waitpid(pid, &status, __WALL) < 0)
			die("waitpid");
		if (WIFEXITED(status) || WIFSIGNALED(status)) {
			/* The system call that did not return: exit, or kill(self, SIGKILL). */
			if (n.syscall && !delivered)
				retired(&n, n.ip);
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
		if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &si)) {
			if (errno == EINVAL) /* a group stop */
				continue;
			die("PTRACE_GETSIGINFO");
		}
		if (WSTOPSIG(status) != SIGTRAP) {
			sig = WSTOPSIG(status);
			continue;
		}
		if ((si.si_code == SI_KERNEL && n.int3) || (si.si_code == TRAP_BRKPT && n.int1)) {
			retired(&n, rip(pid));
			sig = SIGTRAP;
		} else if (si.si_code == SI_USER || si.si_code == SI_TKILL) {
			sig = SIGTRAP;
		} else {
			trapped(&n, si.si_code, rip(pid));
		}
	}
}

int main(int argc, char **argv)
{
	static char out[OUT_SIZE];
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: refstep PROGRAM [ARGS...]\n");
		return 2;
	}
	setvbuf(stdout, out, _IOFBF, sizeof(out));
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		/* The program's own output must not mix with the list. */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(EXIT_BROKEN);
		execv(argv[1], argv + 1);
		_exit(127);
	}
	/* Without PTRACE_O_TRACEEXEC the exec's own stop is a SIGTRAP at the first instruction. */
	if (waitpid(pid, &status, __WALL) < 0)
		die("waitpid");
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "refstep: cannot run '%s'\n", argv[1]);
		return 127;
	}
	status = step_all(pid);
	if (fflush(stdout) || ferror(stdout))
		die("standard output");
	return status;
}
