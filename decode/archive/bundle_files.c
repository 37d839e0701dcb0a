/* SPDX-License-Identifier: MIT */
#include "decode/archive/bundle_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "auxtrace/bundle/bundle_write.h"
#include "auxtrace/record/layout.h"
#include "base/err.h"
#include "decode/archive/reached_files.h"
#include "decode/archive/reached_parts.h"
#include "decode/archive/state_code.h"
#include "decode/elf/debugfile.h"
#include "decode/session/decoder.h"
#include "decode/session/item_lookup.h"

static void leave_out(const struct ptc_bundle_files *b, const char *name, const char *why)
{
	char *text;

	if (asprintf(&text, "left out '%s': %s", name, why) < 0)
		return;
	b->left_out(b->ctx, text);
	free(text);
}

/* Add a member. One that cannot be added is reported. Only a full bundle or memory is a failure. */
static int add_member(const struct ptc_bundle_files *b, const struct ptc_member *m,
		      const struct ptc_bundle_source *source, const char *name, struct ptc_err *err)
{
	const int rc = ptc_bundle_writer_add(b->writer, m, source, name, err);

	if (rc >= 0 || rc == PTC_E_NO_MEMORY || rc == PTC_E_LIMIT)
		return rc < 0 ? rc : 0;
	leave_out(b, name, err->msg);
	return 0;
}

static int add_file(const struct ptc_bundle_files *b, const struct ptc_member *m, int fd,
		    const char *name, struct ptc_err *err)
{
	const struct ptc_bundle_source source = { .fd = fd };

	return add_member(b, m, &source, name, err);
}

/* Add the ELF file @fd; only the parts that the trace needs, if that is wanted. @f: its code. */
static int add_elf(const struct ptc_bundle_files *b, const struct ptc_member *m,
		   const struct ptc_codefile *f, int fd, const char *name, struct ptc_err *err)
{
	struct ptc_bundle_source source = { .fd = fd };
	struct ptc_member part = *m;
	int rc;

	if (!b->parts)
		return add_member(b, m, &source, name, err);
	rc = ptc_reached_parts(f, fd, b->unwinds, name, &source.parts);
	if (rc < 0) {
		(void)close(fd);
		return ptc_fail_mem(err);
	}
	part.partial |= source.parts != NULL;
	return add_member(b, &part, &source, name, err);
}

/* Does the file @fd begin with @magic? */
static bool has_magic(int fd, const char *magic)
{
	char is[8];
	const size_t n = strlen(magic);

	return n <= sizeof(is) && pread(fd, is, n, 0) == (ssize_t)n && !memcmp(is, magic, n);
}

/* --- debug files --- */

/* Add the alternate debug file (dwz) that the debug information in @fd refers to. It has no names.
 */
static int add_alternate(const struct ptc_bundle_files *b, const struct ptc_search *s, int fd,
			 struct ptc_place_found at, struct ptc_err *err)
{
	struct ptc_member m = { .kind = PTC_MEMBER_DEBUG };
	struct ptc_alternate_link link;
	int alternate = -1;

	if (!b->parts && ptc_debugfile_alternate(fd, at.path, &link)) {
		m.id = link.id;
		alternate = ptc_search_alternate(s, at, link.name, &link.id);
	}
	return alternate < 0 ? 0 : add_file(b, &m, alternate, link.name, err);
}

static int add_separate(const struct ptc_bundle_files *b, const struct ptc_codefile *f, int fd,
			const char *path, const struct ptc_build_id *id, struct ptc_err *err)
{
	/* Without a build-id, a debug file is found by the path of its file. */
	const struct ptc_member m = { .kind = PTC_MEMBER_DEBUG,
				      .id = *id,
				      .path = id->len ? (char *)path : f->path };
	/* As in srcline.c: a debug file has the same root as its file, or none. */
	const struct ptc_place_found at = { path, strncmp(path, f->path, f->root) ? 0 : f->root };
	const int rc = add_alternate(b, &f->store->search, fd, at, err);

	if (!rc)
		return add_elf(b, &m, NULL, fd, path, err);
	(void)close(fd);
	return rc;
}

/* Add the debug files of @f, whose bytes are @own. */
static int add_debug_files(const struct ptc_bundle_files *b, const struct ptc_codefile *f, int own,
			   struct ptc_err *err)
{
	const struct ptc_place_found at = { f->path, f->root };
	struct ptc_build_id id = f->id;
	struct ptc_debuglink link;
	char *path = NULL;
	int fd, rc;

	if (!id.len)
		(void)ptc_elf_build_id_fd(own, f->len, &id);
	ptc_debugfile_link_fd(own, f->name, &link);
	fd = ptc_search_debug(&f->store->search, at, &id, &link, &path);
	rc = fd < 0 ? add_alternate(b, &f->store->search, own, at, err) :
		      add_separate(b, f, fd, path ? path : f->path, &id, err);
	free(path);
	return rc;
}

/* --- code --- */

/* Returns the member that @f becomes. Its path is lent. */
static struct ptc_member member_of(const struct ptc_codefile *f)
{
	const bool vdso = !strcmp(f->name, "[vdso]");

	return (struct ptc_member){ .kind = vdso ? PTC_MEMBER_VDSO : PTC_MEMBER_CODE,
				    .partial = f->partial,
				    .id = f->id,
				    .path = f->name,
				    .ino = f->id.len || vdso ? 0 : f->mark.ino };
}

static int add_code(const struct ptc_bundle_files *b, const struct ptc_codefile *f,
		    struct ptc_err *err)
{
	const struct ptc_member m = member_of(f);
	int fd, rc;

	fd = ptc_codefile_reopen(f);
	if (fd < 0) {
		leave_out(b, f->name, "it changed, or is gone");
		return 0;
	}
	if (!has_magic(fd, "\177ELF")) {
		leave_out(b, f->name, "it is no ELF file");
		(void)close(fd);
		return 0;
	}
	rc = b->debug ? add_debug_files(b, f, fd, err) : 0;
	if (!rc)
		return add_elf(b, &m, f, fd, f->name, err);
	(void)close(fd);
	return rc;
}

/* Is @f a vdso of this machine, which the recording does not have itself? */
static bool is_own_vdso(const struct ptc_codefile *f)
{
	return f->from == PTC_CODE_OWN && !f->saved && (f->id.len || !f->mark.low);
}

static int add_codefile(const struct ptc_bundle_files *b, const struct ptc_codefile *f,
			struct ptc_err *err)
{
	const struct ptc_member m = member_of(f);
	const struct ptc_bundle_source bytes = { .fd = -1,
						 .bytes = ptc_cur_init(f->bytes, f->len) };

	if (!b->all && !ptc_reached_has(b->reached, f))
		return 0;
	if (is_own_vdso(f))
		return add_member(b, &m, &bytes, f->name, err);
	if (f->from == PTC_CODE_CORE && ptc_file_form(b->d->in.file) != PTC_FORM_FOLDER)
		leave_out(b, f->name, "its code is in a core or kcore");
	return f->from == PTC_CODE_FILE ? add_code(b, f, err) : 0;
}

/* --- generated code --- */

static int add_jitdump(const struct ptc_bundle_files *b, const struct ptc_dump *d,
		       struct ptc_err *err)
{
	const struct ptc_member m = { .kind = PTC_MEMBER_DATA, .path = (char *)d->path };
	const struct ptc_build_id none = { .len = 0 };
	struct ptc_found found;
	int fd;

	ptc_search_file(&b->d->in.origin.files.search, d->path, &none, d->pid, &found);
	fd = found.fd;
	if (fd >= 0 && !has_magic(fd, "DTiJ")) {
		leave_out(b, d->path, "it is no jitdump");
		fd = -1;
	} else {
		found.fd = -1;
	}
	ptc_found_release(&found);
	return fd < 0 ? 0 : add_file(b, &m, fd, d->path, err);
}

static int add_perf_map(const struct ptc_bundle_files *b, int32_t pid, struct ptc_err *err)
{
	struct ptc_member m = { .kind = PTC_MEMBER_DATA };
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_bundle_source source = { .fd = -1 };
	char name[32];
	int rc;

	(void)snprintf(name, sizeof(name), "/tmp/perf-%" PRId32 ".map", pid);
	m.path = name;
	rc = ptc_origin_perf_map(&b->d->in.origin.files.search, name, &text, err);
	if (!rc) {
		source.bytes = ptc_cur_init(text.bytes, text.len);
		source.owned = text.bytes;
		return add_member(b, &m, &source, name, err);
	}
	ptc_buf_release(&text);
	if (rc != PTC_E_NOT_EXIST)
		leave_out(b, name, err->msg);
	return 0;
}

static int add_files(const struct ptc_bundle_files *b, struct ptc_err *err)
{
	const struct ptc_codefiles *files = &b->d->in.origin.files;
	const struct ptc_dumps *dumps = &b->d->in.origin.dumps;
	size_t i;
	int rc = 0;

	for (i = 0; i < files->n && !rc; i++)
		rc = add_codefile(b, files->files[i], err);
	for (i = 0; i < dumps->n && !rc; i++)
		rc = add_jitdump(b, &dumps->dumps[i], err);
	for (i = 0; i < b->reached->npids && !rc; i++)
		rc = add_perf_map(b, b->reached->pids[i], err);
	return rc;
}

/* --- the recording --- */

/* Add file @i of the recording, which is a folder if it has several. */
static int add_recorded(const struct ptc_bundle_files *b, size_t i, struct ptc_err *err)
{
	const struct ptc_file *f = b->d->in.file;
	const bool folder = ptc_file_form(f) == PTC_FORM_FOLDER;
	const struct ptc_member m = { .kind = i	     ? PTC_MEMBER_PART :
					      folder ? PTC_MEMBER_FOLDER :
						       PTC_MEMBER_RECORDING };
	struct ptc_bundle_source source = { .fd = -1 };
	struct ptc_file_part part;

	ptc_file_part(f, i, &part);
	if (!ptc_file_bytes(f, (uint64_t)i << PTC_OFF_PART_SHIFT, part.size, &source.bytes))
		return ptc_fail(err, PTC_E_FORMAT, "cannot read '%s'", part.name);
	return ptc_bundle_writer_add(b->writer, &m, &source, part.name, err);
}

/* Open the file @leaf of the recording's kcore_dir. @name: its path. */
static int open_kernel_file(const struct ptc_file *f, enum ptc_member_kind kind, const char *name,
			    struct ptc_err *err)
{
	const struct ptc_untrusted how = { .root = strlen(ptc_file_name(f)) };
	struct ptc_bundle *bundle = ptc_file_bundle(f);
	const size_t i = bundle ? ptc_manifest_find_kind(ptc_bundle_manifest(bundle), kind) :
				  SIZE_MAX;
	uint64_t len;

	if (!bundle)
		return ptc_search_open(name, &how, &len, err);
	return i < SIZE_MAX ? ptc_bundle_member_fd(bundle, i, err) :
			      ptc_fail(err, PTC_E_NOT_EXIST, "the bundle has no '%s'", name);
}

static int add_kernel_file(const struct ptc_bundle_files *b, enum ptc_member_kind kind,
			   const char *leaf, struct ptc_err *err)
{
	const struct ptc_member m = { .kind = kind };
	char *name;
	int fd, rc = 0;

	if (asprintf(&name, "%s/kcore_dir/%s", ptc_file_name(b->d->in.file), leaf) < 0)
		return ptc_fail_mem(err);
	fd = open_kernel_file(b->d->in.file, kind, name, err);
	if (fd >= 0 && kind == PTC_MEMBER_KCORE && !has_magic(fd, "\177ELF")) {
		leave_out(b, name, "it is no ELF file");
		(void)close(fd);
	} else if (fd >= 0) {
		rc = add_file(b, &m, fd, name, err);
	} else if (fd != PTC_E_NOT_EXIST) {
		leave_out(b, name, err->msg);
	}
	free(name);
	return rc;
}

static int add_recording(const struct ptc_bundle_files *b, struct ptc_err *err)
{
	const struct ptc_file *f = b->d->in.file;
	size_t i;
	int rc = 0;

	for (i = 0; i < ptc_file_nparts(f) && !rc; i++)
		rc = add_recorded(b, i, err);
	if (rc || ptc_file_form(f) != PTC_FORM_FOLDER)
		return rc;
	rc = add_kernel_file(b, PTC_MEMBER_KCORE, "kcore", err);
	if (!rc)
		rc = add_kernel_file(b, PTC_MEMBER_KALLSYMS, "kallsyms", err);
	return rc ? rc : add_kernel_file(b, PTC_MEMBER_MODULES, "modules", err);
}

int ptc_bundle_files_add(const struct ptc_bundle_files *b, struct ptc_err *err)
{
	struct ptc_bundle_files with = *b;
	int rc = ptc_state_code_note(b->d, err);

	if (rc < 0)
		return rc;
	/* Stacks lead through files without trace, and a recording may have no trace. */
	with.unwinds = rc > 0;
	with.all |= with.unwinds || !ptc_decode_input(b->d)->nlanes;
	rc = add_recording(&with, err);
	return rc ? rc : add_files(&with, err);
}
