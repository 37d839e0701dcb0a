/* SPDX-License-Identifier: MIT */
#include "decode/codefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "decode/grow.h"
#include "decode/symbol.h"
#include "decode/vdso.h"

static void file_free(struct ptc_codefile *f)
{
	if (!f)
		return;
	ptc_symtab_free(f->syms);
	free(f->saved);
	if (f->mapped)
		(void)munmap((void *)(uintptr_t)f->bytes, f->len);
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
	s->files = NULL;
	s->n = s->cap = 0;
}

static struct ptc_codefile *add(struct ptc_codefiles *s, const char *name)
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
	s->files[s->n++] = f;
	return f;
}

/* These return 0 or an errno value. */
static int check_file(int fd, size_t *ret_len)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	*ret_len = (size_t)st.st_size;
	return st.st_size ? 0 : ENODATA;
}

static int map_fd(struct ptc_codefile *f, int fd, const char *path)
{
	size_t len = 0;
	int sys = check_file(fd, &len);
	char *copy;
	void *p;

	if (sys)
		return sys;
	copy = strdup(path);
	if (!copy)
		return ENOMEM;
	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		sys = errno;
		free(copy);
		return sys;
	}
	f->path = copy;
	f->bytes = p;
	f->len = len;
	f->mapped = true;
	return 0;
}

static int map_file(struct ptc_codefile *f, const char *path)
{
	int fd, sys;

	/* Recorded names can be anything: a FIFO must not block us. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	sys = map_fd(f, fd, path);
	(void)close(fd);
	return sys;
}

static void unmap_file(struct ptc_codefile *f)
{
	(void)munmap((void *)(uintptr_t)f->bytes, f->len);
	free(f->path);
	f->path = NULL;
	f->bytes = NULL;
	f->len = 0;
	f->mapped = false;
}

/* perf pads shorter ids to 20 bytes with zeros: what both have must agree, the rest be zero. */
static bool same_id(const struct ptc_build_id *a, const struct ptc_build_id *b)
{
	const size_t n = a->len < b->len ? a->len : b->len;
	const struct ptc_build_id *longer = a->len > b->len ? a : b;
	size_t i;

	if (memcmp(a->bytes, b->bytes, n) != 0)
		return false;
	for (i = n; i < longer->len; i++)
		if (longer->bytes[i])
			return false;
	return n != 0;
}

static bool bytes_have_id(const void *bytes, size_t len, const struct ptc_build_id *want)
{
	struct ptc_build_id id = { .len = 0 };

	if (!want->len)
		return true;
	return ptc_elf_build_id(bytes, len, &id) == 1 && same_id(&id, want);
}

static bool try_file(struct ptc_codefile *f, const char *path)
{
	if (map_file(f, path))
		return false;
	if (bytes_have_id(f->bytes, f->len, &f->id))
		return true;
	unmap_file(f);
	return false;
}

/* perf's cache: ~/.debug/.build-id/xx/yyyy.../elf, or vdso. */
static bool try_cache(struct ptc_codefile *f, const char *leaf)
{
	const char *home = getenv("HOME");
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	char *path;
	bool ok;

	if (!home || !f->id.len)
		return false;
	ptc_build_id_hex(&f->id, hex);
	if (asprintf(&path, "%s/.debug/.build-id/%.2s/%s/%s", home, hex, hex + 2, leaf) < 0)
		return false;
	ok = try_file(f, path);
	free(path);
	return ok;
}

static void find_bytes(struct ptc_codefile *f)
{
	size_t len;

	if (f->name[0] == '/') {
		if (!try_file(f, f->name))
			(void)try_cache(f, "elf");
		return;
	}
	if (strcmp(f->name, "[vdso]") != 0 || try_cache(f, "vdso"))
		return;
	/* The kernel's is the same for every process of a boot: ours will do if nothing says no. */
	f->bytes = ptc_vdso_self(&len);
	f->len = f->bytes ? len : 0;
	if (f->bytes && !bytes_have_id(f->bytes, f->len, &f->id)) {
		f->bytes = NULL;
		f->len = 0;
	}
}

struct ptc_codefile *ptc_codefiles_get(struct ptc_codefiles *s, const char *name,
				       const struct ptc_build_id *id)
{
	const struct ptc_build_id none = { .len = 0 };
	struct ptc_codefile *f;
	size_t i;

	if (!id)
		id = &none;
	for (i = 0; i < s->n; i++) {
		f = s->files[i];
		if (f->id.len == id->len && !memcmp(f->id.bytes, id->bytes, id->len) &&
		    !strcmp(f->name, name))
			return f;
	}
	f = add(s, name);
	if (!f)
		return NULL;
	f->id = *id;
	find_bytes(f);
	return f;
}

struct ptc_codefile *ptc_codefiles_add_bytes(struct ptc_codefiles *s, const char *name,
					     const void *bytes, size_t len)
{
	struct ptc_codefile *f = add(s, name);

	if (!f)
		return NULL;
	/* Not to be found by ptc_codefiles_get: an id that no file has. */
	f->id.len = 1;
	f->bytes = bytes;
	f->len = len;
	return f;
}

int ptc_codefiles_open(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		       struct ptc_err *err)
{
	struct ptc_codefile *f = add(s, path);
	int sys;

	if (!f)
		return ptc_fail_mem(err);
	sys = map_file(f, path);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot read code from '%s'", path);
	*ret = f;
	return 0;
}
