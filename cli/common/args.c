/* SPDX-License-Identifier: MIT */
#include "cli/common/args.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"

/* Parse one part of perf's -m: pages, or a size with a suffix. */
static bool parse_mmap_one(const char *s, size_t len, uint64_t *ret)
{
	char text[32];
	uint64_t v;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	if (ptc_parse_u64(text, &v))
		return !__builtin_mul_overflow(v, (uint64_t)sysconf(_SC_PAGESIZE), ret);
	if (text[len - 1] == 'B' || text[len - 1] == 'b')
		text[len - 1] = '\0';
	return ptc_parse_size(text, ret);
}

bool ptc_args_mmap(const char *s, struct ptc_record_opts *o)
{
	const char *comma = strchr(s, ',');
	const size_t len = comma ? (size_t)(comma - s) : strlen(s);

	return (comma && !len ? true : parse_mmap_one(s, len, &o->data_size)) &&
	       (!comma || parse_mmap_one(comma + 1, strlen(comma + 1), &o->aux_size));
}

bool ptc_args_bytes(const char *s, uint64_t *ret)
{
	const size_t len = strlen(s);

	return strspn(s, "0123456789") == len ? ptc_parse_u64(s, ret) && *ret :
						parse_mmap_one(s, len, ret) && *ret;
}

bool ptc_args_source(const char *s, enum ptc_source_kind *ret)
{
	if (!strcmp(s, "auto"))
		*ret = PTC_SOURCE_AUTO;
	else if (!strcmp(s, "pt"))
		*ret = PTC_SOURCE_PT;
	else if (!strcmp(s, "step"))
		*ret = PTC_SOURCE_STEP;
	else if (!strcmp(s, "emu"))
		*ret = PTC_SOURCE_EMU;
	else
		return false;
	return true;
}

bool ptc_args_ids(const char *s, pid_t *list, size_t *n)
{
	while (*s) {
		const size_t len = strcspn(s, ",");
		char text[16];
		uint64_t v;

		if (!len || len >= sizeof(text) || *n == PTC_MAX_TARGETS)
			return false;
		memcpy(text, s, len);
		text[len] = '\0';
		if (!ptc_parse_u64(text, &v) || !v || v > INT32_MAX)
			return false;
		list[(*n)++] = (pid_t)v;
		s += len;
		if (*s == ',' && !*++s)
			return false;
	}
	return *n != 0;
}

enum { SIGNAL_MAX = 64 };

/*
 * Returns the signal with the name or number @text: "USR1", "SIGUSR1" or "10". 0: no such signal.
 */
static unsigned int signal_of(const char *text)
{
	const char *bare = strncmp(text, "SIG", 3) ? text : text + 3;
	unsigned int sig;
	uint64_t v;

	if (ptc_parse_u64(text, &v))
		return v <= SIGNAL_MAX ? (unsigned int)v : 0;
	for (sig = 1; sig < SIGNAL_MAX; sig++) {
		const char *name = sigabbrev_np((int)sig);

		if (name && !strcmp(name, bare))
			return sig;
	}
	return 0;
}

bool ptc_args_signals(const char *s, uint64_t *set)
{
	do {
		const size_t len = strcspn(s, ",");
		unsigned int sig;
		char text[16];

		if (len >= sizeof(text))
			return false;
		memcpy(text, s, len);
		text[len] = '\0';
		sig = signal_of(text);
		if (!sig || sig == SIGKILL)
			return false;
		*set |= UINT64_C(1) << (sig - 1);
		s += len;
	} while (*s++);
	return true;
}
