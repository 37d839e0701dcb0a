/* SPDX-License-Identifier: MIT */
#include "cli/record/buildid_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elfnote.h"
#include "base/err.h"
#include "base/io.h"
#include "base/perf_cache.h"
#include "base/plural.h"
#include "base/untrusted.h"
#include "cli/common/cli.h"
#include "ptcap/feature.h"
#include "ptcap/file.h"
#include "ptcap/sideband.h"

enum { COPY_SIZE = 1 << 16, HEX = 2 * PTC_BUILD_ID_MAX + 1 };

struct cache {
	char *path; /* owned */
	int fd;	    /* the folder */
	uint64_t files, missing;
	bool kernel, vdso, memory, jitted; /* code that the cache lacks */
};

/* --- folders and files in the cache --- */

/* Open the folder @name in @at, which is made if it is missing. Links are not followed. */
static int enter_folder(int at, const char *name)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		errno = EINVAL;
		return -1;
	}
	if (mkdirat(at, name, 0755) && errno != EEXIST)
		return -1;
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Open the folder @path below the cache. Consumes the string. */
static int enter_path(const struct cache *c, char *path)
{
	int fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0), next;
	char *rest = path, *name;

	while (fd >= 0 && (name = strsep(&rest, "/")) != NULL) {
		if (!*name)
			continue;
		next = enter_folder(fd, name);
		(void)close(fd);
		fd = next;
	}
	free(path);
	return fd;
}

static bool copy_bytes(int from, int to)
{
	static uint8_t chunk[COPY_SIZE];
	struct ptc_err why;
	ssize_t n;

	while ((n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (ptc_write_all(to, chunk, (size_t)n, "", &why)) {
			errno = why.sys;
			return false;
		}
	}
	return true;
}

/* Copy @from to "elf" in @folder. The name appears when the copy is complete. */
static bool put_elf(int folder, int from)
{
	static const char leaf[] = "elf";
	char name[32];
	bool done;
	int fd;

	if (!faccessat(folder, leaf, F_OK, AT_SYMLINK_NOFOLLOW))
		return true;
	(void)snprintf(name, sizeof(name), ".elf-%d", (int)getpid());
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	done = copy_bytes(from, fd);
	done = !close(fd) && done && !renameat(folder, name, folder, leaf);
	if (!done) {
		const int sys = errno;

		(void)unlinkat(folder, name, 0);
		errno = sys;
	}
	return done;
}

/* Link .build-id/XX/YYYY to the folder of the file. A link that leads nowhere is replaced. */
static bool put_link(const struct cache *c, const char *path, const char *hex)
{
	char *folder, *to;
	struct stat st;
	bool done;
	int fd;

	if (asprintf(&folder, ".build-id/%.2s", hex) < 0)
		return false;
	fd = enter_path(c, folder);
	if (fd < 0)
		return false;
	if (asprintf(&to, "../..%s/%s", path, hex) < 0) {
		(void)close(fd);
		return false;
	}
	if (fstatat(fd, hex + 2, &st, 0) && errno == ENOENT)
		(void)unlinkat(fd, hex + 2, 0);
	done = !symlinkat(to, fd, hex + 2) || errno == EEXIST;
	free(to);
	(void)close(fd);
	return done;
}

static int fail_cache(const struct cache *c, const char *name, struct ptc_err *err)
{
	return ptc_fail_sys(err, errno, "cannot copy '%s' to '%s'", name, c->path);
}

static int put_file(struct cache *c, const char *name, int from, const char *hex,
		    struct ptc_err *err)
{
	char *path;
	bool done;
	int fd;

	if (asprintf(&path, "%s/%s", name, hex) < 0)
		return ptc_fail_mem(err);
	fd = enter_path(c, path);
	if (fd < 0)
		return fail_cache(c, name, err);
	done = put_elf(fd, from) && put_link(c, name, hex);
	(void)close(fd);
	if (!done)
		return fail_cache(c, name, err);
	c->files++;
	return 0;
}

/* --- the recording --- */

/* Add the file of one entry, if the file at this name still has the build-id. */
static int add_listed_file(struct cache *c, const struct ptc_build_id_entry *e, struct ptc_err *err)
{
	const struct ptc_untrusted how = { .root = 0 };
	struct ptc_build_id is;
	struct ptc_err ignored;
	char hex[HEX];
	struct stat st;
	int fd, rc = 0;

	if (e->filename[0] != '/') {
		c->kernel |= !strncmp(e->filename, "[kernel", strlen("[kernel"));
		return 0;
	}
	fd = ptc_untrusted_open(e->filename, &how, &st, &ignored);
	if (fd >= 0)
		(void)ptc_elf_build_id_fd(fd, (uint64_t)st.st_size, &is);
	if (fd >= 0 && ptc_build_id_same(&is, &e->id)) {
		ptc_build_id_hex(&e->id, hex);
		rc = put_file(c, e->filename, fd, hex, err);
	} else {
		c->missing++;
	}
	if (fd >= 0)
		(void)close(fd);
	return rc;
}

static int add_listed_files(struct cache *c, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_build_id_entry e;
	struct ptc_cur section;
	uint64_t off;
	int rc;

	if (!ptc_file_feature(f, PTC_FEAT_BUILD_ID, &section, &off))
		return 0;
	while ((rc = ptc_feature_next_build_id(&section, off, &e, err)) > 0) {
		rc = add_listed_file(c, &e, err);
		if (rc)
			break;
	}
	return rc;
}

/* Note the kinds of code that are in no file. */
static void note_mapping(struct cache *c, const struct ptc_sb_mmap *m)
{
	const size_t n = strlen(m->filename);

	if (!strcmp(m->filename, "[vdso]"))
		c->vdso = true;
	else if (strstr(m->filename, "/jit-") && n > 5 && !strcmp(m->filename + n - 5, ".dump"))
		c->jitted = true;
	else if (m->prot & PROT_EXEC && (m->filename[0] != '/' || m->filename[1] == '/') &&
		 m->filename[0] != '[')
		c->memory = true;
}

static int note_records(struct cache *c, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_rec rec;
	struct ptc_sb sb;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(f, &pos, &rec, err)) > 0)
		if ((rec.type == PERF_RECORD_MMAP || rec.type == PERF_RECORD_MMAP2) &&
		    ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, err) > 0 &&
		    (sb.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
			note_mapping(c, &sb.u.mmap);
	return rc;
}

static void say_result(const struct cache *c)
{
	char files[64] = "";
	const char *const lacks[] = { c->kernel ? "the kernel" : "", c->vdso ? "the vdso" : "",
				      c->memory ? "code in memory" : "",
				      c->jitted ? "jitted code" : "", files };
	char text[160] = "";
	size_t i, n = 0;

	if (c->missing)
		(void)snprintf(files, sizeof(files), "%" PRIu64 " changed or missing file%s",
			       c->missing, ptc_plural(c->missing));
	for (i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (*lacks[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
					      lacks[i]);
	ptc_say("'%s' has %" PRIu64 " file%s of the recording", c->path, c->files,
		ptc_plural(c->files));
	if (n)
		ptc_say("perf archive lacks: %s", text);
}

static int open_cache(struct cache *c, struct ptc_err *err)
{
	c->path = ptc_perf_cache_dir();
	if (!c->path)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"there is no folder for perf's build-ids; set PERF_BUILDID_DIR");
	if (mkdir(c->path, 0755) && errno != EEXIST)
		return ptc_fail_sys(err, errno, "cannot make the folder '%s'", c->path);
	c->fd = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return c->fd < 0 ? ptc_fail_sys(err, errno, "cannot open the folder '%s'", c->path) : 0;
}

bool ptc_buildid_cache_fill(const char *path, bool quiet)
{
	struct cache c = { .fd = -1 };
	struct ptc_file *f = NULL;
	struct ptc_err err;
	int rc = open_cache(&c, &err);

	if (!rc)
		rc = ptc_file_open(path, &f, &err);
	if (!rc)
		rc = add_listed_files(&c, f, &err);
	if (!rc && !quiet)
		rc = note_records(&c, f, &err);
	if (rc)
		(void)ptc_say_err(&err);
	else if (!quiet)
		say_result(&c);
	ptc_file_free(f);
	if (c.fd >= 0)
		(void)close(c.fd);
	free(c.path);
	return !rc;
}
