/* SPDX-License-Identifier: MIT */
/* Description: files with mapped code are recognised by inode and kept open. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/soft/mapped_files.h"

static char folder[] = "/tmp/ptc-mapped-XXXXXX";
static char name[4][64];
static struct ptc_maps maps;
static struct ptc_mapped files;

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	cr_assert_geq(fputs(text, f), 0);
	cr_assert_eq(fclose(f), 0);
}

static void set_up(void)
{
	size_t i;

	cr_assert_not_null(mkdtemp(folder));
	for (i = 0; i < 4; i++)
		(void)snprintf(name[i], sizeof(name[i]), "%s/%zu", folder, i);
}

static void tear_down(void)
{
	size_t i;

	ptc_mapped_release(&files);
	ptc_maps_release(&maps);
	for (i = 0; i < 4; i++)
		(void)unlink(name[i]);
	(void)rmdir(folder);
}

TestSuite(mapped_files, .init = set_up, .fini = tear_down);

/* Returns a mapping of the file that @path names now. */
static struct ptc_map map_of(const char *path)
{
	struct ptc_map map = { .end = 4096, .name = maps.text.len };
	struct stat st;

	ptc_buf_put(&maps.text, path, strlen(path) + 1);
	if (!stat(path, &st)) {
		map.ino = st.st_ino;
		map.maj = major(st.st_dev);
		map.min = minor(st.st_dev);
	}
	return map;
}

/* Returns the first byte of the mapped file; '-': none. */
static char first(const struct ptc_map *map)
{
	uint8_t got[1];

	return ptc_mapped_read(&files, &maps, map, 0, 0, got, 1) ? (char)got[0] : '-';
}

Test(mapped_files, only_a_whole_read_of_a_plain_file_counts)
{
	struct ptc_map map;
	uint8_t got[8];

	make_file(name[0], "0123456789");
	map = map_of(name[0]);
	cr_assert(ptc_mapped_read(&files, &maps, &map, 0, 2, got, 8));
	cr_assert_eq(memcmp(got, "23456789", 8), 0);
	cr_assert_not(ptc_mapped_read(&files, &maps, &map, 0, 3, got, 8));
	cr_assert_not(ptc_mapped_read(&files, &maps, &map, 0, UINT64_MAX, got, 8));
	map = map_of(folder);
	cr_assert_eq(first(&map), '-');
	map = map_of("/dev/zero");
	cr_assert_eq(first(&map), '-');
	cr_assert_eq(mkfifo(name[1], 0600), 0); /* the open must not block */
	map = map_of(name[1]);
	cr_assert_eq(first(&map), '-');
	map = map_of("");
	cr_assert_eq(first(&map), '-');
	map = map_of("[vdso]");
	cr_assert_eq(first(&map), '-');
}

Test(mapped_files, a_file_stays_the_one_that_was_mapped)
{
	struct ptc_map was, is;

	make_file(name[0], "a");
	make_file(name[1], "b");
	was = map_of(name[0]);
	cr_assert_eq(first(&was), 'a');
	cr_assert_eq(rename(name[1], name[0]), 0);
	is = map_of(name[0]);
	cr_assert_eq(first(&is), 'b');
	cr_assert_eq(first(&was), 'a');
	cr_assert_eq(unlink(name[0]), 0);
	cr_assert_eq(first(&is), 'b');
	cr_assert_eq(first(&was), 'a');
	cr_assert_eq(files.n, 2);
}

Test(mapped_files, a_name_that_means_another_file_already_is_not_taken)
{
	struct ptc_map was;

	make_file(name[0], "a");
	make_file(name[1], "b");
	was = map_of(name[0]);
	cr_assert_eq(rename(name[1], name[0]), 0);
	cr_assert_eq(first(&was), '-');
}

/* Like libraries that every program maps. */
Test(mapped_files, of_many_files_one_that_is_mapped_again_stays)
{
	struct ptc_map map, lasting;
	size_t i;

	make_file(name[2], "c");
	lasting = map_of(name[2]);
	cr_assert_eq(first(&lasting), 'c');
	for (i = 0; i < (size_t)2 * PTC_MAPPED_OPEN; i++) {
		make_file(name[1], "a");
		cr_assert_eq(rename(name[1], name[0]), 0);
		map = map_of(name[0]);
		cr_assert_eq(first(&map), 'a');
		cr_assert_not_null(ptc_mapped_note(&files, &maps, &lasting, 0));
		if (!i) /* now only the open descriptor has it */
			cr_assert_eq(unlink(name[2]), 0);
	}
	cr_assert_eq(first(&lasting), 'c');
}

/* Each file is another inode, because the earlier ones are still open. */
Test(mapped_files, of_many_files_the_oldest_are_forgotten)
{
	struct ptc_map map = { .ino = 0 }, old;
	size_t i;

	for (i = 0; i < PTC_MAPPED_OPEN + 10; i++) {
		make_file(name[1], "a");
		cr_assert_eq(rename(name[1], name[0]), 0);
		old = map;
		map = map_of(name[0]);
		cr_assert_eq(first(&map), 'a');
	}
	cr_assert_eq(files.n, PTC_MAPPED_OPEN);
	cr_assert_eq(files.nopen, PTC_MAPPED_OPEN);
	cr_assert_eq(first(&old), 'a');
}
