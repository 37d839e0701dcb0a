/* SPDX-License-Identifier: MIT */
/*
 * Writes the state of a dead or live process as an ELF core (elf(5), core(5)): the notes of the
 * kernel (linux/elfcore.h, fs/binfmt_elf.c), and a segment for each part of the memory that was
 * saved. The core of a live process has no signal, as gcore(1) writes it.
 *
 * The core has no segment for other memory. gdb 13 would read zeros there, and eu-stack would read
 * other bytes of the core. For the same reason NT_FILE lists no writable or relocated mapping: gdb
 * would take their memory from the files.
 */
#ifndef PTC_DECODE_CRASH_CORE_WRITE_H
#define PTC_DECODE_CRASH_CORE_WRITE_H

#include "decode/crash/crash_state.h"

/* Sizes of the written core. */
struct ptc_core_size {
	size_t threads, segments;
	uint64_t memory; /* bytes of all segments */
};

/*
 * Write @d to @fd. @name is for messages. PTC_E_FORMAT: the state has no threads. PTC_E_LIMIT: it
 * exceeds the limits of the format. PTC_E_IO. PTC_E_NO_MEMORY.
 */
int ptc_core_write(const struct ptc_crash_state *d, int fd, const char *name,
		   struct ptc_core_size *ret, struct ptc_err *err);

/* As ptc_core_write, to the file @path (base/tmpfile.h). On failure @path stays as it was. */
int ptc_core_write_file(const struct ptc_crash_state *d, const char *path,
			struct ptc_core_size *ret, struct ptc_err *err);

#endif
