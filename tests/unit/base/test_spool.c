/* SPDX-License-Identifier: MIT */
/* Description: bytes collected in memory and in a file without a name. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/spool.h"
#include "ptcap/memory.h"

enum { CHUNK = 100003 };

/* Puts @n chunks whose bytes depend on their offset, and reads all of them back. */
static void round_trip(struct ptc_spool *s, size_t n)
{
	uint8_t chunk[CHUNK];
	const uint8_t *all;
	struct ptc_err err;
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < CHUNK; j++)
			chunk[j] = (uint8_t)((i * CHUNK + j) * 7 >> 3);
		cr_assert_eq(ptc_spool_put(s, chunk, CHUNK, &err), 0, "%s", err.msg);
	}
	cr_assert_eq(s->len, n * CHUNK);
	cr_assert_eq(ptc_spool_finish(s, &all, &err), 0, "%s", err.msg);
	for (i = 0; i < n * CHUNK; i++)
		if (all[i] != (uint8_t)(i * 7 >> 3))
			cr_assert_fail("byte %zu", i);
}

Test(spool, few_bytes_stay_in_memory)
{
	struct ptc_spool s = PTC_SPOOL_INIT;

	round_trip(&s, PTC_SPOOL_MEMORY / CHUNK);
	cr_assert_null(s.map);
	ptc_spool_release(&s);
	ptc_spool_release(&s);
}

Test(spool, many_are_in_a_file_and_memory_is_given_back)
{
	struct ptc_spool s = PTC_SPOOL_INIT;

	round_trip(&s, PTC_SPOOL_MEMORY / CHUNK + 1);
	cr_assert_not_null(s.map);
	cr_assert_eq(s.mem.cap, 0);
	cr_assert_eq(s.fd, -1);
	ptc_spool_release(&s);
	round_trip(&s, 3 * PTC_SPOOL_MEMORY / CHUNK);
	ptc_spool_release(&s);
}

Test(spool, a_piece_larger_than_the_memory_goes_through)
{
	const size_t len = 2 * PTC_SPOOL_MEMORY + 5;
	struct ptc_spool s = PTC_SPOOL_INIT;
	uint8_t *bytes = malloc(len);
	const uint8_t *all;
	struct ptc_err err;

	cr_assert_not_null(bytes);
	memset(bytes, 'x', len);
	cr_assert_eq(ptc_spool_put(&s, "ab", 2, &err), 0);
	cr_assert_eq(ptc_spool_put(&s, bytes, len, &err), 0);
	cr_assert_eq(ptc_spool_put(&s, "cd", 2, &err), 0);
	cr_assert_eq(ptc_spool_finish(&s, &all, &err), 0);
	cr_assert_eq(s.len, len + 4);
	cr_assert_eq(memcmp(all, "abx", 3), 0);
	cr_assert_eq(memcmp(all + len + 1, "xcd", 3), 0);
	ptc_spool_release(&s);
	free(bytes);
}

Test(spool, nothing_is_something_too)
{
	struct ptc_spool s = PTC_SPOOL_INIT;
	const uint8_t *all = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_spool_finish(&s, &all, &err), 0);
	cr_assert_not_null(all);
	ptc_spool_release(&s);
}

Test(spool, the_file_is_where_tmpdir_says_and_has_no_name)
{
	char folder[] = "/tmp/ptcap-test-XXXXXX";
	struct ptc_spool s = PTC_SPOOL_INIT;
	uint8_t *bytes = calloc(1, PTC_SPOOL_MEMORY + 1);
	const struct dirent *d;
	struct stat st, there;
	struct ptc_err err;
	DIR *dir;

	cr_assert_not_null(bytes);
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(setenv("TMPDIR", folder, 1), 0);
	cr_assert_eq(ptc_spool_put(&s, bytes, PTC_SPOOL_MEMORY + 1, &err), 0, "%s", err.msg);
	cr_assert(!fstat(s.fd, &st) && !stat(folder, &there));
	cr_assert_eq(st.st_dev, there.st_dev);
	cr_assert_eq(st.st_mode & 077, 0, "nobody else's");
	dir = opendir(folder);
	cr_assert_not_null(dir);
	while ((d = readdir(dir)))
		cr_assert_eq(d->d_name[0], '.', "%s", d->d_name);
	(void)closedir(dir);
	ptc_spool_release(&s);
	cr_assert_eq(rmdir(folder), 0);

	cr_assert_eq(ptc_spool_put(&s, bytes, PTC_SPOOL_MEMORY + 1, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, folder), "%s", err.msg);
	ptc_spool_release(&s);
	free(bytes);
}

Test(spool, a_file_in_memory_counts_in_the_budget)
{
	struct ptc_spool s = PTC_SPOOL_INIT;
	static uint8_t chunk[CHUNK];
	struct ptc_err err = { .code = 0 };
	int r = 0;

	cr_assert(!setenv("TMPDIR", "/dev/shm", 1) && !access("/dev/shm", W_OK),
		  "this test needs a tmpfs at /dev/shm: %m");
	ptc_memory_set_limit((uint64_t)1 << 40);
	ptc_memory_set_limit(((uint64_t)1 << 40) - ptc_budget_left() + 4 * PTC_SPOOL_MEMORY);
	while (!r && s.len < 8 * PTC_SPOOL_MEMORY)
		r = ptc_spool_put(&s, chunk, sizeof(chunk), &err);
	cr_assert_eq(r, PTC_E_NO_MEMORY);
	cr_assert(strstr(err.msg, "--max-memory"), "%s", err.msg);
	cr_assert(s.len > PTC_SPOOL_MEMORY);
	ptc_spool_release(&s);
	cr_assert(ptc_budget_left() > 3 * PTC_SPOOL_MEMORY);
}
