/* SPDX-License-Identifier: MIT */
/*
 * Entries of option tables that several commands have: where to find the code of a recording, and
 * how to print names.
 */
#ifndef PTC_CLI_COMMON_CODE_OPTIONS_H
#define PTC_CLI_COMMON_CODE_OPTIONS_H

#include "cli/common/option_table.h"

/* clang-format off */
#define PTC_OPTION_SYMFS(type, member)                                                             \
	{ "symfs", 0, "DIR", "Find the recorded files below DIR (default: /).",                    \
	  PTC_TEXT(type, member) }

#define PTC_OPTION_DEBUGINFOD(type, member)                                                        \
	{ "debuginfod", 0, "URLS",                                                                 \
	  "Fetch missing files and debug files from these servers (default: DEBUGINFOD_URLS, else " \
	  "none).",                                                                                \
	  PTC_TEXT(type, member) }

/* Three options. @symfs, @urls and @core: the members to set. */
#define PTC_OPTIONS_CODE(type, symfs, urls, core)                                                  \
	PTC_OPTION_SYMFS(type, symfs),                                                             \
	PTC_OPTION_DEBUGINFOD(type, urls),                                                         \
	{ "core", 0, "FILE", "Read code from a core dump of a process. Default: none.",            \
	  PTC_TEXT(type, core) }

/* Two options. */
#define PTC_OPTIONS_KERNEL_CODE(type, kcore, vmlinux)                                              \
	{ "kcore", 0, "PATH",                                                                      \
	  "Read the kernel's code from a copy of /proc/kcore, or from a folder with kcore and "    \
	  "kallsyms. Default: the recording's own copy.",                                          \
	  PTC_TEXT(type, kcore) },                                                                 \
	{ "vmlinux", 0, "FILE",                                                                    \
	  "Read the kernel's code as it was built. Default: found by its build-id.",               \
	  PTC_TEXT(type, vmlinux) }

#define PTC_OPTION_NO_DEMANGLE(type, member)                                                       \
	{ "no-demangle", 0, NULL,                                                                  \
	  "Print the linker's names of C++, Rust and D functions. Default: demangled names.",      \
	  PTC_FLAG(type, member) }

#define PTC_OPTION_NO_PAGER(type, member)                                                          \
	{ "no-pager", 0, NULL, "Print to the terminal without $PAGER.", PTC_FLAG(type, member) }

#define PTC_OPTION_STRICT(type, member)                                                            \
	{ "strict", 0, NULL,                                                                       \
	  "Exit with 3 if there was a gap or a loss. Default: gaps do not change the exit status.", \
	  PTC_FLAG(type, member) }
/* clang-format on */

#endif
