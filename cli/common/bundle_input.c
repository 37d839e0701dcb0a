/* SPDX-License-Identifier: MIT */
#include "cli/common/bundle_input.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/untrusted.h"
#include "cli/common/cli.h"
#include "ptcap/bundle.h"

static bool begins_like_bundle(int fd)
{
	char bytes[PTC_BUNDLE_MAGIC];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       ptc_bundle_is(bytes, sizeof(bytes));
}

/* Only regular files are opened. What comes from a pipe is not known yet. */
static bool may_be_bundle(const char *path)
{
	const struct ptc_untrusted how = { .root = 0 };
	const bool is_stdin = !strcmp(path, "-");
	struct ptc_err ignored;
	struct stat st;
	bool found;
	int fd;

	if (is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st))
		return false;
	if (!S_ISREG(st.st_mode))
		return S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	if (is_stdin)
		return begins_like_bundle(STDIN_FILENO);
	fd = ptc_untrusted_open(path, &how, &st, &ignored);
	if (fd < 0)
		return false;
	found = begins_like_bundle(fd);
	(void)close(fd);
	return found;
}

/* Returns the file name in a word: "FILE", "-iFILE" or "--input=FILE". */
static const char *name_in(const char *word)
{
	const char *value = word[0] == '-' && word[1] == '-' ? strchr(word, '=') : NULL;

	if (value)
		return value + 1;
	return !strncmp(word, "-i", 2) && word[2] ? word + 2 : word;
}

/* Returns false for commands that only write recordings. */
static bool reads_recording(int argc, char *const *argv)
{
	static const char *const writers[] = { "record", "snapshot", "doctor" };
	size_t i;

	for (i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (!strcmp(argv[0], writers[i]))
			return false;
	return strcmp(argv[0], "crash") != 0 ||
	       (argc > 1 && (!strcmp(argv[1], "show") || !strcmp(argv[1], "core")));
}

void ptc_prepare_for_bundles(int argc, char *const *argv)
{
	struct ptc_err ignored;
	bool found;
	int i;

	if (!reads_recording(argc, argv))
		return;
	found = may_be_bundle(PTC_INPUT_DEFAULT);
	for (i = 1; i < argc && strcmp(argv[i], "--") != 0 && !found; i++)
		if (strcmp(argv[i - 1], "-o") != 0) /* the output is not opened */
			found = may_be_bundle(name_in(argv[i]));
	if (found)
		(void)ptc_bundle_load_library(&ignored);
}
