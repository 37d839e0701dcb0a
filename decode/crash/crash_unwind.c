/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash_unwind.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/sigframe.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/elf_segments.h"
#include "decode/image/codefile.h"
#include "decode/symbols/srcline.h"

/* By DWARF number (System V ABI for x86-64, figure 3.36). The last one is the return address. */
static const uint8_t dwarf_regs[] = { PTC_REG_RAX, PTC_REG_RDX, PTC_REG_RCX, PTC_REG_RBX,
				      PTC_REG_RSI, PTC_REG_RDI, PTC_REG_RBP, PTC_REG_RSP,
				      PTC_REG_R8,  PTC_REG_R9,	PTC_REG_R10, PTC_REG_R11,
				      PTC_REG_R12, PTC_REG_R13, PTC_REG_R14, PTC_REG_R15,
				      PTC_REG_RIP };

enum {
	NREGS = sizeof(dwarf_regs),
	DWARF_RSP = 7,
	DWARF_RIP = 16,
	CALL_REL32 = 5, /* bytes */
	CALL_MAX = 7,	/* without prefixes */
	STRAYED_MAX = 64,
};

struct unwinding {
	const struct ptc_crash_state *dead;
	const struct ptc_crash_thread *thread;
	const struct ptc_addrspace *as;
	struct ptc_unwound *out;
	Dwarf_Word regs[NREGS]; /* the registers to unwind from */
	bool asked;		/* next_thread has returned the only thread */
	bool called; /* regs are of a frame that called: its ip is a return address minus 1 */
	bool stray;  /* the last frame is where no code is; regs are of that frame */
	/*
	 * The last frame is the code that a handler returns to. context: address of the registers
	 * that the signal saved.
	 */
	bool returns;
	uint64_t context;
	bool resumes; /* a signal saved regs; their frame is still to come */
	bool unsaved; /* since the last frame, memory was needed that the state does not have */
	bool no_memory;
};

struct ptc_unwinder {
	struct unwinding u; /* of the current thread */
	Dwfl *dwfl;	    /* owned */
	bool attached;
};

/* --- its files --- */

/* A file that was reported to libdwfl, with its bias. */
struct reported {
	const struct ptc_codefile *file;
	uint64_t bias;
};

struct files {
	const struct ptc_crash_state *dead;
	const struct ptc_addrspace *as;
	struct ptc_mapping *maps; /* owned; of one file */
	size_t nmaps, maps_cap;
	struct reported *reported; /* owned */
	size_t nreported, reported_cap;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = ptc_srcline_find_elf,
	.find_debuginfo = ptc_srcline_find_debuginfo,
};

/*
 * List the mappings of the file of @r. *@ret: the index of @r. A mapping that the saved state lacks
 * counts as executable.
 */
static bool list_mappings(struct files *fs, const struct ptc_range *r, size_t *ret)
{
	const struct ptc_ranges *all = &fs->as->ranges;
	const struct ptc_range *o = ptc_ranges_from(all, 0);
	bool any = false;

	fs->nmaps = 0;
	for (; o; o = ptc_ranges_next(all, o)) {
		const struct ptc_crash_state_map *m = ptc_crash_state_map_at(fs->dead, o->start);

		if (o->file != r->file)
			continue;
		if (!ptc_grow(&fs->maps, &fs->maps_cap, fs->nmaps + 1, sizeof(*fs->maps)))
			return false;
		if (o == r) {
			*ret = fs->nmaps;
			any = true;
		}
		fs->maps[fs->nmaps++] = (struct ptc_mapping){ o->start, o->end, o->off,
							      !m || m->map.prot & PROT_EXEC };
	}
	return any;
}

/* Is the module new? If a module is reported twice, libdwfl drops it. */
static bool is_new(struct files *fs, const struct ptc_codefile *f, uint64_t bias)
{
	size_t i;

	for (i = 0; i < fs->nreported; i++)
		if (fs->reported[i].file == f && fs->reported[i].bias == bias)
			return false;
	if (!ptc_grow(&fs->reported, &fs->reported_cap, fs->nreported + 1, sizeof(*fs->reported)))
		return false;
	fs->reported[fs->nreported++] = (struct reported){ f, bias };
	return true;
}

static void report(Dwfl *dwfl, struct files *fs, const struct ptc_range *r)
{
	size_t which = 0;
	const bool listed = list_mappings(fs, r, &which);
	const int fd = listed && fs->maps[which].executable ? ptc_codefile_reopen(r->file) : -1;
	Elf *elf = ptc_elf_memory_has(fd, PTC_ELF_MEMORY_DEBUG, r->file->name,
				      r->file->store->search.left) ?
			   elf_begin(fd, ELF_C_READ, NULL) :
			   NULL;
	Dwfl_Module *mod = NULL;
	uint64_t bias = 0;
	void **data;

	if (elf && ptc_segments_bias(elf, fs->maps, fs->nmaps, which, &bias) &&
	    is_new(fs, r->file, bias))
		mod = dwfl_report_elf(dwfl, r->file->name, r->file->path, fd, bias, true);
	(void)elf_end(elf);
	if (mod && dwfl_module_info(mod, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		*data = (void *)(uintptr_t)r->file;
	if (!mod && fd >= 0) /* the module, if any, owns the descriptor */
		(void)close(fd);
}

static void report_all(Dwfl *dwfl, const struct ptc_crash_state *dead,
		       const struct ptc_addrspace *as)
{
	struct files fs = { .dead = dead, .as = as };
	const struct ptc_range *r = ptc_ranges_from(&as->ranges, 0);

	dwfl_report_begin(dwfl);
	for (; r; r = ptc_ranges_next(&as->ranges, r))
		if (r->file && r->file->path)
			report(dwfl, &fs, r);
	(void)dwfl_report_end(dwfl, NULL, NULL);
	free(fs.maps);
	free(fs.reported);
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

/* Is @addr in writable memory that was not saved? */
static bool is_unsaved(const struct ptc_crash_state *d, uint64_t addr)
{
	const struct ptc_crash_state_map *m = ptc_crash_state_map_at(d, addr);

	return m && m->map.prot & PROT_WRITE && !d->signal.no_memory;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct unwinding *u = arg;
	uint8_t bytes[8];

	(void)dwfl;
	if (ptc_crash_state_memory(u->dead, addr, bytes, sizeof(bytes)) != sizeof(bytes)) {
		u->unsaved = is_unsaved(u->dead, addr);
		return false;
	}
	*ret = ptc_le64(bytes);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinding *u = arg;

	return dwfl_thread_state_registers(thread, 0, NREGS, u->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* Returns true if @addr is in an executable mapping, or in known code if no mapping is known. */
static bool is_executable_addr(const struct unwinding *u, uint64_t addr)
{
	const struct ptc_crash_state_map *m = ptc_crash_state_map_at(u->dead, addr);

	return m ? m->map.prot & PROT_EXEC : !u->dead->nmaps && ptc_addrspace_has(u->as, addr);
}

/* Keeps the registers of a frame whose address has no code. */
static bool keep_registers(struct unwinding *u, Dwfl_Frame *frame)
{
	unsigned int i;

	for (i = 0; i < NREGS; i++)
		if (dwfl_frame_reg(frame, i, &u->regs[i]) && i == DWARF_RSP)
			return false;
	return true;
}

/* Is the frame at @pc the code that a signal handler returns to? */
static bool is_return(struct unwinding *u, Dwfl_Frame *frame, uint64_t pc)
{
	uint8_t code[PTC_SIGFRAME_RETURN];
	const size_t n = ptc_addrspace_read(u->as, pc, code, sizeof(code));

	return ptc_sigframe_is_return(code, n) && !dwfl_frame_reg(frame, DWARF_RSP, &u->context);
}

/*
 * libdw ends at address 0, and where the code that a handler returns to has no usable call frame
 * information, as in Go. Take the registers that the signal saved.
 */
static void take_context(struct unwinding *u)
{
	uint8_t context[PTC_SIGFRAME_CONTEXT];
	struct ptc_unwound *out = u->out;

	if (ptc_crash_state_memory(u->dead, u->context, context, sizeof(context)) !=
	    sizeof(context))
		return;
	ptc_sigframe_registers(context, u->regs);
	out->frames[out->n - 1] = (struct ptc_unwound_frame){ u->regs[DWARF_RIP], true };
	u->stray = !is_executable_addr(u, u->regs[DWARF_RIP]);
	u->resumes = !u->stray;
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinding *u = arg;
	struct ptc_unwound *out = u->out;
	const bool called = u->called;
	Dwarf_Addr pc;
	bool interrupted;

	u->called = u->returns = u->unsaved = false;
	if (!dwfl_frame_pc(frame, &pc, &interrupted))
		return DWARF_CB_ABORT;
	if (called) {
		pc++;
		interrupted = false;
	}
	if (!pc && !interrupted)
		return DWARF_CB_ABORT;
	out->cut = out->n == PTC_UNWIND_MAX;
	if (out->cut)
		return DWARF_CB_ABORT;
	/*
	 * Two interrupted frames in a row: the first is the code that a handler returns to, which
	 * nobody called. Replace it by the frame that the signal interrupted.
	 */
	if (interrupted && out->n > 1 && out->frames[out->n - 1].interrupted)
		out->n--;
	if (!ptc_grow(&out->frames, &out->cap, out->n + 1, sizeof(*out->frames))) {
		u->no_memory = true;
		return DWARF_CB_ABORT;
	}
	out->frames[out->n++] = (struct ptc_unwound_frame){ pc, interrupted };
	u->returns = is_return(u, frame, pc);
	u->stray = interrupted && !is_executable_addr(u, pc) && keep_registers(u, frame);
	return u->stray ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static int unwind_from(struct ptc_unwinder *w, struct ptc_err *err)
{
	struct unwinding *u = &w->u;

	if (u->resumes) /* its frame comes again */
		u->out->n--;
	u->asked = u->stray = u->returns = u->resumes = u->unsaved = false;
	if (w->attached)
		(void)dwfl_getthread_frames(w->dwfl, (pid_t)u->thread->tid, on_frame, u);
	if (u->returns)
		take_context(u);
	return u->no_memory ? ptc_fail_mem(err) : 0;
}

/* Do the bytes in front of @ret end in a call? By opcode: E8 with a displacement, or FF /2. */
static bool is_behind_call(const struct unwinding *u, uint64_t ret)
{
	uint8_t bytes[CALL_MAX], *end = bytes + sizeof(bytes);
	size_t n;

	if (ptc_addrspace_read(u->as, ret - CALL_MAX, bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	if (end[-CALL_REL32] == 0xe8)
		return true;
	for (n = 2; n <= CALL_MAX; n++)
		if (end[-(ptrdiff_t)n] == 0xff && (end[1 - (ptrdiff_t)n] >> 3 & 7) == 2)
			return true;
	return false;
}

/*
 * Undo a call to an address without code. Nothing ran since, so the return address is on top of the
 * stack. Returns false if no call led there.
 */
static bool undo_call(struct unwinding *u)
{
	Dwarf_Word ret;

	if (!read_memory(NULL, u->regs[DWARF_RSP], &ret, u) || !ret ||
	    !is_executable_addr(u, ret) || !is_behind_call(u, ret))
		return false;
	u->regs[DWARF_RSP] += sizeof(ret);
	u->regs[DWARF_RIP] = ret - 1; /* inside the call: this is its frame */
	u->called = true;
	return true;
}

/* Returns the file without call frame information in which the frames end, or NULL. */
static const struct ptc_codefile *unknown_file(const struct unwinding *u)
{
	const struct ptc_unwound *out = u->out;
	const uint64_t pc = out->n ? out->frames[out->n - 1].pc : u->regs[DWARF_RIP];
	const bool returns = out->n > 1 && !out->frames[out->n - 1].interrupted;
	const struct ptc_range *r = ptc_addrspace_find(u->as, returns ? pc - 1 : pc);

	return r && r->file && !r->file->path && !r->file->anonymous && !out->cut ? r->file : NULL;
}

int ptc_unwinder_new(const struct ptc_crash_state *d, const struct ptc_addrspace *as,
		     struct ptc_unwinder **ret, struct ptc_err *err)
{
	struct ptc_unwinder *w = calloc(1, sizeof(*w));

	(void)elf_version(EV_CURRENT);
	if (w)
		w->dwfl = dwfl_begin(&callbacks);
	if (!w || !w->dwfl) {
		free(w);
		return ptc_fail_mem(err);
	}
	w->u.dead = d;
	w->u.as = as;
	report_all(w->dwfl, d, as);
	w->attached =
		dwfl_attach_state(w->dwfl, NULL, (pid_t)d->signal.pid, &thread_callbacks, &w->u);
	*ret = w;
	return 0;
}

int ptc_unwinder_run(struct ptc_unwinder *w, const struct ptc_crash_thread *t,
		     struct ptc_unwound *u, struct ptc_err *err)
{
	unsigned int strayed = 0;
	size_t i;
	int rc;

	w->u.thread = t;
	w->u.out = u;
	w->u.called = w->u.resumes = false;
	for (i = 0; i < NREGS; i++)
		w->u.regs[i] = t->regs[dwarf_regs[i]];
	do
		rc = unwind_from(w, err);
	while (!rc && ++strayed < STRAYED_MAX &&
	       (w->u.resumes || (w->u.stray && undo_call(&w->u))));
	u->unknown = unknown_file(&w->u);
	u->unsaved = w->u.unsaved && !u->cut;
	u->cut |= u->unsaved;
	return rc;
}

const char *ptc_unwinder_data_name(struct ptc_unwinder *w, uint64_t addr, uint64_t *ret_off)
{
	Dwfl_Module *mod = dwfl_addrmodule(w->dwfl, addr);
	const char *name;
	GElf_Off off;
	GElf_Sym sym;

	if (!mod)
		return NULL;
	name = dwfl_module_addrinfo(mod, addr, &off, &sym, NULL, NULL, NULL);
	if (!name || !*name || GELF_ST_TYPE(sym.st_info) != STT_OBJECT || off >= sym.st_size)
		return NULL;
	*ret_off = off;
	return name;
}

void ptc_unwinder_free(struct ptc_unwinder *w)
{
	if (w)
		dwfl_end(w->dwfl);
	free(w);
}

int ptc_unwind(struct ptc_unwound *u, const struct ptc_crash_state *d,
	       const struct ptc_crash_thread *t, const struct ptc_addrspace *as,
	       struct ptc_err *err)
{
	struct ptc_unwinder *w = NULL;
	int rc = ptc_unwinder_new(d, as, &w, err);

	if (!w)
		return rc;
	rc = ptc_unwinder_run(w, t, u, err);
	ptc_unwinder_free(w);
	return rc;
}

void ptc_unwound_release(struct ptc_unwound *u)
{
	free(u->frames);
	*u = (struct ptc_unwound){ .n = 0 };
}
