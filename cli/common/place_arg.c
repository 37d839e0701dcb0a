/* SPDX-License-Identifier: MIT */
#include "cli/common/place_arg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/find_program.h"
#include "cli/common/cli.h"
#include "ptcap/locate.h"

int ptc_place_program(char *const *argv, pid_t pid, char **ret, struct ptc_err *err)
{
	char link[64], *found;
	int rc;

	if (!argv) {
		(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
		*ret = realpath(link, NULL);
		return *ret ? 0 : ptc_fail_sys(err, errno, "cannot open process %d", (int)pid);
	}
	rc = ptc_find_program(argv[0], &found, err);
	if (rc)
		return rc;
	*ret = realpath(found, NULL);
	if (!*ret)
		rc = ptc_fail_sys(err, errno, "cannot open '%s'", found);
	free(found);
	return rc;
}

/* Split "NAME+OFFSET". Returns false if the offset is not a number. */
static bool take_offset(char *name, uint64_t *ret)
{
	char *plus = strrchr(name, '+');

	*ret = 0;
	if (!plus)
		return true;
	*plus = '\0';
	return ptc_parse_u64(plus + 1, ret);
}

static int resolve(const char *name, const char *file, uint64_t *ret, struct ptc_err *err)
{
	uint64_t addr;

	if (ptc_parse_u64(name, &addr))
		return ptc_locate_addr(file, addr, ret, err);
	return ptc_locate_symbol(file, name, ret, err);
}

/* Report a missing file. A bare name is searched only in the current folder. */
static int say_no_file(const char *file, struct ptc_err *err)
{
	if (errno != ENOENT || strchr(file, '/'))
		return ptc_fail_sys(err, errno, "cannot open '%s'", file);
	return ptc_fail(
		err, PTC_E_NOT_EXIST,
		"cannot open '%s': not in the current folder; write the whole path after @, "
		"for example @/usr/lib/%s",
		file, file);
}

int ptc_place_parse(const char *text, const char *program, struct ptc_place *ret,
		    struct ptc_err *err)
{
	char *name = strdup(text), *at, *file = NULL;
	uint64_t addr, offset;
	int rc = 0;

	*ret = (struct ptc_place){ .file = NULL };
	if (!name)
		return ptc_fail_mem(err);
	at = strrchr(name, '@');
	if (at)
		*at = '\0';
	if (!take_offset(name, &offset) || !*name || (at && !at[1])) {
		rc = ptc_fail(err, PTC_E_USAGE,
			      "invalid place '%s': expected SYMBOL or 0xADDRESS, then +OFFSET, "
			      "then @FILE",
			      text);
	} else if (!at && ptc_parse_u64(name, &addr)) {
		ret->addr = addr + offset;
	} else {
		file = realpath(at ? at + 1 : program, NULL);
		rc = file ? resolve(name, file, &ret->addr, err) :
			    say_no_file(at ? at + 1 : program, err);
		ret->addr += offset;
	}
	free(name);
	if (rc)
		free(file);
	else
		ret->file = file;
	return rc;
}
