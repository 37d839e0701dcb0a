/* SPDX-License-Identifier: MIT */
/*
 * Registers of guest threads, from QEMU's CPUX86State (target/i386/cpu.h): general registers, rip,
 * eflags, cc_dst, cc_src, cc_src2, cc_op and df, hflags and hflags2, then the segments. The order
 * is the same in QEMU 4.2 to 11.0. The segments are used only if their selectors are those of user
 * mode.
 *
 * The arithmetic flags are in eflags while the thread runs no translated code
 * (x86_cpu_exec_exit in target/i386/tcg/tcg-cpu.c). So they are for a thread that gets a signal, is
 * in a system call, or was stopped by QEMU. In translated code they are 0 there, and cc_op tells
 * how to compute them. Its numbers differ between versions of QEMU, so such flags stay 0.
 */
#include "capture/emu/guest_registers.h"

#include <string.h>
#include <sys/uio.h>

enum {
	/* words behind rip */
	RFLAGS = 1,
	OP_AND_DF = 5,
	SEGMENTS = 7, /* es, cs, ss, ds, fs, gs */
	WORDS = SEGMENTS + 18,
	SEGMENT_LEN = 3, /* selector, base, limit and flags */
	CS = SEGMENTS + SEGMENT_LEN,
	SS = SEGMENTS + 2 * SEGMENT_LEN,
	FS = SEGMENTS + 4 * SEGMENT_LEN,
	GS = SEGMENTS + 5 * SEGMENT_LEN,
	USER_CS = 0x33,
	USER_SS = 0x2b,
	DF = 0x400,
	FIXED_FLAGS = 0x202, /* bit 1 is always set; user mode has interrupts */
	SYSCALL_LEN = 2,
	RIP_MAX = 32, /* largest index of rip */
};

static bool read_host(const struct ptc_emu_env *e, void *to, size_t len)
{
	const struct iovec local = { .iov_base = to, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)(uintptr_t)e->addr, .iov_len = len };

	return process_vm_readv(e->pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* @rip: the words from rip on. */
static void read_segments(const uint64_t *rip, struct ptc_emu_regs *ret)
{
	if ((uint32_t)rip[CS] != USER_CS || (uint32_t)rip[SS] != USER_SS)
		return;
	ret->fs_base = rip[FS + 1];
	ret->gs_base = rip[GS + 1];
}

bool ptc_emu_env_registers(const struct ptc_emu_env *e, struct ptc_emu_regs *ret)
{
	uint64_t env[RIP_MAX + WORDS];
	const uint64_t *rip = env + e->rip;

	if (!e->addr || !e->rip || e->rip > RIP_MAX ||
	    !read_host(e, env, (e->rip + WORDS) * sizeof(*env)))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->gpr, env, sizeof(ret->gpr));
	ret->rip = rip[0];
	ret->rflags = rip[RFLAGS] | FIXED_FLAGS;
	if ((int32_t)(rip[OP_AND_DF] >> 32) < 0)
		ret->rflags |= DF;
	read_segments(rip, ret);
	if (e->parked) {
		ret->rip = e->parked;
	} else if (e->in_call) {
		ret->in_call = true;
		ret->rip -= SYSCALL_LEN;
	}
	return true;
}
