/* SPDX-License-Identifier: MIT */
#include "cli/common/text_escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "ptcap/file.h"

enum { CHAR_MAX_BYTES = 4 };

void ptc_show_plain(const char *s)
{
	char copy[CHAR_MAX_BYTES + 1];
	bool plain;
	size_t n;

	for (; (n = ptc_plain_next(s, &plain)); s += n) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		memcpy(copy, s, n);
		copy[n] = '\0';
		ptc_plain_put(stdout, copy);
	}
}

void ptc_show_text(const char *s)
{
	putchar('"');
	ptc_show_plain(s);
	putchar('"');
}

void ptc_show_word(const char *s)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-_./:=,+@%";

	if (*s && !s[strspn(s, safe)])
		ptc_show_plain(s);
	else
		ptc_show_text(s);
}

void ptc_show_time(uint64_t ns)
{
	printf("%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static void show_bits(uint64_t bits, const char *const *names, size_t n)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < n; i++) {
		if (!names[i] || !(bits >> i & 1))
			continue;
		printf("%s%s", separator, names[i]);
		separator = "|";
		bits &= ~(UINT64_C(1) << i);
	}
	if (bits || !*separator)
		printf("%s0x%" PRIx64, separator, bits);
}

void ptc_show_sample_type(uint64_t type)
{
	static const char *const names[] = {
		"IP",
		"TID",
		"TIME",
		"ADDR",
		"READ",
		"CALLCHAIN",
		"ID",
		"CPU",
		"PERIOD",
		"STREAM_ID",
		"RAW",
		"BRANCH_STACK",
		"REGS_USER",
		"STACK_USER",
		"WEIGHT",
		"DATA_SRC",
		"IDENTIFIER",
		"TRANSACTION",
		"REGS_INTR",
		"PHYS_ADDR",
		"AUX",
		"CGROUP",
		"DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE",
		"WEIGHT_STRUCT",
	};

	show_bits(type, names, sizeof(names) / sizeof(names[0]));
}

void ptc_show_aux_flags(uint64_t flags)
{
	static const char *const names[] = { "TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION" };

	if (flags)
		show_bits(flags, names, sizeof(names) / sizeof(names[0]));
	else
		putchar('0');
}
