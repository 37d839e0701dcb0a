/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel has code, as /proc/kallsyms and /proc/modules say: its own
 * text, its modules, and what it makes while it runs (BPF programs, trampolines
 * of ftrace and kprobes), which kallsyms has as modules of their own.
 */
#ifndef PTC_CAPTURE_PERF_KALLSYMS_H
#define PTC_CAPTURE_PERF_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* PTI's way in from Linux 4.15 to 4.19: a page for each CPU, outside the text. */
enum { PTC_TRAMPOLINES_MAX = 512, PTC_KALLSYMS_TEXT_MAX = 256 << 20, PTC_MODULES_MAX = 16 << 20 };

struct ptc_kmodule {
	const char *name; /* lent from the text of modules: not terminated */
	size_t name_len;
	uint64_t addr, size;
};

struct ptc_kallsyms {
	struct ptc_buf kallsyms, modules; /* the files */
	/* addresses; 0: there is none */
	uint64_t text, stext, etext;	  /* _text, _stext, _etext */
	uint64_t first, last;		  /* the first and last function of the kernel proper */
	uint64_t first_extra, last_extra; /* and of all else */
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
 * Read both below @root ("": the machine's own). PTC_E_PERM: the kernel hides its addresses
 * from us. A kernel without modules has no /proc/modules.
 */
int ptc_kallsyms_read(struct ptc_kallsyms *k, const char *root, struct ptc_err *err);
void ptc_kallsyms_release(struct ptc_kallsyms *k);

#endif
