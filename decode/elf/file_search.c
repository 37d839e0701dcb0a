/* SPDX-License-Identifier: MIT */
#include "decode/elf/file_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/perf_cache.h"
#include "decode/elf/bundle_search.h"
#include "decode/elf/debuginfod.h"
#include "decode/elf/decompress.h"
#include "decode/elf/omitted_data.h"

enum { MODULES_DEP_MAX = 16 << 20 };

int ptc_search_init(struct ptc_search *s, const char *symfs, const char *cache,
		    const char *osrelease, struct ptc_err *err)
{
	memset(s, 0, sizeof(*s));
	s->symfs = symfs && *symfs ? strdup(symfs) : NULL;
	s->cache = cache ? strdup(cache) : ptc_perf_cache_dir();
	s->osrelease = osrelease ? strdup(osrelease) : NULL;
	s->containers = true;
	if ((symfs && *symfs && !s->symfs) || (cache && !s->cache) || (osrelease && !s->osrelease))
		return ptc_fail_mem(err);
	return 0;
}

void ptc_search_release(struct ptc_search *s)
{
	free(s->symfs);
	free(s->cache);
	free(s->osrelease);
	ptc_debuginfod_free(s->web);
	memset(s, 0, sizeof(*s));
}

static void drop_held(struct ptc_found *f)
{
	ptc_budget_drop(f->held);
	f->held = 0;
}

void ptc_found_release(struct ptc_found *f)
{
	drop_held(f);
	if (f->fd >= 0)
		(void)close(f->fd);
	free(f->path);
	free(f->other_path);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

int ptc_search_open(const char *path, const struct ptc_untrusted *how, uint64_t *ret_len,
		    struct ptc_err *err)
{
	struct stat st;
	const int fd = ptc_untrusted_open(path, how, &st, err);

	if (fd < 0)
		return fd;
	*ret_len = (uint64_t)st.st_size;
	if (st.st_size)
		return fd;
	(void)close(fd);
	return ptc_fail_sys(err, ENODATA, "cannot read '%s'", path);
}

/* As ptc_search_open(), and unpacks the file if it is packed. */
static int open_packed(struct ptc_found *f, const char *path, const struct ptc_untrusted *how,
		       uint64_t *ret_len)
{
	int fd = ptc_search_open(path, how, ret_len, &f->why);
	struct ptc_unpacked u;
	bool ok;

	if (fd < 0 || !ptc_is_packed(fd))
		return fd;
	ok = ptc_unpack(fd, *ret_len, &u);
	(void)close(fd);
	if (u.too_large)
		ptc_omitted_data_add(f->left, path, "unpacked form", 0);
	if (!ok)
		return ptc_fail(&f->why, PTC_E_FORMAT, "cannot unpack '%s'", path);
	*ret_len = u.len;
	f->held = u.len;
	return u.fd;
}

static int open_found(struct ptc_found *f, const char *path, size_t root, uint64_t *ret_len)
{
	const struct ptc_untrusted how = { .root = root };
	const int fd = f->unpack ? open_packed(f, path, &how, ret_len) :
				   ptc_search_open(path, &how, ret_len, &f->why);

	if (fd < 0 && f->why.code == PTC_E_UNSUPPORTED)
		f->special = true;
	return fd;
}

/*
 * Takes @path (consumed), whose first @root bytes are its root, if the file has @id. Without an id,
 * only if @by_path.
 */
static bool try_path(struct ptc_found *f, char *path, size_t root, const struct ptc_build_id *id,
		     bool by_path)
{
	struct ptc_build_id is;
	uint64_t len;
	int fd;

	if (!path) {
		f->no_memory = true;
		return false;
	}
	fd = !id->len && !by_path ? -1 : open_found(f, path, root, &len);
	if (fd < 0) {
		free(path);
		return false;
	}
	(void)ptc_elf_build_id_fd(fd, len, &is);
	if (!id->len || ptc_build_id_same(&is, id)) {
		f->fd = fd;
		f->path = path;
		f->root = root;
		f->len = len;
		f->assumed = !id->len;
		return true;
	}
	(void)close(fd);
	drop_held(f);
	if (!f->other && by_path) {
		f->other = true;
		f->is_id = is;
		f->other_path = path;
		return false;
	}
	free(path);
	return false;
}

void ptc_search_path(const char *path, const struct ptc_build_id *id, struct ptc_found *ret)
{
	*ret = (struct ptc_found){ .fd = -1 };
	(void)try_path(ret, strdup(path), 0, id, true);
}

/* Returns @a, @b and @c concatenated. The caller frees the string. */
static char *join(const char *a, const char *b, const char *c)
{
	char *ret;

	return asprintf(&ret, "%s%s%s", a, b, c) < 0 ? NULL : ret;
}

/* .build-id/xx/yyyy is a folder with one file of each sort. In old caches it is the file itself. */
static bool try_cache(const struct ptc_search *s, struct ptc_found *f,
		      const struct ptc_build_id *id, const char *leaf)
{
	const enum ptc_member_kind kind = !strcmp(leaf, "vdso")	 ? PTC_MEMBER_VDSO :
					  !strcmp(leaf, "debug") ? PTC_MEMBER_DEBUG :
								   PTC_MEMBER_CODE;
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	char *path;

	if (ptc_search_bundle(s, f, kind, kind == PTC_MEMBER_VDSO ? "[vdso]" : leaf, id))
		return true;
	if (!s->cache || !id->len)
		return false;
	ptc_build_id_hex(id, hex);
	if (asprintf(&path, "%s/.build-id/%.2s/%s/%s", s->cache, hex, hex + 2, leaf) < 0)
		return false;
	if (try_path(f, path, 0, id, false))
		return true;
	return asprintf(&path, "%s/.build-id/%.2s/%s", s->cache, hex, hex + 2) >= 0 &&
	       try_path(f, path, 0, id, false);
}

void ptc_search_cache(const struct ptc_search *s, const struct ptc_build_id *id, const char *leaf,
		      struct ptc_found *ret)
{
	*ret = (struct ptc_found){ .fd = -1 };
	(void)try_cache(s, ret, id, leaf);
}

void ptc_search_web(const struct ptc_search *s, const struct ptc_build_id *id,
		    struct ptc_found *ret)
{
	char *path = s->web && id->len ? ptc_debuginfod_get(s->web, id, false) : NULL;

	*ret = (struct ptc_found){ .fd = -1 };
	if (path)
		(void)try_path(ret, path, 0, id, false);
}

/* Returns the name without the suffix that the kernel adds for a deleted file. */
static char *plain_name(const char *name)
{
	static const char gone[] = " (deleted)";
	const size_t n = strlen(name), m = sizeof(gone) - 1;

	return strndup(name, n > m && !strcmp(name + n - m, gone) ? n - m : n);
}

static bool try_container(const struct ptc_search *s, struct ptc_found *f, const char *name,
			  const struct ptc_build_id *id, int32_t pid)
{
	char root[32];

	if (!s->containers || pid <= 0 || !id->len)
		return false;
	(void)snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return try_path(f, join(root, name, ""), strlen(root), id, false);
}

static void look_for(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		     int32_t pid, struct ptc_found *ret)
{
	char *plain = plain_name(name);

	if (!plain) {
		ret->no_memory = true;
		return;
	}
	if (ptc_search_bundle(s, ret, PTC_MEMBER_CODE, name, id) ||
	    (!id->len && ptc_search_bundle(s, ret, PTC_MEMBER_DATA, name, id)))
		goto out;
	if (s->symfs &&
	    try_path(ret, join(s->symfs, "/", plain + (*plain == '/')), strlen(s->symfs), id, true))
		goto out;
	/* With --symfs or a bundle, a path on this machine is trusted only with a build-id. */
	if (try_path(ret, join(plain, "", ""), 0, id, !s->symfs && !s->bundle))
		goto out;
	if (!try_container(s, ret, plain, id, pid))
		(void)try_cache(s, ret, id, "elf");
out:
	free(plain);
}

void ptc_search_file(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		     int32_t pid, struct ptc_found *ret)
{
	*ret = (struct ptc_found){ .fd = -1 };
	look_for(s, name, id, pid, ret);
}

/*
 * Finds the module name: "/lib/.../snd-pcm.ko.xz", "[snd_pcm]" -> "snd-pcm", "snd_pcm". Returns its
 * length; 0: no module.
 */
static size_t module_name(const char *recorded, const char **ret)
{
	const char *slash = strrchr(recorded, '/'), *end;

	if (*recorded == '[') {
		*ret = recorded + 1;
		end = strchr(recorded, ']');
		return end && !end[1] && !memchr(*ret, '.', (size_t)(end - *ret)) ?
			       (size_t)(end - *ret) :
			       0;
	}
	*ret = slash ? slash + 1 : recorded;
	end = strstr(*ret, ".ko");
	return *recorded == '/' && end && (!end[3] || end[3] == '.') ? (size_t)(end - *ret) : 0;
}

/* Module names have underscores; their file names have underscores or dashes. */
static bool same_module(const char *a, const char *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
			return false;
	return true;
}

/*
 * Finds the file of module @name in the text of a modules.dep ("FILE: FILE..."). Returns its
 * length, or 0.
 */
static size_t listed_file(const char *text, const char *name, size_t len, const char **ret)
{
	const char *base;
	size_t n, is;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		n = strcspn(text, ":\n");
		base = memrchr(text, '/', n);
		base = base ? base + 1 : text;
		is = n - (size_t)(base - text);
		if (is > len + 2 && !strncmp(base + len, ".ko", 3) &&
		    same_module(base, name, len)) {
			*ret = text;
			return n;
		}
	}
	return 0;
}

/* Tries the file listed for module @name of the recorded release, below @dir in @root. */
static bool try_listed(const struct ptc_search *s, struct ptc_found *f, const char *root,
		       const char *dir, const char *name, size_t len, const struct ptc_build_id *id)
{
	const struct ptc_untrusted how = { .root = strlen(root), .max = MODULES_DEP_MAX };
	struct ptc_buf dep = PTC_BUF_INIT;
	bool found = false;
	struct ptc_err err;
	struct stat st;
	const char *file;
	char *path;
	size_t n;

	if (asprintf(&path, "%s%s%s/modules.dep", root, dir, s->osrelease) < 0)
		return false;
	n = ptc_untrusted_read(path, &how, &dep, &st, &err) ?
		    0 :
		    listed_file((const char *)dep.bytes, name, len, &file);
	free(path);
	if (n && asprintf(&path, "%s%s%s/%.*s", root, dir, s->osrelease, (int)n, file) >= 0)
		found = try_path(f, path, how.root, id, true);
	ptc_buf_release(&dep);
	return found;
}

void ptc_search_module(const struct ptc_search *s, const char *name, const struct ptc_build_id *id,
		       struct ptc_found *ret)
{
	static const char *const dirs[] = { "/lib/modules/", "/usr/lib/modules/" };
	const char *module;
	const size_t len = module_name(name, &module);
	size_t i;

	*ret = (struct ptc_found){ .fd = -1, .unpack = true, .left = s->left };
	if (!len)
		return;
	if (*name == '/')
		look_for(s, name, id, -1, ret);
	for (i = 0; i < 2 && ret->fd < 0 && s->osrelease && !strchr(s->osrelease, '/'); i++)
		(void)try_listed(s, ret, s->symfs ? s->symfs : "", dirs[i], module, len, id);
	if (ret->fd < 0 && *name != '/')
		(void)try_cache(s, ret, id, "elf");
}

/* Returns the descriptor of @f, and its name in *@ret_path if that is not NULL. Releases @f. */
static int give(struct ptc_found *f, char **ret_path)
{
	const int fd = f->fd;

	if (fd >= 0 && ret_path) {
		*ret_path = f->path;
		f->path = NULL;
	}
	f->fd = -1;
	ptc_found_release(f);
	return fd;
}

static int open_debug(char *path, size_t root, const struct ptc_build_id *id, char **ret_path)
{
	struct ptc_found f = { .fd = -1 };

	(void)try_path(&f, path, root, id, false);
	return give(&f, ret_path);
}

static int debug_by_id(const struct ptc_search *s, const struct ptc_build_id *id, char **ret_path)
{
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	struct ptc_found f = { .fd = -1 };
	char *path;
	int fd = -1;

	ptc_build_id_hex(id, hex);
	if (ptc_search_bundle(s, &f, PTC_MEMBER_DEBUG, "debug", id))
		return give(&f, ret_path);
	if (s->symfs && asprintf(&path, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", s->symfs, hex,
				 hex + 2) >= 0)
		fd = open_debug(path, strlen(s->symfs), id, ret_path);
	if (fd < 0 && asprintf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2) >= 0)
		fd = open_debug(path, 0, id, ret_path);
	if (fd >= 0)
		return fd;
	ptc_search_cache(s, id, "debug", &f);
	return give(&f, ret_path);
}

/* Calculates the CRC-32 of .gnu_debuglink (as zlib and Ethernet), four bits at a time. */
static bool crc_of(int fd, uint64_t len, uint32_t *ret)
{
	static const uint32_t steps[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
					    0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
					    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
					    0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	static const size_t piece = 1 << 16;
	uint8_t *bytes = malloc(piece);
	uint32_t crc = ~(uint32_t)0;
	uint64_t off = 0;
	ssize_t n = 1, i;

	while (bytes && off < len && n > 0) {
		n = pread(fd, bytes, piece, (off_t)off);
		for (i = 0; i < n; i++) {
			crc = steps[(crc ^ bytes[i]) & 15] ^ crc >> 4;
			crc = steps[(crc ^ (uint32_t)bytes[i] >> 4) & 15] ^ crc >> 4;
		}
		off += n > 0 ? (uint64_t)n : 0;
	}
	free(bytes);
	*ret = ~crc;
	return bytes && off == len;
}

/* Requirements for the separate debug file. */
struct wanted {
	const struct ptc_build_id *id;
	uint32_t crc;
	char **ret_path; /* NULL: the name is not needed */
};

/* Opens @path (consumed) if it meets the requirements. Returns -1 if not. */
static int open_linked(char *path, size_t root, const struct wanted *w)
{
	const struct ptc_untrusted how = { .root = root };
	struct ptc_build_id is;
	struct ptc_err err;
	uint64_t len = 0;
	uint32_t is_crc;
	int fd = path ? ptc_search_open(path, &how, &len, &err) : -1;

	if (fd >= 0) {
		(void)ptc_elf_build_id_fd(fd, len, &is);
		if (!(w->id->len && is.len ? ptc_build_id_same(&is, w->id) :
					     crc_of(fd, len, &is_crc) && is_crc == w->crc)) {
			(void)close(fd);
			fd = -1;
		}
	}
	if (fd < 0 || !w->ret_path) {
		free(path);
		return fd < 0 ? -1 : fd;
	}
	*w->ret_path = path;
	return fd;
}

/* Searches as gdb does: beside the file, in .debug there, and below /usr/lib/debug. */
static int debug_by_link(const struct ptc_search *s, struct ptc_place_found at, const char *name,
			 const struct wanted *w)
{
	static const char *const between[] = { "/", "/.debug/" };
	const char *slash = strrchr(at.path, '/'), *symfs = s->symfs ? s->symfs : "";
	const size_t n = strlen(symfs);
	char *dir = strndup(at.path, (size_t)(slash - at.path));
	/* Below --symfs, /usr/lib/debug has the path without that prefix. */
	const char *inside = dir && !strncmp(dir, symfs, n) ? dir + n : "";
	char *file;
	int fd = -1;
	size_t i;

	if (dir && at.root > strlen(dir))
		at.root = strlen(dir);
	for (i = 0; dir && i < 2 && fd < 0; i++) {
		file = join(dir, between[i], name);
		if (file && strcmp(file, at.path) != 0)
			fd = open_linked(file, at.root, w);
		else
			free(file);
	}
	if (dir && fd < 0 && asprintf(&file, "%s/usr/lib/debug%s/%s", symfs, inside, name) >= 0)
		fd = open_linked(file, n, w);
	if (dir && fd < 0 && *symfs && asprintf(&file, "/usr/lib/debug%s/%s", dir, name) >= 0)
		fd = open_linked(file, 0, w);
	free(dir);
	return fd;
}

/* Asks a debuginfod server. */
static int debug_from_web(const struct ptc_search *s, const struct ptc_build_id *id,
			  char **ret_path)
{
	char *fetched = s->web && id->len ? ptc_debuginfod_get(s->web, id, true) : NULL;

	return fetched ? open_debug(fetched, 0, id, ret_path) : -1;
}

int ptc_search_debug(const struct ptc_search *s, struct ptc_place_found file,
		     const struct ptc_build_id *id, const struct ptc_debuglink *link,
		     char **ret_path)
{
	const struct wanted w = { id, link->crc, ret_path };
	struct ptc_found f = { .fd = -1 };
	int fd = id->len ? debug_by_id(s, id, ret_path) : -1;

	if (!id->len && ptc_search_bundle(s, &f, PTC_MEMBER_DEBUG, file.path, id))
		return give(&f, ret_path);
	if (fd < 0 && *link->name && !strchr(link->name, '/') && strchr(file.path, '/'))
		fd = debug_by_link(s, file, link->name, &w);
	return fd >= 0 ? fd : debug_from_web(s, id, ret_path);
}

/* Opens the alternate file by the name that @file has for it. */
static int alternate_by_name(const struct ptc_search *s, struct ptc_place_found file,
			     const char *name, const struct ptc_build_id *id)
{
	const char *slash = strrchr(file.path, '/');
	const size_t dir = slash ? (size_t)(slash - file.path) : 0;
	int fd = -1;
	char *path;

	if (*name == '/' && s->symfs)
		fd = open_debug(join(s->symfs, name, ""), strlen(s->symfs), id, NULL);
	if (fd < 0 && *name == '/')
		return open_debug(strdup(name), 0, id, NULL);
	if (fd < 0 && slash && asprintf(&path, "%.*s/%s", (int)dir, file.path, name) >= 0)
		fd = open_debug(path, file.root <= dir ? file.root : 0, id, NULL);
	return fd;
}

int ptc_search_alternate(const struct ptc_search *s, struct ptc_place_found file, const char *name,
			 const struct ptc_build_id *id)
{
	static const char usual[] = "/usr/lib/debug/.dwz/";
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	int fd = id->len ? debug_by_id(s, id, NULL) : -1;

	if (!id->len)
		return -1;
	if (fd < 0)
		fd = alternate_by_name(s, file, name, id);
	/*
	 * A debug file found by build-id is reached through a link. A relative name does not fit
	 * the link's folder.
	 */
	if (fd < 0 && s->symfs)
		fd = open_debug(join(s->symfs, usual, base), strlen(s->symfs), id, NULL);
	if (fd < 0)
		fd = open_debug(join(usual, base, ""), 0, id, NULL);
	return fd >= 0 ? fd : debug_from_web(s, id, NULL);
}

bool ptc_search_same_release(const struct ptc_search *s)
{
	struct utsname u;

	return s->osrelease && !uname(&u) && !strcmp(u.release, s->osrelease);
}
