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

bool ptc_args_mmap(const char *s, void *rings)
{
	struct ptc_record_rings *o = rings;
	const char *comma = strchr(s, ',');
	const size_t len = comma ? (size_t)(comma - s) : strlen(s);

	return (comma && !len ? true : parse_mmap_one(s, len, &o->data_size)) &&
	       (!comma || parse_mmap_one(comma + 1, strlen(comma + 1), &o->aux_size));
}

bool ptc_args_bytes(const char *s, void *ret)
{
	const size_t len = strlen(s);
	uint64_t *bytes = ret;

	return strspn(s, "0123456789") == len ? ptc_parse_u64(s, bytes) && *bytes :
						parse_mmap_one(s, len, bytes) && *bytes;
}

bool ptc_args_source(const char *s, void *ret)
{
	static const char *const names[] = { [PTC_SOURCE_AUTO] = "auto",
					     [PTC_SOURCE_PT] = "pt",
					     [PTC_SOURCE_STEP] = "step",
					     [PTC_SOURCE_EMU] = "emu" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i] && !strcmp(s, names[i])) {
			*(enum ptc_source_kind *)ret = (enum ptc_source_kind)i;
			return true;
		}
	}
	return false;
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

bool ptc_args_signals(const char *s, void *set)
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
		*(uint64_t *)set |= UINT64_C(1) << (sig - 1);
		s += len;
	} while (*s++);
	return true;
}
