/* SPDX-License-Identifier: MIT */
/*
 * prog_seccomp MODE: installs a filter and runs into it. kill, thread: the call
 * kills; trap: SIGSYS, handled; errno: 42; trace: without a tracer, ENOSYS;
 * strict: read, write, exit only; sigkill: strict, then a call that is not allowed.
 * prog_seccomp noptrace|deadly COMMAND...: runs it where ptrace fails, or kills.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "prog.h"

PROG_START;

enum { SIGUSR1_ = 10, SIGSYS_ = 31 };

static volatile int seen;

static void on_sys(int sig, void *info, void *context)
{
	(void)context;
	seen = sig;
	if (((int *)info)[2] == 1) /* SYS_SECCOMP */
		seen += 100;
}

static void filter(unsigned int nr, unsigned int action)
{
	struct sock_filter code[4];
	struct sock_fprog prog;

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	code[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = 4;
	prog.filter = code;
	sys6(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
	if (sys3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&prog))
		sys_exit(90);
}

int prog_main(int argc, char **argv)
{
	long r;

	if (argc < 2)
		return 2;
	sys_handle(SIGSYS_, on_sys, 0);
	switch (argv[1][0]) {
	case 'k':
		filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
		break;
	case 't':
		filter(SYS_getppid, argv[1][1] == 'h' ? SECCOMP_RET_KILL_THREAD :
				    argv[1][2] == 'a' && argv[1][3] == 'p' ? SECCOMP_RET_TRAP :
									     SECCOMP_RET_TRACE);
		break;
	case 'e':
		filter(SYS_getppid, SECCOMP_RET_ERRNO | 42);
		break;
	case 'n':
	case 'd':
		filter(SYS_ptrace,
		       argv[1][0] == 'n' ? SECCOMP_RET_ERRNO | 1 : SECCOMP_RET_KILL_PROCESS);
		sys3(SYS_execve, (long)argv[2], (long)(argv + 2), (long)(argv + argc + 1));
		return 91;
	default:
		if (sys3(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0))
			return 90;
		SAY("strict\n");
		if (argv[1][2] == 'g') /* sigkill */
			sys3(SYS_getppid, 0, 0, 0);
		for (;;)
			sys3(SYS_exit, 5, 0, 0);
	}
	r = sys3(SYS_getppid, 0, 0, 0);
	SAY("came back\n");
	if (seen)
		return seen;
	return (int)(r < 0 ? -r : 0);
}
