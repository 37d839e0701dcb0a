/* SPDX-License-Identifier: MIT */
/*
 * Reports the mappings when a program begins. In QEMU's own mappings guest code is not executable,
 * and neighbours are merged. So the ELF headers tell which parts are code, and /proc/self/maps
 * where they are.
 */
#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/untrusted.h"
#include "capture/emu/plugin.h"

enum { PAGE = 4096, PHDRS_MAX = 64 };

struct headers {
	Elf64_Phdr ph[PHDRS_MAX];
	size_t n;
};

static bool read_headers(int fd, struct headers *h)
{
	Elf64_Ehdr e;
	size_t len;

	if (pread(fd, &e, sizeof(e), 0) != (ssize_t)sizeof(e) || e.e_phentsize != sizeof(h->ph[0]))
		return false;
	h->n = e.e_phnum < PHDRS_MAX ? e.e_phnum : PHDRS_MAX;
	len = h->n * sizeof(h->ph[0]);
	return pread(fd, h->ph, len, (off_t)e.e_phoff) == (ssize_t)len;
}

/* A line of /proc/self/maps. */
struct line {
	uint64_t start, end, off, ino;
	uint32_t maj, min;
	bool write, exec;
	const char *name;
};

static bool parse_line(char *text, struct line *ret)
{
	char perms[5];
	int n = 0;

	if (sscanf(text,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n",
		   &ret->start, &ret->end, perms, &ret->off, &ret->maj, &ret->min, &ret->ino,
		   &n) < 7)
		return false;
	text[n + (int)strcspn(text + n, "\n")] = '\0';
	ret->write = perms[1] == 'w';
	ret->exec = perms[2] == 'x';
	ret->name = text + n;
	return true;
}

void ptc_emu_tell_stack(struct ptc_emu_me *m, uint64_t rsp)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	const uint64_t at = rsp + ptc_emu_proc.base;
	char *text = NULL;
	size_t size = 0;
	struct line l;

	while (maps && getline(&text, &size, maps) > 0)
		if (parse_line(text, &l) && l.start <= at && at < l.end) {
			const struct ptc_emu_map map = { .change = PTC_EMU_DATA,
							 .prot = PROT_READ | PROT_WRITE,
							 .flags = MAP_PRIVATE,
							 .start = l.start - ptc_emu_proc.base,
							 .len = l.end - l.start };

			ptc_emu_tell_data(m, &map);
		}
	free(text);
	if (maps)
		(void)fclose(maps);
}

/* Reports the part of the file bytes [lo, hi) that @l maps. */
static void tell_part(struct ptc_emu_me *m, const struct line *l, uint64_t lo, uint64_t hi)
{
	const uint64_t last = l->off + (l->end - l->start);
	const uint64_t from = lo > l->off ? lo : l->off, to = hi < last ? hi : last;
	struct ptc_emu_map map = { .change = PTC_EMU_MMAP,
				   .prot = PROT_READ | PROT_EXEC,
				   .flags = MAP_PRIVATE,
				   .maj = l->maj,
				   .min = l->min,
				   .ino = l->ino };

	if (from >= to)
		return;
	map.start = l->start + (from - l->off) - ptc_emu_proc.base;
	map.len = to - from;
	map.off = from;
	ptc_emu_points_mapped(&map, l->name);
	ptc_emu_put_text(m, PTC_EMU_MAP, &map, sizeof(map), l->name);
}

/*
 * Reports the code of the file in all mappings that QEMU has made of it. From version 9 on, QEMU
 * also keeps a writable copy of the whole file, from which it has read the headers.
 */
static void tell_segments(struct ptc_emu_me *m, const struct headers *h, const struct stat *st)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *text = NULL;
	size_t size = 0, i;
	struct line l;

	while (maps && getline(&text, &size, maps) > 0) {
		if (!parse_line(text, &l) || l.exec || l.ino != st->st_ino ||
		    makedev(l.maj, l.min) != st->st_dev)
			continue;
		for (i = 0; i < h->n; i++) {
			const Elf64_Phdr *p = &h->ph[i];
			const uint64_t lo = p->p_offset & ~(uint64_t)(PAGE - 1);

			if (p->p_type == PT_LOAD && p->p_flags & PF_X &&
			    (!l.write || p->p_flags & PF_W))
				tell_part(m, &l, lo,
					  (p->p_offset + p->p_filesz + PAGE - 1) &
						  ~(uint64_t)(PAGE - 1));
		}
	}
	free(text);
	if (maps)
		(void)fclose(maps);
}

/* Reads the name in PT_INTERP into @out; "" if there is none. */
static void read_interp(int fd, const struct headers *h, char *out, size_t size)
{
	size_t i;

	out[0] = '\0';
	for (i = 0; i < h->n; i++) {
		const Elf64_Phdr *p = &h->ph[i];
		const size_t n = p->p_filesz < size ? p->p_filesz : size - 1;

		if (p->p_type == PT_INTERP && pread(fd, out, n, (off_t)p->p_offset) == (ssize_t)n)
			out[n] = '\0';
	}
}

static void tell_file(struct ptc_emu_me *m, const char *path, char *interp, size_t size)
{
	struct headers h = { .n = 0 };
	const struct ptc_untrusted how = { .root = 0 };
	struct ptc_err ignored;
	struct stat st;
	const int fd = ptc_untrusted_open(path, &how, &st, &ignored);

	interp[0] = '\0';
	if (fd < 0)
		return;
	if (read_headers(fd, &h)) {
		tell_segments(m, &h, &st);
		read_interp(fd, &h, interp, size);
	}
	(void)close(fd);
}

void ptc_emu_tell_loaded(struct ptc_emu_me *m, const char *path)
{
	char interp[PATH_MAX], none[PATH_MAX];

	ptc_emu_put_text(m, PTC_EMU_EXECED, NULL, 0, ptc_emu_proc.comm);
	tell_file(m, path, interp, sizeof(interp));
	if (interp[0])
		tell_file(m, interp, none, sizeof(none));
	/* ptcap has then opened the files, before the program can rename or unlink them */
	ptc_emu_sync(m);
}
