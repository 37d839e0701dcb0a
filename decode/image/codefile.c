/* SPDX-License-Identifier: MIT */
#include "decode/image/codefile.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/elf/symtab.h"
#include "decode/image/own_vdso.h"
#include "decode/image/used_pages.h"

enum { PAGE = 4096, FIRST_SLOTS = 64 };

static void file_free(struct ptc_codefile *f)
{
	if (!f)
		return;
	ptc_symtab_free(f->syms);
	free(f->saved_image);
	if (f->mapped)
		(void)munmap(f->mapped, f->len);
	ptc_codepiece_release(&f->piece);
	free(f->pages);
	free(f->used_pages);
	free(f->other_path);
	free(f->path);
	free(f->name);
	free(f);
}

void ptc_codefiles_release(struct ptc_codefiles *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		file_free(s->files[i]);
	free(s->files);
	free(s->slots);
	ptc_code_memfd_release(&s->mem);
	ptc_search_release(&s->search);
	ptc_omitted_data_release(&s->left);
	memset(s, 0, sizeof(*s));
}

struct ptc_codefile *ptc_codefiles_new(struct ptc_codefiles *s, const char *name)
{
	struct ptc_codefile *f;

	if (!ptc_grow(&s->files, &s->cap, s->n + 1, sizeof(void *)))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->name = strdup(name);
	if (!f->name) {
		free(f);
		return NULL;
	}
	f->store = s;
	s->files[s->n++] = f;
	return f;
}

/* The key that distinguishes files. */
struct key {
	const char *name;
	struct ptc_build_id id;
	struct ptc_file_mark mark; /* if there is no id */
};

static uint64_t hash(const struct key *k)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; k->name[i]; i++)
		h = (h ^ (uint8_t)k->name[i]) * 0x100000001b3u;
	for (i = 0; i < k->id.len; i++)
		h = (h ^ k->id.bytes[i]) * 0x100000001b3u;
	h = (h ^ k->mark.ino) * 0x100000001b3u;
	h = (h ^ ((uint64_t)k->mark.maj << 32 | k->mark.min)) * 0x100000001b3u;
	return h ^ h >> 32;
}

static bool is_same_mark(const struct ptc_file_mark *a, const struct ptc_file_mark *b)
{
	return a->ino == b->ino && a->maj == b->maj && a->min == b->min && a->low == b->low;
}

static bool is_file(const struct ptc_codefile *f, const struct key *k)
{
	return f->id.len == k->id.len && !memcmp(f->id.bytes, k->id.bytes, k->id.len) &&
	       is_same_mark(&f->mark, &k->mark) && !strcmp(f->name, k->name);
}

/* Returns the slot of a file, or the free slot where it belongs. */
static size_t *find_codefile_slot(const struct ptc_codefiles *s, const struct key *k)
{
	size_t i = hash(k) & (s->nslots - 1);

	while (s->slots[i] && !is_file(s->files[s->slots[i] - 1], k))
		i = (i + 1) & (s->nslots - 1);
	return &s->slots[i];
}

/* Keep half of the slots free: a file has at most one. */
static bool grow_slots(struct ptc_codefiles *s)
{
	const size_t nslots = s->nslots, n = nslots ? nslots * 2 : FIRST_SLOTS;
	size_t *old = s->slots, *slots;
	size_t i;

	if ((s->n + 1) * 2 <= nslots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	s->slots = slots;
	s->nslots = n;
	for (i = 0; i < nslots; i++) {
		const struct ptc_codefile *f = old[i] ? s->files[old[i] - 1] : NULL;

		if (f)
			*find_codefile_slot(s, &(struct key){ f->name, f->id, f->mark }) = old[i];
	}
	free(old);
	return true;
}

/* Allocate the bytes and the page bitmap for @len bytes, all of which are yet to be read. */
static bool make_room(struct ptc_codefiles *s, struct ptc_codefile *f, uint64_t len)
{
	/* First the piece: its limits are checked before memory is allocated. */
	if (!ptc_code_memfd_new(&s->mem, len, &f->piece))
		return false;
	f->pages = calloc(ptc_used_pages_words(len), sizeof(*f->pages));
	if (!f->pages || (s->note_used && !ptc_used_pages_make(f, len))) {
		free(f->pages);
		f->pages = NULL;
		ptc_codepiece_release(&f->piece);
		return false;
	}
	f->bytes = f->piece.bytes;
	f->len = f->piece.len;
	return true;
}

/* Moves the file of @found to @f, if there is space for its bytes. Releases @found. */
static void move_found_file(struct ptc_codefiles *s, struct ptc_codefile *f,
			    struct ptc_found *found)
{
	struct stat st;

	if (found->other) {
		f->other_path = found->other_path;
		f->other_id = found->is_id;
		found->other_path = NULL;
	}
	f->special |= found->special;
	if (found->fd >= 0 && !fstat(found->fd, &st) && make_room(s, f, found->len)) {
		f->from = PTC_CODE_FILE;
		f->path = found->path;
		f->root = found->root;
		f->assumed = found->assumed;
		f->bundled = found->bundled;
		f->member = found->member;
		f->partial = f->bundled &&
			     ptc_bundle_manifest(s->search.bundle)->members[f->member].partial;
		found->path = NULL;
		f->dev = st.st_dev;
		f->ino = st.st_ino;
		f->mtime_s = st.st_mtim.tv_sec;
		f->mtime_ns = st.st_mtim.tv_nsec;
	}
	ptc_found_release(found);
}

/* Drops the file that was found by name only: it is not the recorded one. */
static void drop_assumed(struct ptc_codefile *f)
{
	ptc_codepiece_release(&f->piece);
	free(f->pages);
	free(f->used_pages);
	f->pages = f->used_pages = NULL;
	f->bytes = NULL;
	f->len = 0;
	f->from = PTC_CODE_NONE;
	f->assumed = f->unreadable = f->changed = f->bundled = f->partial = false;
	free(f->other_path);
	f->other_path = f->path;
	f->path = NULL;
}

/* On overlayfs and btrfs, stat(2) may give another inode number than the mapping. */
static bool inode_is_sure(const struct ptc_codefile *f)
{
	struct statfs fs;

	return !statfs(f->path, &fs) && fs.f_type != OVERLAYFS_SUPER_MAGIC &&
	       fs.f_type != BTRFS_SUPER_MAGIC;
}

/* Was the file found by name only, and was another inode recorded on the machine of the file? */
static bool is_another(const struct ptc_codefile *f)
{
	if (f->bundled) {
		const struct ptc_member *m =
			&ptc_bundle_manifest(f->store->search.bundle)->members[f->member];

		return m->ino && f->mark.ino && m->ino != f->mark.ino;
	}
	return f->store->at_home && f->from == PTC_CODE_FILE && f->assumed && f->mark.ino &&
	       f->ino != f->mark.ino && inode_is_sure(f);
}

int ptc_codefile_reopen(const struct ptc_codefile *f)
{
	const struct ptc_untrusted how = { .root = f->root };
	struct ptc_err err;
	struct stat st;
	uint64_t len;
	int fd;

	if (!f->path)
		return -1;
	if (f->bundled) {
		fd = ptc_bundle_member_fd(f->store->search.bundle, f->member, &err);
		return fd < 0 ? -1 : fd;
	}
	fd = ptc_search_open(f->path, &how, &len, &err);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_dev == f->dev && st.st_ino == f->ino && len == f->len &&
	    st.st_mtim.tv_sec == f->mtime_s && st.st_mtim.tv_nsec == f->mtime_ns)
		return fd;
	(void)close(fd);
	return -1;
}

/*
 * Acquire load: pairs with set_pages, so the bytes of a page are visible with its bit. Threads may
 * look at pages while others are being read.
 */
static uint64_t word_of(const struct ptc_codefile *f, uint64_t page)
{
	return __atomic_load_n(&f->pages[page / 64], __ATOMIC_ACQUIRE);
}

static bool have_page(const struct ptc_codefile *f, uint64_t page)
{
	return word_of(f, page) >> (page % 64) & 1;
}

static void set_pages(struct ptc_codefile *f, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		(void)__atomic_fetch_or(&f->pages[from / 64], (uint64_t)1 << (from % 64),
					__ATOMIC_RELEASE);
}

static bool is_zero_page(const struct ptc_codefile *f, uint64_t page)
{
	static const uint8_t zeros[PAGE];
	const uint64_t off = page * PAGE, left = f->len - off;

	return !memcmp(f->bytes + off, zeros, left < PAGE ? (size_t)left : PAGE);
}

/* Set the pages of a partial file that the bundle has. Code is never a page of zeros. */
static void set_present_pages(struct ptc_codefile *f, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		if (!is_zero_page(f, from))
			set_pages(f, from, from + 1);
}

void ptc_codefile_fill(struct ptc_codefile *f, uint64_t off, uint64_t len)
{
	struct ptc_codefiles *s = f->store;
	uint64_t page, end, to, n;
	int fd = -1;

	if (f->from != PTC_CODE_FILE || !f->pages || s->look_only || f->unreadable || !len ||
	    off >= f->len)
		return;
	if (len > f->len - off)
		len = f->len - off;
	end = (off + len - 1) / PAGE + 1;
	for (page = off / PAGE; page < end; page = to) {
		to = page + 1;
		if (have_page(f, page))
			continue;
		while (to < end && !have_page(f, to))
			to++;
		if (fd < 0)
			fd = ptc_codefile_reopen(f);
		n = (to * PAGE < f->len ? to * PAGE : f->len) - page * PAGE;
		if (fd < 0 ||
		    !ptc_code_memfd_read(&s->mem, &f->piece, page * PAGE, n, fd, page * PAGE)) {
			f->unreadable = true;
			f->changed = fd < 0;
			break;
		}
		if (f->partial)
			set_present_pages(f, page, to);
		else
			set_pages(f, page, to);
	}
	if (fd < 0)
		return;
	(void)close(fd);
	ptc_code_memfd_settle(&s->mem);
}

bool ptc_codefile_supply(struct ptc_codefile *f, uint64_t size, uint64_t off, uint64_t len, int fd,
			 uint64_t src)
{
	struct ptc_codefiles *s = f->store;
	bool ok;

	if (f->bytes && f->from != PTC_CODE_CORE)
		return false;
	if (!f->bytes && !make_room(s, f, size))
		return false;
	f->from = PTC_CODE_CORE;
	if (off % PAGE || off >= f->len || len > f->len - off || (len % PAGE && off + len < f->len))
		return false;
	if (s->look_only || ptc_codefile_has(f, off, len) == len)
		return true;
	ok = ptc_code_memfd_read(&s->mem, &f->piece, off, len, fd, src);
	if (ok)
		set_pages(f, off / PAGE, (off + len + PAGE - 1) / PAGE);
	ptc_code_memfd_settle(&s->mem);
	return ok;
}

bool ptc_codefile_give(struct ptc_codefile *f, uint64_t size, uint64_t off, const uint8_t *bytes,
		       size_t len)
{
	struct ptc_codefiles *s = f->store;
	bool ok;

	if (f->from == PTC_CODE_FILE && f->assumed)
		drop_assumed(f);
	if (f->bytes && f->from != PTC_CODE_SAVED)
		return f->from == PTC_CODE_FILE;
	if (!f->bytes && (!size || !make_room(s, f, size)))
		return false;
	f->from = PTC_CODE_SAVED;
	if (off % PAGE || off >= f->len || len > f->len - off || (len % PAGE && off + len < f->len))
		return false;
	if (s->look_only || ptc_codefile_has(f, off, len) == len)
		return true;
	ok = ptc_code_memfd_put(&s->mem, &f->piece, off, bytes, len);
	if (ok)
		set_pages(f, off / PAGE, (off + len + PAGE - 1) / PAGE);
	ptc_code_memfd_settle(&s->mem);
	return ok;
}

size_t ptc_codefile_has(const struct ptc_codefile *f, uint64_t off, uint64_t len)
{
	uint64_t page, end;

	if (!f->bytes || off >= f->len)
		return 0;
	if (len > f->len - off)
		len = f->len - off;
	if (!f->pages || !len)
		return (size_t)len;
	end = off + len;
	for (page = off / PAGE; page * PAGE < end;) {
		if (page % 64 == 0 && word_of(f, page) == UINT64_MAX)
			page += 64;
		else if (have_page(f, page))
			page++;
		else
			return page * PAGE > off ? (size_t)(page * PAGE - off) : 0;
	}
	return (size_t)len;
}

/* Use perf's copy, by build-id; else the running kernel's vdso, if the releases are the same. */
static void find_vdso(struct ptc_codefiles *s, struct ptc_codefile *f)
{
	struct ptc_build_id own_id;
	struct ptc_found found;
	const uint8_t *own;
	size_t len;

	/* Without a build-id, the only vdso in a bundle is that of 64-bit processes. */
	found = (struct ptc_found){ .fd = -1 };
	if (f->id.len || !f->mark.low)
		ptc_search_cache(&s->search, &f->id, "vdso", &found);
	move_found_file(s, f, &found);
	/* Our vdso is for 64-bit processes. */
	if (f->bytes || f->mark.low || !ptc_search_same_release(&s->search))
		return;
	own = ptc_vdso_self(&len);
	if (!own)
		return;
	(void)ptc_elf_build_id(own, len, &own_id);
	if (f->id.len && !ptc_build_id_same(&f->id, &own_id)) {
		f->other_path = strdup("the vdso of the running kernel");
		f->other_id = own_id;
		return;
	}
	f->from = PTC_CODE_OWN;
	f->assumed = !f->id.len;
	f->bytes = own;
	f->len = len;
}

/*
 * Returns the object of @name, @id and @mark (NULL: unknown). *ret_new: it was created now. NULL:
 * out of memory.
 */
static struct ptc_codefile *get_codefile(struct ptc_codefiles *s, const char *name,
					 const struct ptc_build_id *id,
					 const struct ptc_file_mark *mark, bool *ret_new)
{
	struct key k = { .name = name };
	struct ptc_codefile *f;
	size_t *slot;

	if (id)
		k.id = *id;
	if (!k.id.len && mark)
		k.mark = *mark;
	*ret_new = false;
	if (!grow_slots(s))
		return NULL;
	slot = find_codefile_slot(s, &k);
	if (*slot)
		return s->files[*slot - 1];
	f = ptc_codefiles_new(s, name);
	if (!f)
		return NULL;
	f->id = k.id;
	f->mark = k.mark;
	*slot = s->n;
	*ret_new = true;
	return f;
}

struct ptc_codefile *ptc_codefiles_get(struct ptc_codefiles *s, const char *name,
				       const struct ptc_build_id *id, int32_t pid)
{
	return ptc_codefiles_get_mapped(s, name, id, NULL, pid);
}

struct ptc_codefile *ptc_codefiles_get_mapped(struct ptc_codefiles *s, const char *name,
					      const struct ptc_build_id *id,
					      const struct ptc_file_mark *mark, int32_t pid)
{
	struct ptc_codefile *f;
	struct ptc_found found;
	bool is_new;

	f = get_codefile(s, name, id, mark, &is_new);
	if (!f || !is_new)
		return f;
	if (name[0] == '/' && name[1] != '/') {
		ptc_search_file(&s->search, name, &f->id, pid, &found);
		move_found_file(s, f, &found);
		if (is_another(f))
			drop_assumed(f);
		if (!f->bytes && s->search.web) {
			ptc_search_web(&s->search, &f->id, &found);
			move_found_file(s, f, &found);
		}
	} else if (!strcmp(name, "[vdso]")) {
		find_vdso(s, f);
	} else {
		f->anonymous = true;
	}
	return f;
}

struct ptc_codefile *ptc_codefiles_absent(struct ptc_codefiles *s, const char *name,
					  const struct ptc_build_id *id)
{
	bool is_new;
	struct ptc_codefile *f = get_codefile(s, name, id, NULL, &is_new);

	if (f && is_new)
		f->kernel = true;
	return f;
}

struct ptc_codefile *ptc_codefiles_add_found(struct ptc_codefiles *s, const char *name,
					     const struct ptc_build_id *id, struct ptc_found *found)
{
	struct ptc_codefile *f = ptc_codefiles_new(s, name);

	if (!f) {
		ptc_found_release(found);
		return NULL;
	}
	f->id = *id;
	f->kernel = true;
	move_found_file(s, f, found);
	return f;
}

struct ptc_codefile *ptc_codefiles_add_bytes(struct ptc_codefiles *s, const char *name,
					     const void *bytes, size_t len)
{
	struct ptc_codefile *f = ptc_codefiles_new(s, name);

	if (!f)
		return NULL;
	f->from = PTC_CODE_GIVEN;
	f->bytes = bytes;
	f->len = len;
	return f;
}

int ptc_codefiles_open(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		       struct ptc_err *err)
{
	struct ptc_codefile *f = ptc_codefiles_new(s, path);
	struct ptc_found found = { .fd = -1 };
	uint64_t len;

	if (!f)
		return ptc_fail_mem(err);
	found.fd = ptc_search_open(path, &(struct ptc_untrusted){ .root = 0 }, &len, err);
	if (found.fd < 0)
		return found.fd;
	found.len = len;
	found.path = strdup(path);
	move_found_file(s, f, &found);
	if (!f->path)
		return ptc_fail_mem(err);
	*ret = f;
	return 0;
}

int ptc_codefiles_map(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		      struct ptc_err *err)
{
	struct ptc_codefile *f = ptc_codefiles_new(s, path);
	uint64_t len;
	int fd, sys;
	void *p;

	if (!f)
		return ptc_fail_mem(err);
	fd = ptc_search_open(path, &(struct ptc_untrusted){ .root = 0 }, &len, err);
	if (fd < 0)
		return fd;
	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	sys = errno;
	(void)close(fd);
	if (p == MAP_FAILED)
		return ptc_fail_sys(err, sys, "cannot read '%s'", path);
	f->from = PTC_CODE_GIVEN;
	f->mapped = p;
	f->bytes = p;
	f->len = len;
	*ret = f;
	return 0;
}
