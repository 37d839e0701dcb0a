/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the records behind a pipe-mode header, in memory and through a pipe. Asserted,
 * besides the list in lib_walk.h: both give the same recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/layout.h"
#include "fuzz.h"
#include "lib_walk.h"

enum { MAX = 32768 }; /* a pipe holds it without a reader */

static void compare(const struct ptc_file *a, const struct ptc_file *b)
{
	uint64_t pos_a = 0, pos_b = 0;
	struct ptc_rec ra, rb;
	struct ptc_err err;
	int rc;

	CHECK(ptc_file_size(a) == ptc_file_size(b) && ptc_file_nattrs(a) == ptc_file_nattrs(b));
	do {
		rc = ptc_file_next(a, &pos_a, &ra, &err);
		CHECK(ptc_file_next(b, &pos_b, &rb, &err) == rc);
		CHECK(rc != 1 || (ra.off == rb.off && ra.type == rb.type &&
				  ptc_cur_left(&ra.body) == ptc_cur_left(&rb.body)));
	} while (rc == 1);
}

static void through_pipe(const uint8_t *bytes, size_t len, int want)
{
	struct ptc_file *f, *mem;
	struct ptc_err err;
	char path[32];
	int fd[2];
	int rc;

	CHECK(!pipe(fd));
	CHECK(write(fd[1], bytes, len) == (ssize_t)len);
	CHECK(!close(fd[1]));
	(void)snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	rc = ptc_file_open(path, &f, &err);
	CHECK(rc == want);
	if (!rc) {
		CHECK(!ptc_file_open_bytes(bytes, len, "fuzz", &mem, &err));
		compare(mem, f);
		ptc_file_free(mem);
		ptc_file_free(f);
	}
	CHECK(!close(fd[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t *whole;

	if (len > MAX)
		return 0;
	whole = calloc(1, PTC_PIPE_HEADER_SIZE + len); /* exact size: ASan sees an overread */
	CHECK(whole);
	memcpy(whole, PTC_MAGIC_FILE2, 8);
	whole[8] = PTC_PIPE_HEADER_SIZE;
	if (len)
		memcpy(whole + PTC_PIPE_HEADER_SIZE, bytes, len);
	len += PTC_PIPE_HEADER_SIZE;
	through_pipe(whole, len, wk_file(whole, len));
	free(whole);
	return 0;
}
