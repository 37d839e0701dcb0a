/* SPDX-License-Identifier: MIT */
/*
 * A fault that the guest handles. A runtime then may print a report and exit with a failure, and
 * ptcap saves the state at the last such fault. The registers are reported at once, and this
 * process keeps a copy of the stack. To wait for ptcap at each fault would take too long.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "capture/emu/plugin.h"

enum {
	PAGE = 4096,
	STACK_MAX = 256 << 10, /* as capture/crash/state_capture.c saves */
	RED_ZONE = 256,
	/* struct rt_sigframe: uc_mcontext after pretcode, uc_flags, uc_link and uc_stack */
	FRAME_REGS = 48,
	WORDS = 18, /* of uc_mcontext, up to eflags */
	MC_RIP = 16,
	MC_FLAGS = 17,
	EXIT_BITS = 0xff,
};

static atomic_bool is_over; /* the process has handled too many faults, or exits */
/* Locks what follows. The child of a fork initialises it anew. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t faults; /* handled until now */
/* The stack at the last of them. number 0: none. */
static struct {
	uint64_t number, from, len;
	_Alignas(PAGE) uint8_t bytes[STACK_MAX];
} kept;

/* Reads the interrupted registers. Their order is that of struct sigcontext (arch/x86). */
static bool read_frame(uint64_t frame, struct ptc_emu_regs *ret)
{
	/* index in uc_mcontext of rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15 */
	static const uint8_t places[] = { 13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7 };
	uint64_t words[WORDS];
	size_t i;

	if (ptc_emu_read_guest(frame + FRAME_REGS, words, sizeof(words)) != sizeof(words))
		return false;
	for (i = 0; i < sizeof(places); i++)
		ret->gpr[i] = words[places[i]];
	ret->rip = words[MC_RIP];
	ret->rflags = words[MC_FLAGS];
	ret->in_call = false;
	return true;
}

/* Copies the stack at @sp. If that page cannot be read, the stack has overflowed, and is above. */
static void copy_stack(uint64_t sp)
{
	uint64_t at = (sp - RED_ZONE) & ~(uint64_t)(PAGE - 1);
	const uint64_t end = at + STACK_MAX;

	for (; at < end; at += PAGE) {
		kept.len = ptc_emu_read_guest(at, kept.bytes, sizeof(kept.bytes));
		kept.from = at;
		if (kept.len)
			return;
	}
}

/* Returns the fault's number; 0: its state is not wanted. */
static uint64_t keep_stack(uint64_t sp)
{
	uint64_t number = 0;

	(void)pthread_mutex_lock(&lock);
	if (!atomic_load(&is_over) && faults < PTC_EMU_FAULTS) {
		copy_stack(sp);
		number = ++faults;
		kept.number = number;
	} else {
		atomic_store(&is_over, true);
		kept.number = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	return number;
}

static bool is_wanted(const struct ptc_emu_me *m)
{
	return ptc_emu_proc.sh->saves_state && ptc_emu_has_stream(m) && !atomic_load(&is_over);
}

static bool is_of_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL;
}

void ptc_emu_fault_expected(int sig)
{
	static atomic_bool is_ready;

	if (ptc_emu_proc.sh->saves_state && is_of_fault(sig) && !atomic_exchange(&is_ready, true))
		(void)madvise(kept.bytes, sizeof(kept.bytes), MADV_POPULATE_WRITE);
}

/* Returns true if the processor or the kernel caused the signal. */
static bool is_fault(const struct ptc_emu_me *m, int sig, struct ptc_emu_death *ret)
{
	if (!is_of_fault(sig))
		return false;
	*ret = (struct ptc_emu_death){ .signo = sig, .auxv = ptc_emu_proc.auxv };
	ptc_emu_signal_cause(m, ret);
	return ret->code > 0;
}

void ptc_emu_fault_handled(struct ptc_emu_me *m, int sig, uint64_t frame)
{
	struct ptc_emu_fault f;

	if (!is_wanted(m) || !is_fault(m, sig, &f.cause) || !ptc_emu_registers(m, &f.regs) ||
	    !read_frame(frame, &f.regs))
		return;
	f.number = keep_stack(f.regs.gpr[PTC_ENV_RSP]);
	if (f.number)
		ptc_emu_put(m, PTC_EMU_FAULT, &f, sizeof(f));
}

void ptc_emu_exits(struct ptc_emu_me *m, int status)
{
	struct ptc_emu_failed f = { .status = (uint64_t)(status & EXIT_BITS) };

	if (!f.status || !is_wanted(m))
		return;
	(void)pthread_mutex_lock(&lock);
	f.number = kept.number;
	f.stack = kept.from;
	f.len = kept.len;
	f.copy = (uint64_t)(uintptr_t)kept.bytes;
	kept.number = 0;
	atomic_store(&is_over, true); /* no other fault changes the copy that ptcap reads */
	(void)pthread_mutex_unlock(&lock);
	if (!f.number)
		return;
	ptc_emu_let_read();
	ptc_emu_put(m, PTC_EMU_FAILED, &f, sizeof(f));
	ptc_emu_sync(m);
}

void ptc_emu_forget_faults(void)
{
	(void)pthread_mutex_init(&lock, NULL);
	atomic_store(&is_over, false);
	faults = 0;
	kept.number = 0;
}
