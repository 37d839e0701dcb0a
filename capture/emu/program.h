/* SPDX-License-Identifier: MIT */
/*
 * What execve would do with a file, worked out by hand: QEMU loads ELF files only,
 * and knows nothing of "#!". Used by ptcap and by the plugin, so no ptc_err.
 */
#ifndef PTC_CAPTURE_EMU_PROGRAM_H
#define PTC_CAPTURE_EMU_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_emu_program {
	char *path;  /* the ELF file to load; in text */
	char **argv; /* owned array; the strings are the caller's, or in text */
	char *text;  /* owned */
};

enum ptc_emu_verdict {
	PTC_EMU_RUNS,	   /* *ret is set */
	PTC_EMU_FOREIGN,   /* it may run, but not under this emulation: not 64-bit x86 */
	PTC_EMU_NO_FORMAT, /* execve would say ENOEXEC */
	PTC_EMU_FAILS,	   /* execve would fail; it knows the errno */
	PTC_EMU_NO_MEMORY,
};

/* @path with arguments @argv (argv[0] too). Release *ret if it was set. */
enum ptc_emu_verdict ptc_emu_program_find(const char *path, char *const *argv,
					  struct ptc_emu_program *ret);
void ptc_emu_program_release(struct ptc_emu_program *p);

/* Would the kernel give @p rights that its caller has not? It executes QEMU instead, which has
 * none. */
bool ptc_emu_program_has_rights(const struct ptc_emu_program *p);

/*
 * The command line of QEMU for @p: @qemu -cpu max -plugin @plugin -0 argv[0] path
 * argv[1]... An owned array of borrowed strings; NULL: out of memory.
 */
char **ptc_emu_program_line(const struct ptc_emu_program *p, const char *qemu, const char *plugin);

#endif
