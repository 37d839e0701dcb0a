/* SPDX-License-Identifier: MIT */
#include "capture/step/trapflag.h"

#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "capture/host/target_memory.h"
#include "capture/step/task.h"

enum {
	TF = 0x100,
	/* offset in struct ucontext: flags, link, stack, then gregs; arch/x86/include/uapi/asm */
	UC_EFLAGS = 40 + 17 * 8,
};

bool ptc_trapflag_is_set(const struct ptc_task *k)
{
	return (k->regs.eflags & TF) != 0;
}

static void poke(const struct ptc_task *k, size_t off, uint64_t value)
{
	(void)ptrace(PTRACE_POKEUSER, k->tid, (void *)off, (void *)value);
}

/* Sets or clears TF in stored flags. TF is in the second byte for all operand sizes. */
static void set_stored(const struct ptc_task *k, uint64_t addr, bool on)
{
	uint8_t byte;

	if (!ptc_memory_read(k->tid, addr + 1, &byte, 1) || (byte & 1) == on)
		return;
	byte = (uint8_t)((byte & ~1u) | on);
	(void)ptc_memory_write(k->tid, addr + 1, &byte, 1);
}

void ptc_trapflag_retired(struct ptc_task *k)
{
	const bool syscall = k->insn.kind == PTC_KIND_SYSCALL;

	if (k->insn.pushes_flags)
		set_stored(k, k->regs.rsp, k->own_tf);
	else if (k->insn.loads_flags || (syscall && k->before.rax == SYS_rt_sigreturn))
		k->own_tf = ptc_trapflag_is_set(k);
	else if (syscall && !k->own_tf && (k->regs.r11 & TF))
		poke(k, offsetof(struct user, regs.r11), k->regs.r11 & ~(uint64_t)TF);
}

void ptc_trapflag_in_handler(struct ptc_task *k)
{
	set_stored(k, k->regs.rdx + UC_EFLAGS, k->own_tf);
	k->own_tf = false;
}

void ptc_trapflag_settle(const struct ptc_task *k)
{
	if (!k->own_tf && ptc_trapflag_is_set(k))
		poke(k, offsetof(struct user, regs.eflags), k->regs.eflags & ~(uint64_t)TF);
}
