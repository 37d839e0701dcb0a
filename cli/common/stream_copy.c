/* SPDX-License-Identifier: MIT */
#include "cli/common/stream_copy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open_input.h"
#include "cli/common/cli.h"
#include "ptcap/bundle.h"

/* Copy standard input to @f. Stops after the magic if the input is no recording and no bundle. */
static bool copy_input(FILE *f)
{
	static const char magic[] = "PERFILE2";
	char buf[1 << 16];
	size_t had = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || fwrite(buf, 1, (size_t)n, f) != (size_t)n)
			return false;
		if (!had &&
		    memcmp(buf, magic, (size_t)n < strlen(magic) ? (size_t)n : strlen(magic)) !=
			    0 &&
		    !ptc_bundle_is(buf, (size_t)n))
			break;
		had += (size_t)n;
	}
	return !fflush(f);
}

/* Make the FIFO at @path the standard input. Waits until a program writes to the FIFO. */
static bool open_fifo(const char *path)
{
	const int fd = ptc_open_input(path);
	bool ok = fd >= 0;

	if (ok && fd != STDIN_FILENO) {
		ok = dup2(fd, STDIN_FILENO) >= 0;
		(void)close(fd);
	}
	if (!ok)
		ptc_say("cannot open '%s': %s", path, strerror(errno));
	return ok;
}

/* True if @path can be read once only. */
static bool is_stream(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return fstat(STDIN_FILENO, &st) || !S_ISREG(st.st_mode);
	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

static int copy_stream(const char *path, FILE *f)
{
	const bool named = strcmp(path, "-") != 0;

	if (named && !open_fifo(path))
		return PTC_EXIT_FAIL;
	if (copy_input(f) && dup2(fileno(f), STDIN_FILENO) >= 0)
		return 0;
	ptc_say("cannot copy %s: %s", named ? path : "standard input", strerror(errno));
	return PTC_EXIT_FAIL;
}

int ptc_sandbox_enter_with_copy(const struct ptc_sandbox *s, const char **path)
{
	const bool copies = is_stream(*path);
	FILE *f = copies ? tmpfile() : NULL; /* the sandbox may forbid creating files */
	int code;

	if (copies && !f) {
		ptc_say("cannot create a temporary file: %s", strerror(errno));
		return PTC_EXIT_FAIL;
	}
	code = ptc_sandbox_enter(s);
	if (!code && f)
		code = copy_stream(*path, f);
	if (f) {
		(void)fclose(f);
		*path = "-";
	}
	return code;
}
