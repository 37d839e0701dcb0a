/* SPDX-License-Identifier: MIT */
/*
 * Reimplements the rules of execve for a file: QEMU loads only ELF files, and does not handle "#!".
 * Used by ptcap and by the plugin, so there is no ptc_err.
 */
#ifndef PTC_CAPTURE_EMU_PROGRAM_H
#define PTC_CAPTURE_EMU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_emu_program {
	char *path;  /* the ELF file to load; points into text */
	char **argv; /* owned array; its strings belong to the caller or to text */
	char *text;  /* owned */
};

enum ptc_emu_verdict {
	PTC_EMU_RUNS,	   /* *ret is set */
	PTC_EMU_FOREIGN,   /* executable, but not by this emulation: not 64-bit x86 */
	PTC_EMU_NO_FORMAT, /* execve would return ENOEXEC */
	PTC_EMU_FAILS,	   /* execve would fail; it knows the errno */
	PTC_EMU_NO_MEMORY,
};

/*
 * Resolves @path with arguments @argv (including argv[0]). Caller releases *ret if the result is
 * PTC_EMU_RUNS.
 */
enum ptc_emu_verdict ptc_emu_program_find(const char *path, char *const *argv,
					  struct ptc_emu_program *ret);
void ptc_emu_program_release(struct ptc_emu_program *p);

/*
 * Returns true if the kernel would give @p rights that its caller lacks. Under emulation the kernel
 * executes QEMU instead, which gets no rights.
 */
bool ptc_emu_program_has_rights(const struct ptc_emu_program *p);

/*
 * Returns the command line of QEMU for @p: @qemu -cpu max -plugin @plugin -0 argv[0] path
 * argv[1]... An owned array of borrowed strings; NULL: out of memory.
 */
char **ptc_emu_program_line(const struct ptc_emu_program *p, const char *qemu, const char *plugin);

#endif
