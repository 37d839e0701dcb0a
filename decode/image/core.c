/* SPDX-License-Identifier: MIT */
#include "decode/image/core.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "decode/image/codefile.h"

enum {
	PAGE = 4096,
	FIRST_PAGES = 16 * PAGE, /* bytes of a mapped file that contain its build-id */
	/* struct elf_prpsinfo of x86-64 (linux/elfcore.h) */
	PRPSINFO_PID = 24,
	PRPSINFO_SIZE = 136,
	/* struct elf_prstatus of x86-64 */
	PRSTATUS_CURSIG = 12,
	PRSTATUS_PID = 32,
	PRSTATUS_REGS = 112,
	PRSTATUS_SIZE = 336,
};

void ptc_core_free(struct ptc_core *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		(void)close(c->fd);
	free(c->path);
	free(c->loads);
	free(c->maps);
	free(c->areas);
	free(c->threads);
	free(c->notes);
	free(c);
}

/* Read all of [off, off + len). Returns false if that is not possible. */
static bool read_at(const struct ptc_core *c, uint64_t off, uint8_t *out, size_t len)
{
	ssize_t r;

	if (off > c->len || len > c->len - off)
		return false;
	while (len) {
		r = pread(c->fd, out, len, (off_t)off);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		out += r;
		off += (uint64_t)r;
		len -= (size_t)r;
	}
	return true;
}

/* NT_FILE: count, page size, (start, end, page offset) of each file, then the names. */
static bool take_files(struct ptc_core *c, struct ptc_cur desc)
{
	uint64_t count, page, start, end, off, i;
	struct ptc_cur names = desc;

	if (!ptc_cur_le64(&desc, &count) || !ptc_cur_le64(&desc, &page) ||
	    count > ptc_cur_left(&desc) / 24 || !ptc_cur_skip(&names, 16 + (size_t)count * 24))
		return true;
	for (i = 0; i < count; i++) {
		const char *name = (const char *)names.pos;
		const size_t n = strnlen(name, ptc_cur_left(&names));

		if (!ptc_cur_skip(&names, n + 1) || !ptc_cur_le64(&desc, &start) ||
		    !ptc_cur_le64(&desc, &end) || !ptc_cur_le64(&desc, &off) ||
		    __builtin_mul_overflow(off, page, &off))
			break;
		if (!ptc_grow(&c->maps, &c->maps_cap, c->nmaps + 1, sizeof(*c->maps)))
			return false;
		c->maps[c->nmaps++] = (struct ptc_core_map){ start, end, off, name };
	}
	return true;
}

static bool take_thread(struct ptc_core *c, const uint8_t *status)
{
	struct ptc_core_thread *t;
	size_t i;

	if (!ptc_grow(&c->threads, &c->threads_cap, c->nthreads + 1, sizeof(*t)))
		return false;
	t = &c->threads[c->nthreads++];
	t->tid = ptc_le32(status + PRSTATUS_PID);
	t->signo = ptc_le16(status + PRSTATUS_CURSIG);
	for (i = 0; i < PTC_REG_COUNT; i++)
		t->regs[i] = ptc_le64(status + PRSTATUS_REGS + i * sizeof(t->regs[i]));
	return true;
}

/* Take one of the kernel's notes. Returns false if out of memory. */
static bool take_note(struct ptc_core *c, uint32_t type, const uint8_t *desc, uint32_t len)
{
	if (type == NT_PRPSINFO && len >= PRPSINFO_SIZE)
		c->pid = (int32_t)ptc_le32(desc + PRPSINFO_PID);
	if (type == NT_SIGINFO && len >= PTC_CORE_SIGINFO && !c->siginfo)
		/* the note of the killed thread; later notes are of other threads */
		c->siginfo = desc;
	if (type == NT_AUXV)
		c->auxv = ptc_cur_init(desc, len);
	if (type == NT_PRSTATUS && len >= PRSTATUS_SIZE)
		return take_thread(c, desc);
	return type != NT_FILE || take_files(c, ptc_cur_init(desc, len));
}

static bool take_notes(struct ptc_core *c, struct ptc_cur notes)
{
	uint32_t namesz, descsz, type;
	const uint8_t *name, *desc;

	while (ptc_cur_le32(&notes, &namesz) && ptc_cur_le32(&notes, &descsz) &&
	       ptc_cur_le32(&notes, &type) &&
	       ptc_cur_bytes(&notes, ((size_t)namesz + 3) & ~(size_t)3, &name) &&
	       ptc_cur_bytes(&notes, descsz, &desc)) {
		if (namesz == 5 && !memcmp(name, "CORE", 5) && !take_note(c, type, desc, descsz))
			return false;
		if (!ptc_cur_skip(&notes, (((size_t)descsz + 3) & ~(size_t)3) - descsz))
			break;
	}
	return true;
}

static int read_notes(struct ptc_core *c, uint64_t off, uint64_t len, struct ptc_err *err)
{
	if (c->notes || off > c->len)
		return 0;
	if (len > c->len - off)
		len = c->len - off;
	if (len > PTC_CORE_NOTES_MAX)
		return ptc_fail_at(err, PTC_E_LIMIT, off, "'%s' has too many notes", c->path);
	c->notes = malloc(len + 1);
	if (!c->notes)
		return ptc_fail_mem(err);
	if (!read_at(c, off, c->notes, len))
		return 0;
	return take_notes(c, ptc_cur_init(c->notes, len)) ? 0 : ptc_fail_mem(err);
}

static bool take_area(struct ptc_core *c, const Elf64_Phdr *ph)
{
	const uint32_t prot = (ph->p_flags & PF_R ? PROT_READ : 0u) |
			      (ph->p_flags & PF_W ? PROT_WRITE : 0u) |
			      (ph->p_flags & PF_X ? PROT_EXEC : 0u);
	uint64_t end;

	if (__builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end))
		return true;
	if (!ptc_grow(&c->areas, &c->areas_cap, c->nareas + 1, sizeof(*c->areas)))
		return false;
	c->areas[c->nareas++] = (struct ptc_core_area){ ph->p_vaddr, end, prot };
	return true;
}

static int take_segment(struct ptc_core *c, const Elf64_Phdr *ph, struct ptc_err *err)
{
	uint64_t len = ph->p_filesz, end;

	if (ph->p_type == PT_NOTE)
		return read_notes(c, ph->p_offset, len, err);
	if (ph->p_type == PT_LOAD && !take_area(c, ph))
		return ptc_fail_mem(err);
	if (ph->p_type != PT_LOAD || !len || ph->p_offset >= c->len ||
	    __builtin_add_overflow(ph->p_vaddr, len - 1, &end))
		return 0;
	if (len > c->len - ph->p_offset)
		len = c->len - ph->p_offset;
	if (!ptc_grow(&c->loads, &c->loads_cap, c->nloads + 1, sizeof(*c->loads)))
		return ptc_fail_mem(err);
	c->loads[c->nloads++] =
		(struct ptc_core_load){ .addr = ph->p_vaddr, .len = len, .off = ph->p_offset };
	return 0;
}

static int by_load(const void *pa, const void *pb)
{
	const struct ptc_core_load *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int by_map(const void *pa, const void *pb)
{
	const struct ptc_core_map *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* With many segments, their number is in the first section header (elf(5), PN_XNUM). */
static uint64_t count_segments(const struct ptc_core *c, const Elf64_Ehdr *eh)
{
	Elf64_Shdr sh;

	if (eh->e_phnum != PN_XNUM)
		return eh->e_phnum;
	return read_at(c, eh->e_shoff, (uint8_t *)&sh, sizeof(sh)) ? sh.sh_info : 0;
}

static int take_core(struct ptc_core *c, struct ptc_err *err)
{
	uint64_t i, n;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	int r;

	/* The host is little-endian, as the file: no conversion. */
	if (!read_at(c, 0, (uint8_t *)&eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_type != ET_CORE ||
	    eh.e_machine != EM_X86_64 || eh.e_phentsize != sizeof(ph))
		return ptc_fail(err, PTC_E_FORMAT, "'%s' is not an x86-64 core dump", c->path);
	n = count_segments(c, &eh);
	if (n > PTC_CORE_LOADS_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "'%s' has too many segments", c->path);
	for (i = 0; i < n; i++) {
		if (!read_at(c, eh.e_phoff + i * sizeof(ph), (uint8_t *)&ph, sizeof(ph)))
			break;
		r = take_segment(c, &ph, err);
		if (r < 0)
			return r;
	}
	if (c->nloads)
		qsort(c->loads, c->nloads, sizeof(*c->loads), by_load);
	if (c->nmaps)
		qsort(c->maps, c->nmaps, sizeof(*c->maps), by_map);
	return 0;
}

int ptc_core_open_fd(int fd, uint64_t len, const char *name, struct ptc_core **ret,
		     struct ptc_err *err)
{
	struct ptc_core *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		(void)close(fd);
		return ptc_fail_mem(err);
	}
	c->fd = fd;
	c->len = len;
	c->pid = -1;
	c->path = strdup(name);
	r = c->path ? take_core(c, err) : ptc_fail_mem(err);
	if (r < 0) {
		ptc_core_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int ptc_core_open(const char *path, const struct ptc_untrusted *how, struct ptc_core **ret,
		  struct ptc_err *err)
{
	uint64_t len;
	const int fd = ptc_search_open(path, how, &len, err);

	return fd < 0 ? fd : ptc_core_open_fd(fd, len, path, ret, err);
}

/* Returns the index of the first segment behind @addr. */
static size_t behind(const struct ptc_core *c, uint64_t addr)
{
	return PTC_PARTITION_POINT(i, 0, c->nloads, c->loads[i].addr <= addr);
}

uint64_t ptc_core_next(const struct ptc_core *c, uint64_t addr)
{
	const size_t i = behind(c, addr);

	return i < c->nloads ? c->loads[i].addr : UINT64_MAX;
}

/* Returns the segment that contains @addr, or NULL. */
static struct ptc_core_load *load_at(const struct ptc_core *c, uint64_t addr)
{
	const size_t lo = behind(c, addr);

	return lo && addr - c->loads[lo - 1].addr < c->loads[lo - 1].len ? &c->loads[lo - 1] : NULL;
}

size_t ptc_core_read(const struct ptc_core *c, uint64_t addr, uint8_t *ret, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const struct ptc_core_load *l = load_at(c, addr + done);
		uint64_t off, n;

		if (!l)
			break;
		off = addr + done - l->addr;
		n = l->len - off < len - done ? l->len - off : len - done;
		if (!read_at(c, l->off + off, ret + done, (size_t)n))
			break;
		done += (size_t)n;
	}
	return done;
}

const struct ptc_core_map *ptc_core_map_at(const struct ptc_core *c, uint64_t addr)
{
	const size_t behind = PTC_PARTITION_POINT(i, 0, c->nmaps, c->maps[i].start <= addr);

	return behind && addr < c->maps[behind - 1].end ? &c->maps[behind - 1] : NULL;
}

int ptc_core_build_id(const struct ptc_core *c, const struct ptc_core_map *m,
		      struct ptc_build_id *ret)
{
	const struct ptc_core_load *l;
	uint8_t *page;
	uint64_t len;
	int found = 0;
	size_t i;

	ret->len = 0;
	/* The file's first page is a mapping of its own, in front of the code. */
	for (i = (size_t)(m - c->maps);
	     i && strcmp(c->maps[i - 1].name, m->name) == 0 && c->maps[i].off; i--)
		;
	l = c->maps[i].off ? NULL : load_at(c, c->maps[i].start);
	if (!l)
		return 0;
	len = l->len - (c->maps[i].start - l->addr);
	if (len > FIRST_PAGES)
		len = FIRST_PAGES;
	page = malloc(len);
	if (page && read_at(c, l->off + (c->maps[i].start - l->addr), page, len))
		found = ptc_elf_build_id(page, len, ret);
	free(page);
	return found;
}

uint64_t ptc_core_code(struct ptc_core *c, struct ptc_codefiles *s, const char *name, uint64_t addr,
		       uint64_t len, struct ptc_codefile **ret, uint64_t *ret_off)
{
	struct ptc_core_load *l = load_at(c, addr);
	uint64_t off;

	if (!l || addr % PAGE || l->addr % PAGE)
		return 0;
	off = addr - l->addr;
	if (len > l->len - off)
		len = l->len - off;
	else if (len % PAGE)
		len = l->len - off < (len | (PAGE - 1)) + 1 ? l->len - off : (len | (PAGE - 1)) + 1;
	if (!l->file)
		l->file = ptc_codefiles_new(s, name);
	if (!l->file || !ptc_codefile_supply(l->file, l->len, off, len, c->fd, l->off + off))
		return 0;
	c->used = true;
	*ret = l->file;
	*ret_off = off;
	return len;
}
