/* SPDX-License-Identifier: MIT */
/*
 * Finds where a signal interrupted the guest. The plugin interface does not tell, but QEMU stores
 * the address. It is in the frame on the guest's stack when a handler is entered, and in the
 * thread's env when the signal is fatal.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "capture/emu/import_hook.h"
#include "capture/emu/plugin.h"

enum {
	HANDLERS = 256,
	FRAME_RIP = 176,  /* struct rt_sigframe: uc_mcontext.gregs[REG_RIP] after pretcode */
	STARTS = 1 << 22, /* addresses that are distinguished */
};

/*
 * The process's handlers, written in callbacks of system calls, which QEMU serialises for each
 * thread.
 */
static struct {
	uint64_t addr, restorer;
} handlers[HANDLERS];
static atomic_uint nhandlers;

/*
 * One bit for each address at which a block was translated. Addresses that are a multiple of STARTS
 * apart share a bit. Then a handler may count as late by mistake, which only costs time.
 */
static atomic_uint starts[STARTS / 32];

void ptc_emu_translated(uint64_t addr)
{
	(void)atomic_fetch_or(&starts[addr % STARTS / 32], 1u << addr % 32);
}

static bool was_translated(uint64_t addr)
{
	return atomic_load(&starts[addr % STARTS / 32]) >> addr % 32 & 1;
}

void ptc_emu_handler(uint64_t handler, uint64_t restorer)
{
	const unsigned int n = atomic_load(&nhandlers);
	unsigned int i;

	for (i = 0; i < n && handlers[i].addr != handler; i++)
		;
	if (i == HANDLERS)
		return;
	handlers[i].restorer = restorer;
	handlers[i].addr = handler;
	if (i < n)
		return;
	/*
	 * Store nhandlers before reading starts. on_translated uses the opposite order, so at least
	 * one of both sees the other's store.
	 */
	atomic_store(&nhandlers, n + 1);
	if (was_translated(handler))
		atomic_store(&ptc_emu_proc.late, true);
}

bool ptc_emu_is_handler(uint64_t addr)
{
	const unsigned int n = atomic_load(&nhandlers);
	unsigned int i;

	for (i = 0; i < n && handlers[i].addr != addr; i++)
		;
	return i < n;
}

static bool is_restorer(uint64_t addr)
{
	const unsigned int n = atomic_load(&nhandlers);
	unsigned int i;

	for (i = 0; i < n && handlers[i].restorer != addr; i++)
		;
	return i < n;
}

/*
 * Writes a signal event for a delivered signal. A handler may also be called like any function.
 * Then its return address is not the restorer.
 */
void ptc_emu_delivered(struct ptc_emu_me *m, uint64_t ip)
{
	struct ptc_emu_signal s = { .fatal = 0 };
	const uint8_t *frame;
	uint64_t pretcode;

	if (!ptc_emu_proc.env_rip)
		return;
	frame = (const uint8_t *)(m->env[PTC_ENV_RSP] + ptc_emu_proc.base);
	memcpy(&pretcode, frame, sizeof(pretcode));
	if (!is_restorer(pretcode))
		return;
	memcpy(&s.ip, frame + FRAME_RIP, sizeof(s.ip));
	s.sig = (uint32_t)m->env[PTC_ENV_RDI];
	ptc_emu_put(m, PTC_EMU_SIGNAL, &s, sizeof(s));
	ptc_emu_fault_handled(m, (int)s.sig, m->env[PTC_ENV_RSP]);
	ptc_emu_signal_handled(m, (int)s.sig);
	ptc_emu_hold(m, (int)s.sig, ip);
}

/* --- fatal signals --- */

static int (*real_kill)(pid_t pid, int sig);

/*
 * Reports a fatal signal. QEMU kills itself with the signal that the guest dies from. It uses
 * kill(2) otherwise only to stop itself.
 */
static int our_kill(pid_t pid, int sig)
{
	if (pid == getpid() && sig != SIGSTOP)
		ptc_emu_die(&ptc_emu_me, sig);
	return real_kill(pid, sig);
}

/*
 * Detects "qemu: uncaught target signal 11 (Segmentation fault) - core dumped". QEMU would write it
 * to the program's standard error, where the kernel writes nothing.
 */
static bool is_obituary(const char *format)
{
	static const char begin[] = "qemu: uncaught target signal ";

	return !strncmp(format, begin, sizeof(begin) - 1);
}

static __attribute__((format(printf, 2, 3))) int our_fprintf(FILE *f, const char *format, ...)
{
	va_list args;
	int n = 0;

	va_start(args, format);
	if (!is_obituary(format))
		n = vfprintf(f, format, args);
	va_end(args);
	return n;
}

/* Replaces __fprintf_chk, which _FORTIFY_SOURCE uses instead of fprintf. */
static __attribute__((format(printf, 3, 4))) int our_fprintf_chk(FILE *f, int flag,
								 const char *format, ...)
{
	va_list args;
	int n = 0;

	(void)flag;
	va_start(args, format);
	if (!is_obituary(format))
		n = vfprintf(f, format, args);
	va_end(args);
	return n;
}

void ptc_emu_watch_death(void)
{
	void *found;

	ptc_emu_watch_core();
	if (ptc_emu_hook("kill", (void *)(uintptr_t)our_kill, &found))
		memcpy(&real_kill, &found, sizeof(found));
	(void)ptc_emu_hook("fprintf", (void *)(uintptr_t)our_fprintf, &found);
	(void)ptc_emu_hook("__fprintf_chk", (void *)(uintptr_t)our_fprintf_chk, &found);
}
