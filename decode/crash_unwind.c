/* SPDX-License-Identifier: MIT */
#include "decode/crash_unwind.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "decode/codefile.h"
#include "decode/grow.h"

/* By DWARF number (System V ABI for x86-64, figure 3.36); the last is the return address. */
static const uint8_t dwarf_regs[] = { PTC_REG_RAX, PTC_REG_RDX, PTC_REG_RCX, PTC_REG_RBX,
				      PTC_REG_RSI, PTC_REG_RDI, PTC_REG_RBP, PTC_REG_RSP,
				      PTC_REG_R8,  PTC_REG_R9,	PTC_REG_R10, PTC_REG_R11,
				      PTC_REG_R12, PTC_REG_R13, PTC_REG_R14, PTC_REG_R15,
				      PTC_REG_RIP };

enum { NREGS = sizeof(dwarf_regs) };

struct unwinding {
	const struct ptc_dead *dead;
	const struct ptc_crash_thread *thread;
	struct ptc_unwound *out;
	bool asked; /* next_thread has given the one there is */
	bool no_memory;
};

/* --- its files --- */

/* What is called for files that are reported here anyway. */
static int no_debuginfo(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base,
			const char *path, const char *link, GElf_Word crc, char **ret_path)
{
	(void)mod;
	(void)data;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)ret_path;
	return -1; /* frames are in .eh_frame, which a program that runs has */
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
};

/* What is to be added to the addresses in the file @fd, of which @r is mapped. */
static bool bias_of(int fd, const struct ptc_range *r, uint64_t *ret)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = false;
	size_t n = 0, i;
	GElf_Phdr ph;

	if (elf && !elf_getphdrnum(elf, &n))
		for (i = 0; i < n && !found; i++) {
			found = gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
				r->off >= ph.p_offset && r->off - ph.p_offset < ph.p_filesz;
			if (found)
				*ret = r->start - (r->off - ph.p_offset + ph.p_vaddr);
		}
	(void)elf_end(elf);
	return found;
}

static void report(Dwfl *dwfl, const struct ptc_range *r)
{
	const int fd = ptc_codefile_reopen(r->file);
	uint64_t bias;

	if (fd < 0)
		return;
	/* The descriptor is the module's, if there comes to be one. */
	if (!bias_of(fd, r, &bias) ||
	    !dwfl_report_elf(dwfl, r->file->name, r->file->path, fd, bias, true))
		(void)close(fd);
}

static void report_all(Dwfl *dwfl, const struct ptc_addrspace *as)
{
	size_t i;

	dwfl_report_begin(dwfl);
	for (i = 0; i < as->n; i++)
		if (as->ranges[i].file && as->ranges[i].file->path &&
		    (!i || as->ranges[i].file != as->ranges[i - 1].file))
			report(dwfl, &as->ranges[i]);
	(void)dwfl_report_end(dwfl, NULL, NULL);
}

/* --- its thread --- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **ret_arg)
{
	struct unwinding *u = arg;

	(void)dwfl;
	if (u->asked)
		return 0;
	u->asked = true;
	*ret_arg = u;
	return (pid_t)u->thread->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **ret_arg)
{
	(void)dwfl;
	(void)tid;
	*ret_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	const struct unwinding *u = arg;
	uint8_t bytes[8];

	(void)dwfl;
	if (ptc_dead_memory(u->dead, addr, bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	*ret = ptc_le64(bytes);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinding *u = arg;
	Dwarf_Word regs[NREGS];
	size_t i;

	for (i = 0; i < NREGS; i++)
		regs[i] = u->thread->regs[dwarf_regs[i]];
	return dwfl_thread_state_registers(thread, 0, NREGS, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinding *u = arg;
	struct ptc_unwound *out = u->out;
	Dwarf_Addr pc;
	bool interrupted;

	if (!dwfl_frame_pc(frame, &pc, &interrupted) || !pc)
		return DWARF_CB_ABORT;
	out->cut = out->n == PTC_UNWIND_MAX;
	if (out->cut)
		return DWARF_CB_ABORT;
	/* Two in a row: the kernel's way back from a handler, which nobody called, and who it was.
	 */
	if (interrupted && out->n > 1 && out->frames[out->n - 1].interrupted)
		out->n--;
	if (!ptc_grow(&out->frames, &out->cap, out->n + 1, sizeof(*out->frames))) {
		u->no_memory = true;
		return DWARF_CB_ABORT;
	}
	out->frames[out->n++] = (struct ptc_unwound_frame){ pc, interrupted };
	return DWARF_CB_OK;
}

int ptc_unwind(struct ptc_unwound *u, const struct ptc_dead *d, const struct ptc_crash_thread *t,
	       const struct ptc_addrspace *as, struct ptc_err *err)
{
	struct unwinding w = { .dead = d, .thread = t, .out = u };
	Dwfl *dwfl = dwfl_begin(&callbacks);

	(void)elf_version(EV_CURRENT);
	if (!dwfl)
		return ptc_fail_mem(err);
	report_all(dwfl, as);
	if (dwfl_attach_state(dwfl, NULL, (pid_t)d->signal.pid, &thread_callbacks, &w))
		(void)dwfl_getthread_frames(dwfl, (pid_t)t->tid, on_frame, &w);
	dwfl_end(dwfl);
	return w.no_memory ? ptc_fail_mem(err) : 0;
}

void ptc_unwound_release(struct ptc_unwound *u)
{
	free(u->frames);
	*u = (struct ptc_unwound){ .n = 0 };
}
