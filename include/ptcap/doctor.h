/* SPDX-License-Identifier: MIT */
/*
 * Checks what this machine and this user can record, and with which command the machine is mended.
 * With a process: also whether this process can be recorded.
 *
 * The library lends the structs. A later version may append members to them, so copy none, and
 * reach each through its function. Strings are lent with the struct.
 */
#ifndef PTCAP_DOCTOR_H
#define PTCAP_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ptc_check_state {
	PTC_CHECK_OK,
	PTC_CHECK_NOTE,	   /* works, with a restriction */
	PTC_CHECK_MISSING, /* the machine does not have it */
	PTC_CHECK_BROKEN,  /* the machine has it, and something forbids or prevents its use */
	PTC_CHECK_UNKNOWN, /* could not be read */
};

/* Returns "ok", "note", "missing", "broken" or "unknown", static. */
PTC_API const char *ptc_check_state_name(enum ptc_check_state state);

/* One check. */
struct ptc_doctor_check {
	const char *name; /* of the check, or a command line of ptcap */
	enum ptc_check_state state;
	const char *value; /* the finding; may contain untrusted names, which are not escaped */
	const char *mend;  /* a command or an action; "": none */
};

enum ptc_doctor_verdict {
	PTC_DOCTOR_NOTHING, /* no source works for this user */
	PTC_DOCTOR_SOFTWARE,
	PTC_DOCTOR_HARDWARE, /* this user may record own programs with Intel PT */
};

/* Sizes of the two rings of a CPU, in bytes. */
struct ptc_ring_sizes {
	uint64_t data, aux;
};

/* What the software sources cost on this machine. 0: not measured. */
struct ptc_doctor_costs {
	uint64_t native_ns;	  /* a small shell loop without ptcap */
	uint64_t emu_ns;	  /* the same loop, emulated */
	uint64_t emu_per_second;  /* instructions */
	uint64_t step_per_second; /* instructions */
	uint64_t step_slowdown;	  /* against a run without ptcap; needs emu */
};

/* The process that was checked. */
struct ptc_doctor_process {
	pid_t pid;
	const char *name; /* the kernel's, untrusted */
	size_t threads;
	bool more_files; /* the process maps more files than the doctor lists */
};

/* A mapped file with code. */
struct ptc_doctor_file {
	const char *name; /* as the process sees it, and untrusted */
	bool gone;	  /* the name now belongs to another file, or to none */
	bool in_memory;	  /* shared memory of a kernel's name: no folder has the file */
};

/* Initialize with PTC_DOCTOR_OPTS_INIT. */
struct ptc_doctor_opts {
	size_t size;	    /* sizeof(struct ptc_doctor_opts) */
	pid_t pid;	    /* a process to check too; 0: none */
	bool quick;	    /* measure nothing */
	const char *folder; /* of the recordings: its disk is checked; NULL: the current one */
};

/* The machine only. */
#ifdef __cplusplus
static inline struct ptc_doctor_opts ptc_doctor_opts_init(void)
{
	struct ptc_doctor_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_DOCTOR_OPTS_INIT ptc_doctor_opts_init()
#else
/* clang-format off */
#define PTC_DOCTOR_OPTS_INIT                                                                   \
	{                                                                                          \
		.size = sizeof(struct ptc_doctor_opts)                                             \
	}
/* clang-format on */
#endif

/* The checks and their verdict. */
struct ptc_doctor;

/*
 * Make all checks of this machine and user. Takes about two seconds, or a fraction of one with
 * opts->quick. A process runs on undisturbed. A check whose facts cannot be read has
 * PTC_CHECK_UNKNOWN. The caller owns *@ret. PTC_E_NOT_EXIST: there is no process opts->pid.
 * PTC_E_USAGE: options without a size. PTC_E_UNSUPPORTED: unknown options of a newer caller.
 * PTC_E_NO_MEMORY.
 */
PTC_API int ptc_doctor_new(const struct ptc_doctor_opts *opts, struct ptc_doctor **ret,
			   struct ptc_err *err);
/* @d may be NULL. */
PTC_API void ptc_doctor_free(struct ptc_doctor *d);

PTC_API enum ptc_doctor_verdict ptc_doctor_verdict(const struct ptc_doctor *d);

/* Return the number of checks, and check @i, lent until ptc_doctor_free. NULL: no more. */
PTC_API size_t ptc_doctor_nchecks(const struct ptc_doctor *d);
PTC_API const struct ptc_doctor_check *ptc_doctor_check(const struct ptc_doctor *d, size_t i);

/* Same, for the commands of ptcap that this user may want: whether each works. */
PTC_API size_t ptc_doctor_ncommands(const struct ptc_doctor *d);
PTC_API const struct ptc_doctor_check *ptc_doctor_command(const struct ptc_doctor *d, size_t i);

/* Returns the largest rings that each CPU can have, lent until ptc_doctor_free. Zeros: none. */
PTC_API const struct ptc_ring_sizes *ptc_doctor_rings(const struct ptc_doctor *d);

/* Lent until ptc_doctor_free. */
PTC_API const struct ptc_doctor_costs *ptc_doctor_costs(const struct ptc_doctor *d);

/* Returns the process that was checked, lent until ptc_doctor_free. NULL: none. */
PTC_API const struct ptc_doctor_process *ptc_doctor_process(const struct ptc_doctor *d);

/*
 * Return the number of files with code that the process maps, each name once, and file @i, lent
 * until ptc_doctor_free. NULL: no more. ptcap/debug_state.h finds their debug files.
 */
PTC_API size_t ptc_doctor_nfiles(const struct ptc_doctor *d);
PTC_API const struct ptc_doctor_file *ptc_doctor_file(const struct ptc_doctor *d, size_t i);

#ifdef __cplusplus
}
#endif
#endif
