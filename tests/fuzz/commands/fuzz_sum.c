/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as files of `ptcap sum`: a NUL byte ends the first file. Asserted: the sum of a printed
 * sum can be added again, and does not change any more.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz.h"
#include "base/buf.h"
#include "cli/decode/line_buffer.h"
#include "cli/sum/sum.h"
#include "ptcap/memory.h"

static int add(struct ptc_sum *s, const void *bytes, size_t len)
{
	const int fd = memfd_create("sum", MFD_CLOEXEC);
	struct ptc_err err;
	int rc;

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && !lseek(fd, 0, SEEK_SET));
	rc = ptc_sum_add_file(s, fd, "fuzz", &err);
	CHECK(!close(fd));
	return rc;
}

static bool print(struct ptc_sum *s, bool text, struct ptc_buf *out)
{
	static struct ptc_line line;
	const struct ptc_sum_how how = { .text = text, .line = &line };
	bool ok;

	line.into = out;
	line.failed = false;
	ok = s->format->print(s->state, &how);
	ptc_line_flush(&line);
	return ok && !line.failed;
}

/* Has @out the format @f? The first stack of folded stacks may look like another format. */
static bool has_format(const struct ptc_buf *out, const struct ptc_sum_format *f)
{
	const uint8_t *end = out->len ? memchr(out->bytes, '\n', out->len) : NULL;
	const size_t len = end ? (size_t)(end - out->bytes) : 0;
	char *line = end ? malloc(len + 1) : NULL;
	bool same = true;

	if (line) {
		memcpy(line, out->bytes, len);
		line[len] = '\0';
		same = ptc_sum_recognise(line) == f;
	}
	free(line);
	return same;
}

/* Prints the sum of @in to @out. Returns false if out of memory, or if @in has another format. */
static bool sum_again(const struct ptc_sum_format *f, const struct ptc_buf *in, struct ptc_buf *out)
{
	struct ptc_sum s = { .format = NULL };
	bool ok;

	if (!has_format(in, f)) {
		CHECK(f == &ptc_sum_folded_format);
		return false;
	}
	CHECK(!add(&s, in->bytes, in->len));
	ok = s.format ? print(&s, false, out) : true;
	ptc_sum_release(&s);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	const size_t first = end ? (size_t)(end - data) : size;
	struct ptc_buf out = PTC_BUF_INIT, two = PTC_BUF_INIT, three = PTC_BUF_INIT;
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err;

	ptc_memory_set_limit((uint64_t)256 << 20);
	if (!add(&s, data, first) && (!end || !add(&s, end + 1, size - first - 1)) && s.format &&
	    !ptc_sum_finish(&s, &err) && print(&s, false, &out)) {
		/* Shards become an output of another format. */
		if (s.format != &ptc_sum_parts_format && sum_again(s.format, &out, &two) &&
		    sum_again(s.format, &two, &three))
			CHECK(two.len == three.len &&
			      (!two.len || !memcmp(two.bytes, three.bytes, two.len)));
		ptc_buf_reset(&out);
		if (s.format->has_table)
			(void)print(&s, true, &out);
	}
	ptc_sum_release(&s);
	ptc_buf_release(&out);
	ptc_buf_release(&two);
	ptc_buf_release(&three);
	return 0;
}
