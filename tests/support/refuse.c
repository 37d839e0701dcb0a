/* SPDX-License-Identifier: MIT */
/*
 * refuse ERRNO[,CALL] COMMAND...: runs the command with a filter that makes the system call with
 * the number CALL fail with ERRNO, like a container's seccomp filter. Default: perf_event_open.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *comma = NULL;
	const unsigned long sys = argc > 2 ? strtoul(argv[1], &comma, 10) : 0;
	const unsigned long call = sys && *comma == ',' ? strtoul(comma + 1, NULL, 10) :
							  SYS_perf_event_open;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)(sys & 0xffff)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (!sys) {
		fputs("usage: refuse ERRNO[,CALL] COMMAND...\n", stderr);
		return 2;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("seccomp");
		return 77;
	}
	(void)execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
