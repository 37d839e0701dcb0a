/* SPDX-License-Identifier: MIT */
/*
 * The state of a process that a recording has: threads, mappings and memory, at the moment when a
 * signal killed the process, or while it lived. The state can be written as a core. ptcap/crash.h
 * has the records of the state and their fields.
 *
 * All pointers are lent until the state ends: with ptc_crash_state_free, or with the report that
 * lends the state. The file of the recording must outlive the state. Structures that a function
 * returns may have more members in a later version, so a caller copies none of them.
 */
#ifndef PTCAP_CRASH_STATE_H
#define PTCAP_CRASH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/crash.h"
#include "ptcap/cursor.h"
#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PTC_CRASH_STATE_NO_TIME UINT64_MAX /* time_ns of a signal whose time is not known */

struct ptc_file;
struct ptc_crash_state;
struct ptc_crash_state_thread;
struct ptc_crash_state_map;

/*
 * Read the last state of a process that a signal killed. @pid: the process; 0: any. If @f has no
 * such process: the last state of process @pid, which lived on, or with 0 that of the only process
 * in @f. The caller frees *@ret. PTC_E_NOT_EXIST: there is no such state. PTC_E_USAGE: @pid is 0,
 * and @f has states of several processes that lived on. The message names them. PTC_E_FORMAT,
 * PTC_E_NO_MEMORY.
 */
PTC_API int ptc_crash_state_open(const struct ptc_file *f, uint64_t pid,
				 struct ptc_crash_state **ret, struct ptc_err *err);
/* @d may be NULL. */
PTC_API void ptc_crash_state_free(struct ptc_crash_state *d);

/* Returns the fatal signal, with the process ID. Its signo is 0 if the process lived on. */
PTC_API const struct ptc_crash_signal *ptc_crash_state_signal(const struct ptc_crash_state *d);
/* Returns how the state of a live process was read. NULL: not known, or the process was killed. */
PTC_API const struct ptc_crash_live *ptc_crash_state_live(const struct ptc_crash_state *d);
/* Returns the bytes of stacks and code that were not kept, because there were too many. */
PTC_API uint64_t ptc_crash_state_cut(const struct ptc_crash_state *d);

/* --- threads --- */

/* Returns the number of threads. */
PTC_API size_t ptc_crash_state_threads(const struct ptc_crash_state *d);
/* Returns thread @i, in the order of the recording. NULL: there is no such thread. */
PTC_API const struct ptc_crash_state_thread *
ptc_crash_state_get_thread(const struct ptc_crash_state *d, size_t i);
/*
 * Returns the thread that the signal killed, or the main thread of a process that lived on. NULL:
 * the recording does not have it.
 */
PTC_API const struct ptc_crash_state_thread *
ptc_crash_state_victim(const struct ptc_crash_state *d);

/* Returns the ID of a thread, and its registers. */
PTC_API const struct ptc_crash_thread *
ptc_crash_state_registers(const struct ptc_crash_state_thread *t);
/* Returns more about a thread: its stop and its CPU time. Its tid is 0 if the recording has none.
 */
PTC_API const struct ptc_crash_task *ptc_crash_state_task(const struct ptc_crash_state_thread *t);
/* Returns the name of a thread, not escaped; "": not known. */
PTC_API const char *ptc_crash_state_thread_name(const struct ptc_crash_state_thread *t);
/*
 * Returns the name of the file that the system call of a thread has as its first argument, without
 * a NUL at its end, and not escaped. Empty: not known, or the call has no file.
 */
PTC_API struct ptc_cur ptc_crash_state_call_file(const struct ptc_crash_state_thread *t);

/* --- mappings and memory --- */

/* Returns the number of mappings. */
PTC_API size_t ptc_crash_state_maps(const struct ptc_crash_state *d);
/* Returns mapping @i; addresses ascend. NULL: there is no such mapping. */
PTC_API const struct ptc_crash_state_map *ptc_crash_state_get_map(const struct ptc_crash_state *d,
								  size_t i);
/* Returns the mapping that contains @addr, or NULL. */
PTC_API const struct ptc_crash_state_map *ptc_crash_state_map_at(const struct ptc_crash_state *d,
								 uint64_t addr);

/* Returns the addresses and the protection of a mapping. */
PTC_API const struct ptc_crash_map *ptc_crash_state_map_range(const struct ptc_crash_state_map *m);
/* Returns the name of a mapping, as in /proc/PID/maps, not escaped; "": it has none. */
PTC_API const char *ptc_crash_state_map_name(const struct ptc_crash_state_map *m);

/*
 * Read up to @len bytes of memory at @addr. Returns how many bytes were saved. A recording has the
 * stacks, the code around the registers, and messages of runtimes.
 */
PTC_API size_t ptc_crash_state_memory(const struct ptc_crash_state *d, uint64_t addr, uint8_t *ret,
				      size_t len);

/* --- cores --- */

/* Sizes of a written core. Initialize with PTC_CORE_SIZE_INIT. */
struct ptc_core_size {
	size_t size; /* sizeof(struct ptc_core_size) */
	size_t threads, segments;
	uint64_t memory; /* bytes of all segments */
};

/* Nothing is written. */
#ifdef __cplusplus
static inline struct ptc_core_size ptc_core_size_init(void)
{
	struct ptc_core_size ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_CORE_SIZE_INIT ptc_core_size_init()
#else
/* clang-format off */
#define PTC_CORE_SIZE_INIT                                                                         \
	{                                                                                          \
		.size = sizeof(struct ptc_core_size)                                               \
	}
/* clang-format on */
#endif

/*
 * Write @d to @fd as an ELF core (elf(5), core(5)): the notes of the kernel (linux/elfcore.h,
 * fs/binfmt_elf.c), and a segment for each part of the memory that was saved. The core of a live
 * process has no signal, as gcore(1) writes it.
 *
 * The core has no segment for other memory. gdb 13 would read zeros there, and eu-stack would read
 * other bytes of the core. For the same reason NT_FILE lists no writable or relocated mapping: gdb
 * would take their memory from the files.
 *
 * @name is for messages. PTC_E_FORMAT: the state has no threads. PTC_E_LIMIT: it exceeds the limits
 * of the format. PTC_E_IO. PTC_E_NO_MEMORY.
 */
PTC_API int ptc_core_write(const struct ptc_crash_state *d, int fd, const char *name,
			   struct ptc_core_size *ret, struct ptc_err *err);
/*
 * As ptc_core_write, to the file @path. An existing file becomes @path.old. On failure @path stays
 * as it was.
 */
PTC_API int ptc_core_write_file(const struct ptc_crash_state *d, const char *path,
				struct ptc_core_size *ret, struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
