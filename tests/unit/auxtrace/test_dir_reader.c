/* SPDX-License-Identifier: MIT */
/*
 * Description: recordings that are a folder: valid contents, and files that must not be in the
 * folder.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle_write.h"
#include "auxtrace/reader/aux_index.h"
#include "lib_numbers.h"
#include "lib_packed.h"
#include "lib_skip.h"

static char folder[] = "/tmp/ptcap-test-XXXXXX";

static void make_folder(void)
{
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
	const struct dirent *d;
	DIR *dir = opendir(folder);

	cr_assert_not_null(dir);
	while ((d = readdir(dir)))
		(void)unlinkat(dirfd(dir), d->d_name, 0);
	(void)closedir(dir);
	cr_assert(!chdir("/") && !rmdir(folder));
}

TestSuite(dir_reader, .init = make_folder, .fini = remove_folder);

static void put(const char *name, const void *bytes, size_t len)
{
	FILE *f = fopen(name, "wb");

	cr_assert(f && (!len || fwrite(bytes, 1, len, f) == len) && !fclose(f));
}

/* Writes "data" with one COMM of tid 1 and format @version (-1: no such feature), as perf does. */
static void put_head(const char *name, int version, uint32_t packed)
{
	uint64_t v = (uint64_t)version;
	struct pd p;

	pd_init_pt(&p, NULL);
	pd_comm(&p, 1, 1, "one", false);
	if (packed)
		pk_pack(&p, packed, 30);
	if (version >= 0)
		pd_feature(&p, PTC_FEAT_DIR_FORMAT, &v, sizeof(v));
	pd_write(&p, name);
	pd_release(&p);
}

/* Writes a part with COMMs of @n threads, from @tid on. */
static void put_part(const char *name, int tid, int n, uint32_t packed)
{
	struct pd p;

	pd_init(&p);
	while (n--)
		pd_comm(&p, tid++, 1, "part", false);
	if (packed)
		pk_pack(&p, packed, 30);
	put(name, p.data.bytes, p.data.len);
	pd_release(&p);
}

/* Opens the folder, or a bundle of it. Its COMMs must have tids 1 to @n, and the walk must end with
 * @code. */
static void expect_of(const char *path, int n, int code)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0, last = 0;
	int tid = 0;
	int rc;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_file_form(f), PTC_FORM_FOLDER);
	cr_assert_str_eq(ptc_file_name(f), path);
	cr_assert_eq(ptc_file_nattrs(f), 2);
	while ((rc = ptc_file_next(f, &pos, &rec, &err)) > 0) {
		cr_assert_neq(rec.off, last, "offsets are unique");
		last = rec.off;
		if (rec.type == PERF_RECORD_COMM)
			cr_assert_eq((int)ptc_le32(rec.body.pos), ++tid);
	}
	cr_assert_eq(rc, code, "%s", err.msg);
	cr_assert_eq(tid, n);
	cr_assert_eq(ptc_file_next(f, &pos, &rec, &err), code, "the end stays the end");
	ptc_file_free(f);
}

static void expect(int n, int code)
{
	expect_of(folder, n, code);
}

/* Writes "bundle" with the file "data" and @n parts. */
static void put_bundle(int n)
{
	struct ptc_bundle_writer w = { .sources = NULL };
	struct ptc_err err;
	char name[32] = "data";
	int i;

	for (i = 0; i <= n; i++) {
		const struct ptc_member m = { .kind = i ? PTC_MEMBER_PART : PTC_MEMBER_FOLDER };
		struct ptc_bundle_source source;

		if (i)
			(void)snprintf(name, sizeof(name), "data.%d", i - 1);
		source = (struct ptc_bundle_source){ .fd = open(name, O_RDONLY) };
		cr_assert_geq(source.fd, 0);
		cr_assert_eq(ptc_bundle_writer_add(&w, &m, &source, name, &err), 0, "%s", err.msg);
	}
	cr_assert_eq(ptc_bundle_write(&w, "bundle", 1, &err), 0, "%s", err.msg);
	ptc_bundle_writer_release(&w);
}

static struct ptc_err fails(int code)
{
	struct ptc_file *f = NULL;
	struct ptc_err err = { .msg = "" };

	cr_assert_eq(ptc_file_open(folder, &f, &err), code, "%s", err.msg);
	cr_assert_null(f);
	cr_assert_eq(strncmp(err.msg, "cannot ", 7), 0, "%s", err.msg);
	cr_assert_not_null(strstr(err.msg, folder), "%s", err.msg);
	cr_assert_null(strstr(strstr(err.msg, folder) + 1, folder), "named once: %s", err.msg);
	return err;
}

Test(dir_reader, its_files_follow_each_other_by_number)
{
	char name[32];
	int i;

	put_head("data", 1, 0);
	for (i = 0; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "data.%d", i);
		put_part(name, 2 + i, i == 3 ? 0 : 1, 0);
		if (i == 3)
			break;
	}
	put_part("data.4", 5, 3, 0);
	put_part("data.5", 8, 1, 0);
	put_part("data.6", 0, 0, 0);
	put_part("data.7", 0, 0, 0);
	put_part("data.8", 0, 0, 0);
	put_part("data.9", 9, 1, 0);
	put_part("data.10", 10, 1, 0);
	expect(10, 0);
}

Test(dir_reader, its_files_may_be_in_a_bundle)
{
	put_head("data", 1, PTC_REC_COMPRESSED);
	put_part("data.0", 2, 30, PTC_REC_COMPRESSED);
	put_part("data.1", 32, 0, 0);
	put_part("data.2", 32, 5, 0);
	put_bundle(3);
	expect_of("bundle", 36, 0);
	/* Without DIR_FORMAT 1, the parts are not read. */
	put_head("data", 0, 0);
	put_bundle(3);
	expect_of("bundle", 1, 0);
}

Test(dir_reader, each_file_is_a_stream_of_its_own_when_compressed)
{
	put_head("data", 1, PTC_REC_COMPRESSED);
	put_part("data.0", 2, 30, PTC_REC_COMPRESSED);
	put_part("data.1", 32, 5, 0);
	put_part("data.2", 37, 30, PTC_REC_COMPRESSED2);
	expect(66, 0);
}

Test(dir_reader, a_damaged_stream_is_an_error_at_its_place_and_no_business_of_the_others)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int tid = 0;
	struct pd p;

	put_head("data", 1, PTC_REC_COMPRESSED);
	pd_init(&p);
	pd_comm(&p, 2, 1, "part", false);
	p.data.len -= 8;
	pk_pack(&p, PTC_REC_COMPRESSED, 1000);
	put("data.0", p.data.bytes, p.data.len);
	put_part("data.1", 2, 1, PTC_REC_COMPRESSED);
	expect(1, PTC_E_FORMAT);
	cr_assert_eq(ptc_file_open_damaged(folder, &f, &err), 0);
	cr_assert_not_null(strstr(ptc_file_damage(f)->msg, "/data.0': what is compressed ends"),
			   "%s", ptc_file_damage(f)->msg);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PERF_RECORD_COMM)
			cr_assert_eq((int)ptc_le32(rec.body.pos), ++tid);
	cr_assert_eq(tid, 2, "that of data.1");
	ptc_file_free(f);
	pd_release(&p);
}

Test(dir_reader, errors_name_the_file_and_the_place_in_it)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc;

	put_head("data", 1, 0);
	put_part("data.0", 2, 1, 0);
	put("data.1", "\3\0\0\0\0\0\10\0\3\0\0\0\0\0\1\0", 16);
	cr_assert_eq(ptc_file_open(folder, &f, &err), 0, "%s", err.msg);
	while ((rc = ptc_file_next(f, &pos, &rec, &err)) > 0)
		;
	cr_assert_eq(rc, PTC_E_FORMAT);
	cr_assert_not_null(strstr(err.msg, "/data.1': a record of type 3 has the impossible size 1 "
					   "(offset 0x8)"),
			   "%s", err.msg);
	ptc_file_free(f);
	cr_assert_eq(ptc_file_open_damaged(folder, &f, &err), 0, "%s", err.msg);
	cr_assert_str_eq(ptc_file_damage(f)->msg, err.msg);
	ptc_file_free(f);
}

Test(dir_reader, trace_is_found_whichever_file_it_is_in)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_file *f = NULL;
	struct ptc_file_part part;
	struct ptc_err err;
	struct ptc_rec rec;
	uint64_t pos = 0;
	uint8_t trace[16];
	struct pd p;
	unsigned int i;

	put_head("data", 1, 0);
	for (i = 0; i < 2; i++) {
		pd_init(&p);
		memset(trace, (int)i + 1, sizeof(trace));
		pd_auxtrace(&p, &(struct ptc_auxtrace){ .idx = i, .cpu = (int)i }, trace, 16);
		put(i ? "data.1" : "data.0", p.data.bytes, p.data.len);
		pd_release(&p);
	}
	cr_assert_eq(ptc_file_open(folder, &f, &err), 0, "%s", err.msg);
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		if (rec.type == PTC_REC_AUXTRACE)
			cr_assert_eq(ptc_index_add(&ix, f, &rec, &err), 0, "%s", err.msg);
	cr_assert_eq(ix.nqueues, 2);
	for (i = 0; i < 2; i++) {
		const struct ptc_cur c = ptc_chunk_bytes(f, &ix.queues[i].chunks[0]);

		cr_assert(ptc_cur_left(&c) == 16 && c.pos[15] == i + 1);
	}
	cr_assert_eq(ptc_file_nparts(f), 3);
	ptc_file_part(f, 2, &part);
	cr_assert_not_null(strstr(part.name, "/data.1"));
	cr_assert(part.size == 64 && part.data_off == 0 && part.data_size == 64);
	ptc_index_release(&ix);
	ptc_file_free(f);
}

Test(dir_reader, what_is_of_a_single_file_has_no_parts)
{
	put_head("data", 0, 0);
	put_part("data.0", 2, 1, 0);
	expect(1, 0);
	put_head("data", -1, 0);
	expect(1, 0);
	cr_assert_eq(rename("data", "header"), 0);
	expect(1, 0);
}

Test(dir_reader, other_names_are_not_looked_at)
{
	put_head("data", 1, 0);
	put_part("data.0", 2, 1, 0);
	put("data.old", "x", 1);
	put("data.02", "x", 1);
	put("data.1x", "x", 1);
	put("data.", "x", 1);
	put("data.-1", "x", 1);
	put("kallsyms", "x", 1);
	expect(2, 0);
}

Test(dir_reader, another_format_is_refused_by_number)
{
	put_head("data", 2, 0);
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "format 2"));
}

Test(dir_reader, a_missing_file_is_an_error_or_damage)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;

	cr_assert_not_null(strstr(fails(PTC_E_FORMAT).msg, "no file 'data'"));
	put_head("data", 1, 0);
	put_part("data.1", 2, 1, 0);
	cr_assert_not_null(strstr(fails(PTC_E_NOT_EXIST).msg, "data.0"));
	cr_assert_eq(ptc_file_open_damaged(folder, &f, &err), 0, "%s", err.msg);
	cr_assert_not_null(strstr(ptc_file_damage(f)->msg, "data.0 is missing"));
	cr_assert_eq(ptc_file_nparts(f), 3);
	ptc_file_free(f);
}

Test(dir_reader, links_fifos_and_folders_in_the_way_are_refused)
{
	put_head("real", 1, 0);
	cr_assert_eq(symlink("real", "data"), 0);
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "symbolic link"));
	cr_assert(!unlink("data") && !mkfifo("data", 0600));
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "not a regular file"));
	cr_assert(!unlink("data") && !rename("real", "data"));
	cr_assert_eq(symlink("data", "data.0"), 0);
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "data.0': it is a symbolic link"));
	cr_assert(!unlink("data.0") && !mkfifo("data.0", 0600));
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "data.0': it is a FIFO"));
	cr_assert(!unlink("data.0") && !mkdir("data.0", 0700));
	cr_assert_not_null(strstr(fails(PTC_E_UNSUPPORTED).msg, "data.0': it is a folder"));
	cr_assert_eq(rmdir("data.0"), 0);
}

Test(dir_reader, a_file_of_somebody_else_in_it_is_refused)
{
	skip_without_root();
	put_head("data", 1, 0);
	put_part("data.0", 2, 1, 0);
	cr_assert_eq(chown("data.0", 12345, (gid_t)-1), 0);
	cr_assert_not_null(strstr(fails(PTC_E_PERM).msg, "belongs to user 12345"));
	cr_assert_eq(chown(folder, 12345, (gid_t)-1), 0);
	expect(2, 0);
	cr_assert(!chown("data", 54321, (gid_t)-1));
	(void)fails(PTC_E_PERM);
}

Test(dir_reader, more_files_than_the_limit_are_refused)
{
	put_head("data", 1, 0);
	put("data.4096", "", 0);
	(void)fails(PTC_E_LIMIT);
	cr_assert_eq(rename("data.4096", "data.99999999999999999999"), 0);
	expect(1, 0);
}

/*
 * Opens the folder with these bytes as data.0, strictly and in damaged mode. Every read stays in
 * bounds.
 */
static void try_part(const void *ctx, const uint8_t *bytes, size_t len)
{
	struct ptc_file *f;
	struct ptc_err err;
	struct ptc_rec rec;
	int tolerant;

	(void)ctx;
	put("data.0", bytes, len);
	for (tolerant = 0; tolerant < 2; tolerant++) {
		uint64_t pos = 0;
		int n = 0;

		if (tolerant ? ptc_file_open_damaged(folder, &f, &err) :
			       ptc_file_open(folder, &f, &err))
			continue;
		while (ptc_file_next(f, &pos, &rec, &err) > 0)
			n += rec.body.pos <= rec.body.end;
		cr_assert_leq(n, 8 + (int)(len / 8), "those of the head, and of the part");
		ptc_file_free(f);
	}
}

Test(dir_reader, a_part_may_be_cut_anywhere_and_say_anything)
{
	uint8_t bytes[256];
	size_t len, cut;
	FILE *f;

	put_head("data", 1, 0);
	put_part("data.0", 2, 3, 0);
	f = fopen("data.0", "rb");
	len = fread(bytes, 1, sizeof(bytes), f);
	cr_assert(len > 100 && len < sizeof(bytes) && !fclose(f));
	for (cut = 0; cut < len; cut++)
		try_part(NULL, bytes, cut);
	nb_each(bytes, len, try_part, NULL);
}
