/* SPDX-License-Identifier: MIT */
#include "decode/image/kernel.h"

#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/untrusted.h"
#include "decode/elf/elf_memory.h"
#include "decode/image/codefile.h"
#include "decode/image/core.h"

#include <linux/perf_event.h>

static const char image_name[] = "[kernel.kallsyms]";

void ptc_kernel_release(struct ptc_kernel *k)
{
	ptc_addrspace_release(&k->brought);
	ptc_core_free(k->kcore);
	ptc_text_symbols_release(&k->names);
	ptc_text_symbols_release(&k->live);
	ptc_bpf_release(&k->bpf);
	free(k->segs);
	memset(k, 0, sizeof(*k));
}

bool ptc_kernel_is_image(const char *name)
{
	return !strncmp(name, image_name, sizeof(image_name) - 1);
}

static int read_kallsyms(struct ptc_kernel *k, const char *dir, struct ptc_untrusted how,
			 struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct stat st;
	bool ok = true;
	char *path;

	how.max = PTC_KALLSYMS_MAX;

	if (asprintf(&path, "%s/kallsyms", dir) < 0)
		return ptc_fail_mem(err);
	/* The file may be missing. Then there are no names, and boots cannot be compared. */
	if (!ptc_untrusted_read(path, &how, &b, &st, err))
		ok = ptc_text_symbols_kallsyms(&k->names, (const char *)b.bytes);
	ptc_text_symbols_sort(&k->names);
	ptc_buf_release(&b);
	free(path);
	return ok ? 0 : ptc_fail_mem(err);
}

static int open_kcore(struct ptc_kernel *k, const char *path, const struct ptc_untrusted *how,
		      struct ptc_err *err)
{
	struct stat st;
	char *file;
	int r;

	if (!how->root && (stat(path, &st) || !S_ISDIR(st.st_mode)))
		return ptc_core_open(path, how, &k->kcore, err);
	if (asprintf(&file, "%s/kcore", path) < 0)
		return ptc_fail_mem(err);
	r = ptc_core_open(file, how, &k->kcore, err);
	free(file);
	return r < 0 ? r : read_kallsyms(k, path, *how, err);
}

static void find_text(struct ptc_kernel *k, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = ptc_elf_memory_data(scn);
	const char *name;
	GElf_Sym sym;
	int i;

	for (i = 0; data && !k->text && gelf_getsym(data, i, &sym); i++) {
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (name && !strcmp(name, "_text"))
			k->text = sym.st_value;
	}
}

static bool read_segments(struct ptc_kernel *k, Elf *elf)
{
	GElf_Phdr ph;
	size_t n, i;

	if (elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (!ptc_grow(&k->segs, &k->segs_cap, k->nsegs + 1, sizeof(*k->segs)))
			return false;
		k->segs[k->nsegs++] =
			(struct ptc_kernel_segment){ ph.p_vaddr, ph.p_offset, ph.p_filesz };
	}
	return true;
}

static int read_vmlinux(struct ptc_kernel *k, struct ptc_err *err)
{
	const int fd = ptc_codefile_reopen(k->vmlinux);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	bool ok;
	Elf *elf;

	(void)elf_version(EV_CURRENT);
	elf = ptc_elf_memory_has(fd, PTC_ELF_MEMORY_NAMES, k->vmlinux->name,
				 k->vmlinux->store->search.left) ?
		      elf_begin(fd, ELF_C_READ, NULL) :
		      NULL;
	ok = !elf || read_segments(k, elf);
	while (elf && (scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			find_text(k, elf, scn, &sh);
	(void)elf_end(elf);
	if (fd >= 0)
		(void)close(fd);
	return ok ? 0 : ptc_fail_mem(err);
}

/* Search where distributions put vmlinux, by build-id only. */
static bool find_usual(const struct ptc_codefiles *files, const struct ptc_build_id *id,
		       struct ptc_found *ret)
{
	/* The parts of the path in front of the release and behind it. */
	static const char *const places[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/boot/vmlinux-", "" },
		{ "/lib/modules/", "/build/vmlinux" },
		{ "/usr/lib/modules/", "/vmlinux" },
	};
	const struct ptc_search *s = &files->search;
	char *path;
	size_t i;

	ptc_search_cache(s, id, "elf", ret);
	for (i = 0; i < sizeof(places) / sizeof(places[0]) && ret->fd < 0; i++) {
		if (!id->len || !s->osrelease || strchr(s->osrelease, '/'))
			return false;
		ptc_found_release(ret);
		if (asprintf(&path, "%s%s%s", places[i][0], s->osrelease, places[i][1]) < 0)
			return false;
		ptc_search_file(s, path, id, -1, ret);
		free(path);
	}
	if (ret->fd < 0 && !ret->other && s->web) {
		ptc_found_release(ret);
		ptc_search_web(s, id, ret);
	}
	return ret->fd >= 0;
}

static int open_vmlinux(struct ptc_kernel *k, struct ptc_codefiles *files, const char *path,
			const struct ptc_build_id *id, struct ptc_err *err)
{
	struct ptc_found found;

	if (path)
		ptc_search_path(path, id, &found);
	else if (!find_usual(files, id, &found))
		ptc_found_release(&found);
	if (path && found.fd < 0 && !found.other) {
		*err = found.why;
		return err->code;
	}
	if (found.fd < 0 && !found.other)
		return 0;
	k->vmlinux = ptc_codefiles_add_found(files, image_name, id, &found);
	if (!k->vmlinux)
		return ptc_fail_mem(err);
	return k->vmlinux->bytes ? read_vmlinux(k, err) : 0;
}

/* Map what kcore has of [start, end). */
static bool map_kcore(struct ptc_kernel *k, struct ptc_addrspace *as, struct ptc_codefiles *files,
		      const char *name, uint64_t start, uint64_t end)
{
	struct ptc_codefile *file;
	uint64_t n, off;

	while (start < end) {
		n = ptc_core_code(k->kcore, files, name, start, end - start, &file, &off);
		if (n && !ptc_addrspace_map(as, start, n, off, file))
			return false;
		if (!n)
			n = ptc_core_next(k->kcore, start) - start;
		if (!n || n > end - start)
			break;
		start += n;
	}
	return true;
}

/* Map all of a kcore that came with the recording: it has code only, of the recorded kernel. */
static int map_brought(struct ptc_kernel *k, struct ptc_codefiles *files, struct ptc_err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < k->kcore->nloads; i++) {
		const struct ptc_core_load l = k->kcore->loads[i];

		if (l.addr >> 63 &&
		    !map_kcore(k, &k->brought, files, image_name, l.addr, l.addr + l.len))
			r = ptc_fail_mem(err);
	}
	return r;
}

static int take_brought(struct ptc_kernel *k, struct ptc_codefiles *files, const char *dir,
			struct ptc_err *err)
{
	/* The root is the recording's folder, which contains @dir. */
	const struct ptc_untrusted how = { .root = (size_t)(strrchr(dir, '/') - dir) };
	const int r = open_kcore(k, dir, &how, err);

	return r ? r : map_brought(k, files, err);
}

/* Read the kallsyms that is a member of @bundle, if there is one. */
static int take_bundled_names(struct ptc_kernel *k, const struct ptc_bundle *bundle,
			      struct ptc_err *err)
{
	const size_t i = ptc_manifest_find_kind(ptc_bundle_manifest(bundle), PTC_MEMBER_KALLSYMS);
	struct ptc_cur bytes;
	struct ptc_buf text = PTC_BUF_INIT;
	bool ok;

	if (i == SIZE_MAX)
		return 0;
	bytes = ptc_bundle_bytes(bundle, i);
	if (ptc_cur_left(&bytes) > PTC_KALLSYMS_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "kallsyms of the bundle has more than %d bytes",
				PTC_KALLSYMS_MAX);
	ptc_buf_put(&text, bytes.pos, ptc_cur_left(&bytes));
	ptc_buf_u8(&text, 0);
	ok = !ptc_buf_failed(&text) &&
	     ptc_text_symbols_kallsyms(&k->names, (const char *)text.bytes);
	ptc_text_symbols_sort(&k->names);
	ptc_buf_release(&text);
	return ok ? 0 : ptc_fail_mem(err);
}

/* Use the kcore that is a member of @bundle, if there is one. */
static int take_bundled(struct ptc_kernel *k, struct ptc_codefiles *files,
			struct ptc_bundle *bundle, struct ptc_err *err)
{
	const struct ptc_manifest *m = ptc_bundle_manifest(bundle);
	const size_t i = ptc_manifest_find_kind(m, PTC_MEMBER_KCORE);
	char name[PTC_MANIFEST_NAME_SIZE];
	int fd, r;

	if (i == SIZE_MAX)
		return 0;
	fd = ptc_bundle_member_fd(bundle, i, err);
	if (fd < 0)
		return fd;
	ptc_manifest_name(m, i, name);
	r = ptc_core_open_fd(fd, m->members[i].size, name, &k->kcore, err);
	if (!r)
		r = take_bundled_names(k, bundle, err);
	return r ? r : map_brought(k, files, err);
}

int ptc_kernel_init(struct ptc_kernel *k, struct ptc_codefiles *files,
		    const struct ptc_code_opts *opts, const struct ptc_build_id *id,
		    const char *kcore_dir, struct ptc_err *err)
{
	const char *vmlinux = opts ? opts->vmlinux : NULL;
	int r = 0;

	if (opts && opts->kcore)
		r = open_kcore(k, opts->kcore, &(struct ptc_untrusted){ .kernel = true }, err);
	else if (kcore_dir && !vmlinux)
		r = take_brought(k, files, kcore_dir, err);
	else if (files->search.bundle && !vmlinux)
		r = take_bundled(k, files, files->search.bundle, err);
	if (!r && !k->kcore)
		r = open_vmlinux(k, files, vmlinux, id, err);
	return r;
}

void ptc_kernel_begin(const struct ptc_kernel *k, struct ptc_kernel_maps *maps)
{
	ptc_addrspace_clear(&maps->as);
	ptc_addrspace_clear(&maps->modules);
	if (k->brought.ranges.root)
		ptc_addrspace_copy(&maps->as, &k->brought);
}

static void copy_space(const struct ptc_addrspace *from, struct ptc_addrspace *to)
{
	ptc_addrspace_copy(to, from);
	to->version = from->version;
	to->layout = from->layout;
	memcpy(to->changes, from->changes, sizeof(to->changes));
}

void ptc_kernel_maps_copy(struct ptc_kernel_maps *maps, const struct ptc_kernel_maps *from)
{
	maps->other_boot = from->other_boot;
	copy_space(&from->as, &maps->as);
	copy_space(&from->modules, &maps->modules);
}

void ptc_kernel_maps_release(struct ptc_kernel_maps *maps)
{
	ptc_addrspace_release(&maps->as);
	ptc_addrspace_release(&maps->modules);
}

/*
 * Was kcore copied while the recorded kernel ran? Compares the address of the symbol in the name.
 */
static bool is_same_boot(const struct ptc_kernel *k, const struct ptc_sb_mmap *m)
{
	const char *symbol = strchr(m->filename, ']');
	const uint64_t addr = symbol ? ptc_text_symbols_addr(&k->names, symbol + 1) : 0;

	return !addr || addr == m->pgoff;
}

static bool map_vmlinux(struct ptc_kernel *k, struct ptc_kernel_maps *maps,
			const struct ptc_sb_mmap *m)
{
	const uint64_t moved = m->pgoff - k->text;
	size_t i;

	if (!k->text || !m->pgoff) {
		k->unplaced = true;
		return true;
	}
	for (i = 0; i < k->nsegs; i++)
		if (!ptc_addrspace_map(&maps->as, k->segs[i].addr + moved, k->segs[i].len,
				       k->segs[i].off, k->vmlinux))
			return false;
	return true;
}

bool ptc_kernel_mmap(struct ptc_kernel *k, struct ptc_kernel_maps *maps,
		     struct ptc_codefiles *files, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id)
{
	const bool image = ptc_kernel_is_image(m->filename);
	const char *name = image ? image_name : m->filename;
	struct ptc_codefile *file;
	uint64_t end;

	if (!k->wanted)
		return true;
	if (__builtin_add_overflow(m->addr, m->len, &end))
		end = UINT64_MAX;
	file = image && k->vmlinux ? k->vmlinux : ptc_codefiles_absent(files, name, id);
	if (!file)
		return false;
	if (!file->bytes && !ptc_addrspace_map(&maps->as, m->addr, m->len, m->pgoff, file))
		return false;
	if (!image && !ptc_addrspace_map(&maps->modules, m->addr, m->len, 0, file))
		return false;
	if (image && k->kcore)
		maps->other_boot = !is_same_boot(k, m);
	if (k->kcore && !maps->other_boot) {
		file->in_core = true;
		return map_kcore(k, &maps->as, files, name, m->addr, end);
	}
	return !image || !k->vmlinux || !k->vmlinux->bytes || map_vmlinux(k, maps, m);
}

static bool is_gone(const struct ptc_sb_ksymbol *s)
{
	return s->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
}

bool ptc_kernel_name(struct ptc_kernel *k, const struct ptc_sb_ksymbol *s, uint64_t time)
{
	return ptc_text_symbols_add(&k->live, s->addr, s->len ? s->len : 1, time, s->name,
				    is_gone(s) ? 0 : strlen(s->name));
}

bool ptc_kernel_ksymbol(struct ptc_kernel *k, struct ptc_kernel_maps *maps,
			struct ptc_codefiles *files, const struct ptc_sb_ksymbol *s)
{
	struct ptc_codefile *f;
	uint64_t end;

	if (!k->wanted || !s->len || !(s->addr >> 63) ||
	    __builtin_add_overflow(s->addr, s->len, &end))
		return true;
	if (is_gone(s))
		return ptc_addrspace_map(&maps->as, s->addr, s->len, 0, NULL);
	f = ptc_bpf_file(&k->bpf, files, s);
	if (!f || !ptc_addrspace_map(&maps->as, s->addr, s->len, 0, f))
		return false;
	if (f->bytes || !k->kcore || maps->other_boot)
		return true;
	f->in_core = true;
	return map_kcore(k, &maps->as, files, s->name, s->addr, end);
}
