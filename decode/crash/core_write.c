/* SPDX-License-Identifier: MIT */
/* Writes the state of a process as a core: ptcap/crash_state.h. */
#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/opts.h"
#include "base/tmpfile.h"
#include "decode/crash/crash_state.h"
#include "decode/image/core.h"

enum {
	PAGE = 4096,
	SEGMENTS_MAX = PN_XNUM - 2, /* e_phnum also counts the notes */
};

static_assert(sizeof(struct elf_prstatus) == 336 && sizeof(struct elf_prpsinfo) == 136 &&
		      ELF_NGREG == PTC_REG_COUNT && sizeof(siginfo_t) == PTC_CORE_SIGINFO,
	      "the notes have the kernel's structures");

/* Bytes of a piece, without the bytes of earlier pieces. */
struct core_part {
	uint64_t addr;
	const uint8_t *bytes; /* lent */
	uint64_t len;
};

struct core_segment {
	uint64_t addr, len, off;
	uint32_t flags;
	size_t first; /* index of its first part */
};

struct core_writer {
	const struct ptc_crash_state *d;
	struct core_part *parts;       /* owned; ascending; without overlaps */
	struct core_segment *segments; /* owned; ascending */
	size_t nparts, parts_cap, nsegments, segments_cap;
	uint64_t headers, headers_end; /* pages of the program headers (AT_PHDR) */
	struct ptc_buf notes, head;
};

/* --- notes --- */

/* Sizes of notes are multiples of 4 here, or the last bytes are padding. */
static void put_note(struct ptc_buf *b, uint32_t type, const void *desc, size_t len)
{
	ptc_buf_le32(b, sizeof("CORE"));
	ptc_buf_le32(b, (uint32_t)len);
	ptc_buf_le32(b, type);
	ptc_buf_str(b, "CORE", 4);
	ptc_buf_zero(b, -b->len & 3);
	ptc_buf_put(b, desc, len);
	ptc_buf_zero(b, -b->len & 3);
}

/*
 * The state has the registers before a system call that has not returned. The kernel's core has the
 * address behind the instruction in such a thread, as the entry code left it (arch/x86/entry). RAX
 * is then the number of an error, which differs between calls: the entry code sets ENOSYS. The
 * state of a live process has no code of files: its threads in a call are at the instruction.
 */
static void enter_call(const struct ptc_crash_state *d, uint64_t regs[PTC_REG_COUNT])
{
	static const uint8_t syscall_insn[] = { 0x0f, 0x05 };
	uint8_t at[sizeof(syscall_insn)];

	if (ptc_crash_state_memory(d, regs[PTC_REG_RIP], at, sizeof(at)) == sizeof(at) &&
	    memcmp(at, syscall_insn, sizeof(at)) != 0)
		return;
	regs[PTC_REG_RIP] += sizeof(at);
	regs[PTC_REG_RCX] = regs[PTC_REG_RIP];
	regs[PTC_REG_R11] = regs[PTC_REG_EFLAGS];
	regs[PTC_REG_ORIG_RAX] = regs[PTC_REG_RAX];
	regs[PTC_REG_RAX] = (uint64_t)-ENOSYS;
}

static void put_prstatus(struct core_writer *w, const struct ptc_crash_state_thread *t,
			 uint64_t signo)
{
	struct elf_prstatus s;
	uint64_t regs[PTC_REG_COUNT];

	memset(&s, 0, sizeof(s));
	s.pr_pid = (int)t->state.tid;
	s.pr_cursig = (short)signo;
	s.pr_info.si_signo = (int)signo;
	memcpy(regs, t->state.regs, sizeof(regs));
	if (t->state.in_call)
		enter_call(w->d, regs);
	memcpy(&s.pr_reg, regs, sizeof(s.pr_reg));
	put_note(&w->notes, NT_PRSTATUS, &s, sizeof(s));
}

/* Puts the process. Its name is that of the main thread. */
static void put_prpsinfo(struct core_writer *w, const struct ptc_crash_state_thread *victim)
{
	const struct ptc_crash_state_thread *t = victim;
	struct elf_prpsinfo p;
	size_t i;

	for (i = 0; i < w->d->nthreads; i++)
		if (w->d->threads[i].state.tid == w->d->signal.pid)
			t = &w->d->threads[i];
	memset(&p, 0, sizeof(p));
	p.pr_sname = 'R';
	p.pr_pid = (int)w->d->signal.pid;
	memcpy(p.pr_fname, t->name, strnlen(t->name, sizeof(p.pr_fname) - 1));
	memcpy(p.pr_psargs, t->name, strnlen(t->name, sizeof(p.pr_psargs) - 1));
	put_note(&w->notes, NT_PRPSINFO, &p, sizeof(p));
}

/* Puts the kernel's siginfo. If the state has none, it is rebuilt from the known fields. */
static void put_siginfo(struct core_writer *w)
{
	const struct ptc_crash_signal *s = &w->d->signal;
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	if (ptc_cur_left(&w->d->siginfo) == sizeof(info)) {
		memcpy(&info, w->d->siginfo.pos, sizeof(info));
	} else {
		info.si_signo = (int)s->signo;
		info.si_code = (int)s->code;
		info.si_errno = (int)s->error;
		if (s->code > 0)
			info.si_addr = (void *)(uintptr_t)s->addr;
		else
			info.si_pid = (pid_t)s->sender;
	}
	put_note(&w->notes, NT_SIGINFO, &info, sizeof(info));
}

static void put_auxv_note(struct core_writer *w)
{
	const size_t len = ptc_cur_left(&w->d->auxv) & ~(size_t)15;

	if (len)
		put_note(&w->notes, NT_AUXV, w->d->auxv.pos, len);
}

/*
 * Returns true if the memory of mapping @i is as in its file. It is not so for writable mappings,
 * and for the part before a writable mapping, which the loader has relocated (PT_GNU_RELRO).
 */
static bool is_as_in_file(const struct ptc_crash_state *d, size_t i)
{
	const struct ptc_crash_state_map *m = &d->maps[i];
	const struct ptc_crash_state_map *next = i + 1 < d->nmaps ? m + 1 : NULL;

	if (m->name[0] != '/' || m->map.prot & PROT_WRITE || m->map.start >= m->map.end)
		return false;
	return m->map.prot & PROT_EXEC || !next || !(next->map.prot & PROT_WRITE) ||
	       next->map.start != m->map.end || strcmp(m->name, next->name) != 0;
}

static void put_files(struct core_writer *w)
{
	struct ptc_buf desc = PTC_BUF_INIT;
	const struct ptc_crash_state *d = w->d;
	uint64_t n = 0;
	size_t i;

	ptc_buf_le64(&desc, 0);
	ptc_buf_le64(&desc, PAGE);
	for (i = 0; i < d->nmaps; i++) {
		if (!is_as_in_file(d, i))
			continue;
		ptc_buf_le64(&desc, d->maps[i].map.start);
		ptc_buf_le64(&desc, d->maps[i].map.end);
		ptc_buf_le64(&desc, d->maps[i].map.off / PAGE);
		n++;
	}
	for (i = 0; i < d->nmaps; i++)
		if (is_as_in_file(d, i))
			ptc_buf_str(&desc, d->maps[i].name, 1);
	if (!ptc_buf_failed(&desc))
		ptc_buf_set_le64(&desc, 0, n);
	if (n && desc.len <= PTC_CORE_NOTES_MAX)
		put_note(&w->notes, NT_FILE, desc.bytes, desc.len);
	w->notes.failed |= ptc_buf_failed(&desc);
	ptc_buf_release(&desc);
}

/* Puts all notes in the kernel's order. NT_SIGINFO belongs to the NT_PRSTATUS before it. */
static int put_notes(struct core_writer *w, struct ptc_err *err)
{
	const struct ptc_crash_state *d = w->d;
	const struct ptc_crash_state_thread *victim = ptc_crash_state_victim(d);
	size_t i;

	if (!d->nthreads)
		return ptc_fail(err, PTC_E_FORMAT, "the state has no threads");
	if (!victim)
		victim = &d->threads[0];
	put_prstatus(w, victim, d->signal.signo);
	put_prpsinfo(w, victim);
	if (d->signal.signo)
		put_siginfo(w);
	put_auxv_note(w);
	put_files(w);
	for (i = 0; i < d->nthreads; i++)
		if (&d->threads[i] != victim)
			put_prstatus(w, &d->threads[i], 0);
	if (ptc_buf_failed(&w->notes))
		return ptc_fail_mem(err);
	if (w->notes.len > PTC_CORE_NOTES_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "the state has too many threads and mappings");
	return 0;
}

/* --- memory --- */

static uint64_t next_page(uint64_t off)
{
	return (off + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static int by_part(const void *pa, const void *pb)
{
	const struct core_part *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->len > b->len ? -1 : a->len < b->len;
}

/* Finds the pages of the program headers in the auxiliary vector. */
static void find_headers(struct core_writer *w)
{
	struct ptc_cur auxv = w->d->auxv;
	uint64_t type, value, addr = 0, count = 0;

	while (ptc_cur_le64(&auxv, &type) && ptc_cur_le64(&auxv, &value)) {
		addr = type == AT_PHDR ? value : addr;
		count = type == AT_PHNUM ? value : count;
	}
	if (count > PN_XNUM || addr > UINT64_MAX - PN_XNUM * sizeof(Elf64_Phdr) - PAGE)
		return;
	w->headers = addr & ~(uint64_t)(PAGE - 1);
	w->headers_end = next_page(addr + count * sizeof(Elf64_Phdr));
}

/* Returns true if no debugger needs the memory at @addr, because the file has the code there. */
static bool is_code_of_file(const struct ptc_crash_state *d, uint64_t addr)
{
	static const char deleted[] = " (deleted)";
	const struct ptc_crash_state_map *m = ptc_crash_state_map_at(d, addr);
	const size_t len = m ? strlen(m->name) : 0, end = sizeof(deleted) - 1;

	return m && m->name[0] == '/' && m->map.prot & PROT_EXEC && !(m->map.prot & PROT_WRITE) &&
	       !(len > end && !strcmp(m->name + len - end, deleted));
}

/*
 * Shortens @p to what the core has of it. Of the code of a file that is only the program headers:
 * libdwfl takes code in a core for a library of its own, and ends the real one there.
 */
static void cut_part(const struct core_writer *w, struct core_part *p)
{
	const uint64_t end = p->addr + p->len;
	const uint64_t from = p->addr > w->headers ? p->addr : w->headers;
	const uint64_t to = end < w->headers_end ? end : w->headers_end;

	if (!is_code_of_file(w->d, p->addr))
		return;
	p->len = 0;
	if (from < to)
		*p = (struct core_part){ from, p->bytes + (from - p->addr), to - from };
}

static bool take_parts(struct core_writer *w)
{
	struct core_part part;
	uint64_t end;
	size_t i;

	if (!ptc_grow(&w->parts, &w->parts_cap, w->d->npieces, sizeof(*w->parts)))
		return false;
	for (i = 0; i < w->d->npieces; i++) {
		const struct ptc_crash_state_piece *p = &w->d->pieces[i];
		const uint64_t len = ptc_cur_left(&p->bytes);

		if (!len || __builtin_add_overflow(p->addr, len, &end))
			continue;
		part = (struct core_part){ p->addr, p->bytes.pos, len };
		cut_part(w, &part);
		if (part.len)
			w->parts[w->nparts++] = part;
	}
	if (w->nparts)
		qsort(w->parts, w->nparts, sizeof(*w->parts), by_part);
	return true;
}

/* Shortens parts that overlap. Threads of one function share the code around their positions. */
static void drop_overlaps(struct core_writer *w)
{
	uint64_t end = 0, cut;
	size_t i, n = 0;

	for (i = 0; i < w->nparts; i++) {
		struct core_part p = w->parts[i];

		cut = p.addr < end ? end - p.addr : 0;
		if (cut >= p.len)
			continue;
		p.addr += cut;
		p.bytes += cut;
		p.len -= cut;
		end = p.addr + p.len;
		w->parts[n++] = p;
	}
	w->nparts = n;
}

static uint32_t flags_at(const struct ptc_crash_state *d, uint64_t addr)
{
	const struct ptc_crash_state_map *m = ptc_crash_state_map_at(d, addr);
	const uint64_t prot = m ? m->map.prot : PROT_READ;

	return (prot & PROT_READ ? PF_R : 0u) | (prot & PROT_WRITE ? PF_W : 0u) |
	       (prot & PROT_EXEC ? PF_X : 0u);
}

/* Makes a segment of parts that follow each other in one mapping. */
static int join_parts(struct core_writer *w, struct ptc_err *err)
{
	struct core_segment *s = NULL;
	size_t i;

	for (i = 0; i < w->nparts; i++) {
		const struct core_part *p = &w->parts[i];
		const uint32_t flags = flags_at(w->d, p->addr);

		if (s && s->addr + s->len == p->addr && s->flags == flags) {
			s->len += p->len;
			continue;
		}
		if (w->nsegments == SEGMENTS_MAX)
			return ptc_fail(err, PTC_E_LIMIT,
					"the state has more than %d parts of memory", SEGMENTS_MAX);
		if (!ptc_grow(&w->segments, &w->segments_cap, w->nsegments + 1, sizeof(*s)))
			return ptc_fail_mem(err);
		s = &w->segments[w->nsegments++];
		*s = (struct core_segment){
			.addr = p->addr, .len = p->len, .flags = flags, .first = i
		};
	}
	return 0;
}

/* --- the file --- */

/* Bytes of a segment are at a multiple of the page size: eu-stack reads aligned segments only. */
static void place_segments(struct core_writer *w)
{
	uint64_t off = sizeof(Elf64_Ehdr) + (1 + w->nsegments) * sizeof(Elf64_Phdr) + w->notes.len;
	size_t i;

	for (i = 0; i < w->nsegments; i++) {
		w->segments[i].off = next_page(off);
		off = w->segments[i].off + w->segments[i].len;
	}
}

static void put_head(struct core_writer *w)
{
	const Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)(1 + w->nsegments),
	};
	Elf64_Phdr ph = { .p_type = PT_NOTE,
			  .p_offset = sizeof(eh) + (1 + w->nsegments) * sizeof(ph),
			  .p_filesz = w->notes.len,
			  .p_align = 4 };
	size_t i;

	ptc_buf_put(&w->head, &eh, sizeof(eh));
	ptc_buf_put(&w->head, &ph, sizeof(ph));
	for (i = 0; i < w->nsegments; i++) {
		const struct core_segment *s = &w->segments[i];

		ph = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = s->flags,
				   .p_offset = s->off,
				   .p_vaddr = s->addr,
				   .p_filesz = s->len,
				   .p_memsz = s->len,
				   .p_align = s->addr % PAGE ? 1 : PAGE };
		ptc_buf_put(&w->head, &ph, sizeof(ph));
	}
	ptc_buf_put(&w->head, w->notes.bytes, w->notes.len);
}

static int write_memory(const struct core_writer *w, int fd, const char *name, struct ptc_err *err)
{
	static const uint8_t zeros[PAGE];
	uint64_t off = w->head.len;
	size_t i, k = 0;
	int rc = 0;

	for (i = 0; !rc && i < w->nparts; i++) {
		if (k < w->nsegments && w->segments[k].first == i) {
			rc = ptc_write_all(fd, zeros, w->segments[k].off - off, name, err);
			off = w->segments[k++].off;
		}
		if (!rc)
			rc = ptc_write_all(fd, w->parts[i].bytes, w->parts[i].len, name, err);
		off += w->parts[i].len;
	}
	return rc;
}

static int make_core(struct core_writer *w, struct ptc_err *err)
{
	int rc = put_notes(w, err);

	if (rc)
		return rc;
	find_headers(w);
	if (!take_parts(w))
		return ptc_fail_mem(err);
	drop_overlaps(w);
	rc = join_parts(w, err);
	if (rc)
		return rc;
	place_segments(w);
	put_head(w);
	return ptc_buf_failed(&w->head) ? ptc_fail_mem(err) : 0;
}

int ptc_core_write(const struct ptc_crash_state *d, int fd, const char *name,
		   struct ptc_core_size *ret, struct ptc_err *err)
{
	struct core_writer w = { .d = d };
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	size_t i;
	int rc;

	rc = make_core(&w, err);
	if (!rc)
		rc = ptc_write_all(fd, w.head.bytes, w.head.len, name, err);
	if (!rc)
		rc = write_memory(&w, fd, name, err);
	if (!rc) {
		size.threads = d->nthreads;
		size.segments = w.nsegments;
		for (i = 0; i < w.nsegments; i++)
			size.memory += w.segments[i].len;
		ptc_opts_give(ret, &size, sizeof(size));
	}
	ptc_buf_release(&w.notes);
	ptc_buf_release(&w.head);
	free(w.parts);
	free(w.segments);
	return rc;
}

int ptc_core_write_file(const struct ptc_crash_state *d, const char *path,
			struct ptc_core_size *ret, struct ptc_err *err)
{
	struct ptc_tmpfile t = PTC_TMPFILE_INIT;
	struct ptc_core_size size = PTC_CORE_SIZE_INIT;
	int rc;

	rc = ptc_tmpfile_open(&t, path, err);
	if (!rc)
		rc = ptc_core_write(d, t.fd, path, &size, err);
	if (!rc)
		rc = ptc_tmpfile_commit(&t, err);
	ptc_tmpfile_release(&t);
	if (!rc)
		ptc_opts_give(ret, &size, sizeof(size));
	return rc;
}
