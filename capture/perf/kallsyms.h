/* SPDX-License-Identifier: MIT */
/*
 * Finds the kernel's code with /proc/kallsyms and /proc/modules: its own text, its modules, and
 * code generated at run time. The latter is BPF programs, and trampolines of ftrace and kprobes;
 * kallsyms lists them as modules.
 */
#ifndef PTC_CAPTURE_PERF_KALLSYMS_H
#define PTC_CAPTURE_PERF_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

/*
 * TRAMPOLINES: entry trampolines of PTI in Linux 4.15 to 4.19, one page per CPU, outside the text.
 */
enum { PTC_TRAMPOLINES_MAX = 512, PTC_KALLSYMS_TEXT_MAX = 256 << 20, PTC_MODULES_MAX = 16 << 20 };

struct ptc_kmodule {
	const char *name; /* borrowed from the text of modules; not NUL-terminated */
	size_t name_len;
	uint64_t addr, size;
};

struct ptc_kallsyms {
	struct ptc_buf kallsyms, modules; /* contents of the files */
	/* addresses; 0: unknown */
	uint64_t text, stext, etext;	  /* _text, _stext, _etext */
	uint64_t first, last;		  /* first and last function of the kernel itself */
	uint64_t first_extra, last_extra; /* first and last function of all other code */
	struct ptc_kmodule *mods;	  /* owned */
	size_t nmods, mods_cap;
	uint64_t tramps[PTC_TRAMPOLINES_MAX];
	size_t ntramps;
};

#define PTC_KALLSYMS_INIT                                                                          \
	{                                                                                          \
		PTC_BUF_INIT, PTC_BUF_INIT, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, { 0 }, 0              \
	}

/*
 * Reads both files below @root ("": the machine's own). PTC_E_PERM: the kernel hides its addresses
 * from us. A kernel without modules has no /proc/modules.
 */
int ptc_kallsyms_read(struct ptc_kallsyms *k, const char *root, struct ptc_err *err);
void ptc_kallsyms_release(struct ptc_kallsyms *k);

#endif
