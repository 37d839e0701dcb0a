/* SPDX-License-Identifier: MIT */
#include "capture/perf/synthesize_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/sideband.h"
#include "base/err.h"
#include "base/io.h"
#include "base/untrusted.h"
#include "capture/perf/kallsyms.h"

enum { PATH_SIZE = 4352, DEP_MAX = 64 << 20, NOTES_MAX = 1 << 16, RELEASE_MAX = 256 };

struct job {
	const struct ptc_kernelmap *m;
	struct ptc_buf *out;
	char release[RELEASE_MAX]; /* release of the running kernel; "": unknown */
	struct ptc_buf dep;	   /* modules.dep; empty: not found */
};

static void read_release(struct job *j)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s/proc/sys/kernel/osrelease", j->m->root);
	if (!ptc_read_file(path, RELEASE_MAX - 1, &b, &ignored)) {
		b.bytes[strcspn((const char *)b.bytes, "\n")] = '\0';
		(void)snprintf(j->release, sizeof(j->release), "%s", (const char *)b.bytes);
	}
	ptc_buf_release(&b);
}

static void read_dep(struct job *j)
{
	const struct ptc_untrusted how = { .root = strlen(j->m->root), .max = DEP_MAX };
	struct ptc_err ignored;
	char path[PATH_SIZE];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/lib/modules/%s/modules.dep", j->m->root, j->release);
	if (ptc_untrusted_read(path, &how, &j->dep, &st, &ignored))
		ptc_buf_reset(&j->dep);
}

/* Returns true if @file ("kernel/fs/x-y.ko.xz") is the file of module @name ("x_y"). */
static bool is_of(const char *file, size_t len, const char *name, size_t name_len)
{
	const char *base = memrchr(file, '/', len);
	size_t i;

	if (base) {
		base++;
		len -= (size_t)(base - file);
	} else {
		base = file;
	}
	if (len < name_len + 3 || memcmp(base + name_len, ".ko", 3) != 0)
		return false;
	for (i = 0; i < name_len; i++)
		if ((base[i] == '-' ? '_' : base[i]) != name[i])
			return false;
	return true;
}

/* Finds the module's file by name, as perf does. Without a file, writes "[x_y]". */
static void module_file(const struct job *j, const struct ptc_kmodule *mod, char *out, size_t size)
{
	const char *p = j->dep.len ? (const char *)j->dep.bytes : "";

	for (; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const size_t len = strcspn(p, ":\n");

		if (!is_of(p, len, mod->name, mod->name_len))
			continue;
		if (*p == '/')
			(void)snprintf(out, size, "%.*s", (int)len, p);
		else
			(void)snprintf(out, size, "/lib/modules/%s/%.*s", j->release, (int)len, p);
		return;
	}
	(void)snprintf(out, size, "[%.*s]", (int)mod->name_len, mod->name);
}

static void read_build_id(const char *path, struct ptc_build_id *ret)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;

	memset(ret, 0, sizeof(*ret));
	if (!ptc_read_file(path, NOTES_MAX, &b, &ignored) &&
	    ptc_elf_build_id_notes(b.bytes, b.len, ret) != 1)
		memset(ret, 0, sizeof(*ret));
	ptc_buf_release(&b);
}

static void put_kernel_mmap2(const struct job *j, const char *file, uint64_t addr, uint64_t len,
			     uint64_t pgoff, const char *notes)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_KERNEL };

	sb.id.pid = sb.u.mmap.pid = -1; /* shared by all processes */
	sb.id.id = j->m->id;
	sb.u.mmap.addr = addr;
	sb.u.mmap.len = len;
	sb.u.mmap.pgoff = pgoff;
	sb.u.mmap.prot = PROT_READ | PROT_EXEC;
	sb.u.mmap.flags = MAP_PRIVATE;
	sb.u.mmap.filename = file;
	read_build_id(notes, &sb.u.mmap.build_id);
	ptc_sb_put(j->out, &sb, j->m->sample_type);
}

/*
 * The name contains the symbol whose address is in pgoff: a reader uses it to recognise the boot.
 */
static void put_kernel(const struct job *j, const struct ptc_kallsyms *k)
{
	const uint64_t start = k->text ? k->text : k->stext ? k->stext : k->first;
	const uint64_t end = k->etext > start ? k->etext : k->last;
	char notes[PATH_SIZE];

	(void)snprintf(notes, sizeof(notes), "%s/sys/kernel/notes", j->m->root);
	put_kernel_mmap2(j,
			 k->text  ? "[kernel.kallsyms]_text" :
			 k->stext ? "[kernel.kallsyms]_stext" :
				    "[kernel.kallsyms]",
			 start, end - start, k->text || k->stext ? start : 0, notes);
}

static void put_module(const struct job *j, const struct ptc_kmodule *mod)
{
	char file[PATH_SIZE], notes[PATH_SIZE];

	module_file(j, mod, file, sizeof(file));
	(void)snprintf(notes, sizeof(notes), "%s/sys/module/%.*s/notes/.note.gnu.build-id",
		       j->m->root, (int)mod->name_len, mod->name);
	put_kernel_mmap2(j, file, mod->addr, mod->size, 0, notes);
}

int ptc_kernelmap_put(struct ptc_buf *b, const struct ptc_kernelmap *m, struct ptc_err *err)
{
	struct job j = { .m = m, .out = b, .dep = PTC_BUF_INIT };
	struct ptc_kallsyms k;
	size_t i;
	int rc = ptc_kallsyms_read(&k, m->root, err);

	if (rc)
		return rc;
	read_release(&j);
	read_dep(&j);
	put_kernel(&j, &k);
	for (i = 0; i < k.nmods; i++)
		put_module(&j, &k.mods[i]);
	ptc_buf_release(&j.dep);
	ptc_kallsyms_release(&k);
	return ptc_buf_failed(b) ? ptc_fail_mem(err) : 0;
}
