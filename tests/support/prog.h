/* SPDX-License-Identifier: MIT */
/*
 * For test programs without a libc: few steps, each known, the same in every run. They enter at
 * _start and leave through sys_exit.
 */
#ifndef PTC_TESTS_PROG_H
#define PTC_TESTS_PROG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Always inlined: the control flow must not depend on the compiler. */
#define PROG_INLINE static inline __attribute__((always_inline))

PROG_INLINE long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

PROG_INLINE long sys3(long n, long a, long b, long c)
{
	return sys6(n, a, b, c, 0, 0, 0);
}

PROG_INLINE _Noreturn void sys_exit(int code)
{
	for (;;)
		sys3(SYS_exit_group, code, 0, 0);
}

PROG_INLINE long sys_write(int fd, const char *text, size_t len)
{
	return sys3(SYS_write, fd, (long)text, (long)len);
}

#define SAY(literal) ((void)sys_write(1, literal, sizeof(literal) - 1))

PROG_INLINE long sys_kill_self(int sig)
{
	return sys3(SYS_kill, sys3(SYS_getpid, 0, 0, 0), sig, 0);
}

/* The kernel's struct sigaction, not libc's. */
struct ksigaction {
	void (*handler)(int sig, void *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

enum {
	KSA_SIGINFO = 4,
	KSA_RESTORER = 0x04000000,
	KSA_RESTART = 0x10000000,
	KSA_NODEFER = 0x40000000,
};

void prog_restorer(void);

PROG_INLINE long sys_handle(int sig, void (*handler)(int, void *, void *), unsigned long flags)
{
	struct ksigaction sa;

	/* Field by field: an initialiser may become a call of memset, which does not exist here. */
	sa.handler = handler;
	sa.flags = flags | KSA_SIGINFO | KSA_RESTORER;
	sa.restorer = prog_restorer;
	sa.mask = 0;
	return sys6(SYS_rt_sigaction, sig, (long)&sa, 0, 8, 0, 0);
}

/*
 * Returns the saved rip in the ucontext of a handler: uc_flags, uc_link, uc_stack, then gregs[16].
 */
PROG_INLINE uint64_t *prog_saved_rip(void *context)
{
	return (uint64_t *)((char *)context + 40 + 16 * 8);
}

/* int prog_main(int argc, char **argv): the program's main function. */
int prog_main(int argc, char **argv);

#define PROG_START                                                                                 \
	__asm__(".text\n.globl _start\n.type _start, @function\n_start:\n"                         \
		"	xor %ebp, %ebp\n"                                                                \
		"	mov (%rsp), %edi\n"                                                              \
		"	lea 8(%rsp), %rsi\n"                                                             \
		"	and $-16, %rsp\n"                                                                \
		"	call prog_main\n"                                                                \
		"	mov %eax, %edi\n"                                                                \
		"	mov $231, %eax\n"                                                                \
		"	syscall\n"                                                                       \
		"	hlt\n"                                                                           \
		".size _start, . - _start\n"                                                       \
		".globl prog_restorer\n.type prog_restorer, @function\nprog_restorer:\n"           \
		"	mov $15, %eax\n"                                                                 \
		"	syscall\n"                                                                       \
		"	hlt\n"                                                                           \
		".size prog_restorer, . - prog_restorer\n")

#endif
