/* SPDX-License-Identifier: MIT */
#include "cli/convert/copy_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "ptcap/feature.h"

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Get the status of NAME.old, which would be replaced when @output is renamed. */
static bool stat_old(const char *output, struct stat *ret)
{
	size_t len = strlen(output);
	char *old;
	bool found;

	while (len > 1 && output[len - 1] == '/')
		len--;
	if (asprintf(&old, "%.*s.old", (int)len, output) < 0)
		return false;
	found = !lstat(old, ret);
	free(old);
	return found;
}

/* Return whether @folder is the parent folder of @output. */
static bool is_in(const struct stat *folder, const char *output)
{
	const char *slash = strrchr(output, '/');
	char *parent = slash ? strndup(output, (size_t)(slash - output) + 1) : strdup(".");
	struct stat st;
	bool found;

	found = parent && !stat(parent, &st) && is_same(folder, &st);
	free(parent);
	return found;
}

bool ptc_copying_clash(const char *command, const char *input, const char *output)
{
	struct stat in, out;

	if (strcmp(output, "-") == 0)
		return false;
	if (strcmp(input, "-") ? stat(input, &in) : fstat(STDIN_FILENO, &in))
		return false;
	if (S_ISDIR(in.st_mode) && is_in(&in, output)) {
		(void)ptc_usage_error(command, "the output '%s' is inside the input", output);
		return true;
	}
	if (stat(output, &out))
		return false;
	if (is_same(&in, &out)) {
		(void)ptc_usage_error(command, "the output '%s' is the input itself", output);
		return true;
	}
	if (stat_old(output, &out) && is_same(&in, &out)) {
		(void)ptc_usage_error(command,
				      "the backup of the output, '%s.old', would replace the input",
				      output);
		return true;
	}
	return false;
}

void ptc_copying_say_lost(const struct ptc_copy_stats *st)
{
	unsigned int bit;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		const char *name = ptc_feature_name(bit);

		if (!st->lost_feature[bit])
			continue;
		if (name)
			ptc_say("left out feature %s, which pipe mode does not support", name);
		else
			ptc_say("left out feature %u, which pipe mode does not support", bit);
	}
}
