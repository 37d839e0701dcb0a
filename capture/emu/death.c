/* SPDX-License-Identifier: MIT */
/*
 * A signal kills the process. QEMU has already stopped the other threads if the signal's default
 * action is a core dump. For other signals this file stops them before their next block, where QEMU
 * keeps no register elsewhere. Threads in system calls stay there.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "capture/emu/plugin.h"

enum { LOOKS = 2000, LOOK_NS = 500000 }; /* one second at most for the other threads to stop */

/* The threads of this process, by slot. */
static _Atomic(struct ptc_emu_me *) members[PTC_EMU_SLOTS];

static size_t index_of(const struct ptc_emu_me *m)
{
	return (size_t)(m->slot - ptc_emu_proc.sh->slots);
}

void ptc_emu_enrol(struct ptc_emu_me *m)
{
	atomic_store(&members[index_of(m)], m);
}

void ptc_emu_strike(const struct ptc_emu_me *m)
{
	if (ptc_emu_has_stream(m))
		atomic_store(&members[index_of(m)], NULL);
}

void ptc_emu_strike_all(void)
{
	size_t i;

	for (i = 0; i < PTC_EMU_SLOTS; i++)
		atomic_store(&members[i], NULL);
	atomic_store(&ptc_emu_proc.frozen, 0);
}

/*
 * Copies the state of the thread with slot @i. Returns false if there is none. A thread may end and
 * free its memory at any time, so the kernel copies it.
 */
static bool read_member(size_t i, struct ptc_emu_me *ret)
{
	struct ptc_emu_me *m = atomic_load(&members[i]);
	const struct iovec local = { .iov_base = ret, .iov_len = sizeof(*ret) };
	const struct iovec remote = { .iov_base = m, .iov_len = sizeof(*ret) };

	return m && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)sizeof(*ret) &&
	       ret->slot == &ptc_emu_proc.sh->slots[i];
}

/* --- stopping --- */

/* Shows where the thread is. @ip 0: in its system call. */
static void show_parked(struct ptc_emu_me *m, uint64_t ip)
{
	atomic_store(&m->parked, ip);
	if (m->slot)
		atomic_store(&m->slot->parked, ip);
	if (m->slot && !ip)
		atomic_store(&m->slot->call, m->in_call ? (unsigned int)m->call + 1 : 0);
}

/* The thread goes on. */
static void show_moving(struct ptc_emu_me *m)
{
	atomic_store(&m->parked, 0);
	if (!m->slot)
		return;
	atomic_store(&m->slot->parked, 0);
	atomic_store(&m->slot->call, 0);
}

static bool has_to_wait(void)
{
	return (atomic_load(&ptc_emu_proc.frozen) || ptc_emu_must_be_still()) && !ptc_emu_stopped();
}

/*
 * The second check comes after the thread has shown that it moves: either this thread sees the
 * request to be still, or the requester sees that the thread moves.
 */
void ptc_emu_park(struct ptc_emu_me *m, uint64_t ip)
{
	const int saved = errno;

	do {
		show_parked(m, ip);
		while (atomic_load(&ptc_emu_proc.frozen) && !ptc_emu_stopped())
			ptc_emu_await(&ptc_emu_proc.frozen, 1);
		while (ptc_emu_must_be_still() && !ptc_emu_stopped())
			ptc_emu_await(&ptc_emu_proc.sh->still, 1);
		show_moving(m);
	} while (has_to_wait());
	errno = saved;
}

void ptc_emu_sync_at(struct ptc_emu_me *m, uint64_t ip)
{
	show_parked(m, ip);
	ptc_emu_sync(m);
	ptc_emu_park(m, ip);
}

void ptc_emu_show_env(struct ptc_emu_me *m)
{
	atomic_store(&m->slot->auxv, ptc_emu_proc.auxv);
	atomic_store(&m->slot->env_rip, ptc_emu_proc.env_rip);
	atomic_store(&m->slot->env, (uint64_t)(uintptr_t)m->env);
}

static bool is_still(const struct ptc_emu_me *m)
{
	return m->in_call || atomic_load(&m->parked);
}

static bool all_are_still(const struct ptc_emu_me *self)
{
	const size_t n = atomic_load(&ptc_emu_proc.sh->nslots);
	struct ptc_emu_me other;
	size_t i;

	for (i = 0; i < n; i++)
		if (i != index_of(self) && read_member(i, &other) && !is_still(&other))
			return false;
	return true;
}

/* QEMU also stops all threads before: core_dump_signal() in linux-user/signal.c. */
bool ptc_emu_dumps_core(int sig)
{
	switch (sig) {
	case SIGABRT:
	case SIGFPE:
	case SIGILL:
	case SIGQUIT:
	case SIGSEGV:
	case SIGTRAP:
	case SIGBUS:
		return true;
	default:
		return false;
	}
}

static void freeze(const struct ptc_emu_me *self, int sig)
{
	static const struct timespec again = { .tv_nsec = LOOK_NS };
	int i;

	atomic_store(&ptc_emu_proc.frozen, 1);
	atomic_store(&ptc_emu_proc.late, true);
	for (i = 0; i < LOOKS && !ptc_emu_dumps_core(sig) && !all_are_still(self); i++)
		(void)nanosleep(&again, NULL);
}

/* --- reporting --- */

/*
 * The signal has come to thread @m. Sets *@r to the start of a system call that the signal has
 * interrupted. QEMU has ended that call, or prepared it to be repeated.
 */
static void look_at_call(const struct ptc_emu_me *m, struct ptc_emu_regs *r)
{
	static const uint8_t syscall_insn[2] = { 0x0f, 0x05 };
	const bool ended = (int64_t)r->gpr[0] == -EINTR, repeats = (int64_t)r->gpr[0] == m->call;
	const uint64_t at = r->rip - (ended ? sizeof(syscall_insn) : 0);
	uint8_t bytes[sizeof(syscall_insn)];

	if ((!ended && !repeats) || ptc_emu_read_guest(at, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    memcmp(bytes, syscall_insn, sizeof(bytes)) != 0)
		return;
	r->in_call = true;
	r->rip = at;
	r->gpr[0] = (uint64_t)m->call;
}

static void put_registers(struct ptc_emu_me *m)
{
	const size_t n = atomic_load(&ptc_emu_proc.sh->nslots);
	struct ptc_emu_me other;
	struct ptc_emu_regs regs;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!read_member(i, &other) || !ptc_emu_registers(&other, &regs))
			continue;
		regs.slot = (uint32_t)i;
		if (i == index_of(m))
			look_at_call(m, &regs);
		ptc_emu_put(m, PTC_EMU_REGS, &regs, sizeof(regs));
	}
}

void ptc_emu_hold(struct ptc_emu_me *m, int sig, uint64_t ip)
{
	if (sig < 1 || sig > 64 || !(ptc_emu_proc.sh->held_signals >> (sig - 1) & 1))
		return;
	ptc_emu_put(m, PTC_EMU_HELD, NULL, 0);
	ptc_emu_sync_at(m, ip);
}

void ptc_emu_let_read(void)
{
	if (!ptc_emu_proc.pid_ns)
		(void)prctl(PR_SET_PTRACER, (unsigned long)ptc_emu_proc.sh->owner, 0, 0, 0);
}

static void report_death(struct ptc_emu_me *m, int sig)
{
	struct ptc_emu_death d = { .signo = sig, .auxv = ptc_emu_proc.auxv };

	ptc_emu_signal_cause(m, &d);
	freeze(m, sig);
	put_registers(m);
	ptc_emu_let_read();
	ptc_emu_put(m, PTC_EMU_DEATH, &d, sizeof(d));
	ptc_emu_put(m, PTC_EMU_HELD, NULL, 0);
	ptc_emu_sync(m);
}

void ptc_emu_die(struct ptc_emu_me *m, int sig)
{
	if (ptc_emu_has_stream(m) && m->env && ptc_emu_proc.env_rip) {
		const struct ptc_emu_signal s = { .ip = m->env[ptc_emu_proc.env_rip],
						  .sig = (uint32_t)sig,
						  .fatal = 1 };

		ptc_emu_put(m, PTC_EMU_SIGNAL, &s, sizeof(s));
		if (ptc_emu_proc.sh->saves_state)
			report_death(m, sig);
		else
			ptc_emu_hold(m, sig, s.ip);
	}
	ptc_emu_name_core(sig);
	/* The kernel would write QEMU's core. QEMU has written the guest's. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
