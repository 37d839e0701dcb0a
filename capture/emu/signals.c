/* SPDX-License-Identifier: MIT */
/*
 * Where a signal interrupted the guest. The plugin interface does not tell, but
 * QEMU has written it down: in the frame on the guest's stack when a handler is
 * entered, in the thread's env when the signal is fatal.
 */
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "capture/emu/plugin.h"

enum {
	HANDLERS = 256,
	FRAME_RIP = 176, /* struct rt_sigframe: uc_mcontext.gregs[REG_RIP] behind pretcode */
	PAGE = 4096,
	STARTS = 1 << 22, /* addresses that are told apart */
};

/* Of the process; written under QEMU's own serialisation of each thread's system calls. */
static struct {
	uint64_t addr, restorer;
} handlers[HANDLERS];
static atomic_uint nhandlers;

/*
 * Where blocks were translated, a bit each. Addresses that are STARTS apart share one:
 * then a handler is taken for a late one, which costs time and nothing else.
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
	/* First ours, then theirs; on_translated has it the other way round: one sees the other. */
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

/* A handler may be called like any function: then what it returns to is not the restorer. */
void ptc_emu_delivered(struct ptc_emu_me *m)
{
	struct ptc_emu_signal s = { .fatal = 0 };
	const uint8_t *frame;
	uint64_t pretcode;

	if (!ptc_emu_proc.env_works)
		return;
	frame = (const uint8_t *)(m->env[PTC_ENV_RSP] + ptc_emu_proc.base);
	memcpy(&pretcode, frame, sizeof(pretcode));
	if (!is_restorer(pretcode))
		return;
	memcpy(&s.ip, frame + FRAME_RIP, sizeof(s.ip));
	s.sig = (uint32_t)m->env[PTC_ENV_RDI];
	ptc_emu_put(m, PTC_EMU_SIGNAL, &s, sizeof(s));
}

/* --- fatal signals --- */

static int (*real_kill)(pid_t pid, int sig);

/* QEMU kills itself with the signal that the guest dies of; it uses kill(2) for nothing else. */
static int our_kill(pid_t pid, int sig)
{
	struct ptc_emu_me *m = ptc_emu_me();

	if (pid == getpid() && m->slot && m->env && ptc_emu_proc.env_works) {
		const struct ptc_emu_signal s = { .ip = m->env[PTC_ENV_RIP],
						  .sig = (uint32_t)sig,
						  .fatal = 1 };

		ptc_emu_put(m, PTC_EMU_SIGNAL, &s, sizeof(s));
	}
	return real_kill(pid, sig);
}

struct dynamic {
	const Elf64_Rela *jmprel;
	size_t njmprel;
	const Elf64_Sym *symtab;
	const char *strtab;
};

static void replace(uint64_t *slot)
{
	void *page = (void *)((uintptr_t)slot & ~(uintptr_t)(PAGE - 1));

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		return;
	memcpy(&real_kill, slot, sizeof(real_kill));
	*slot = (uint64_t)(uintptr_t)our_kill;
	(void)mprotect(page, PAGE, PROT_READ);
}

/* The first object is QEMU itself. */
static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct dynamic d = { .njmprel = 0 };
	const Elf64_Dyn *dyn = NULL;
	size_t i;

	(void)size;
	(void)ctx;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_JMPREL)
			d.jmprel = (const Elf64_Rela *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_PLTRELSZ)
			d.njmprel = dyn->d_un.d_val / sizeof(*d.jmprel);
		else if (dyn->d_tag == DT_SYMTAB)
			d.symtab = (const Elf64_Sym *)dyn->d_un.d_ptr;
		else if (dyn->d_tag == DT_STRTAB)
			d.strtab = (const char *)dyn->d_un.d_ptr;
	}
	for (i = 0; d.jmprel && d.symtab && d.strtab && i < d.njmprel; i++) {
		const Elf64_Sym *sym = &d.symtab[ELF64_R_SYM(d.jmprel[i].r_info)];

		if (!strcmp(d.strtab + sym->st_name, "kill"))
			replace((uint64_t *)(info->dlpi_addr + d.jmprel[i].r_offset));
	}
	return 1;
}

void ptc_emu_watch_death(void)
{
	(void)dl_iterate_phdr(look_at, NULL);
}
