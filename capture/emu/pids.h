/* SPDX-License-Identifier: MIT */
/*
 * Numbers of processes and threads that have another PID namespace than ptcap. A recording has the
 * numbers that ptcap sees: those of two namespaces may be the same.
 */
#ifndef PTC_CAPTURE_EMU_PIDS_H
#define PTC_CAPTURE_EMU_PIDS_H

#include <stdint.h>
#include <sys/types.h>

/* The PID namespace of the calling process; 0: /proc does not tell. Used by the plugin, too. */
uint64_t ptc_emu_pids_namespace(void);

/* The number here of the process that has number @pid in namespace @ns. 0: it is not found. */
pid_t ptc_emu_pids_find(uint64_t ns, pid_t pid);

/* The number here of the thread that has number @tid in the innermost namespace of process @pid,
 * which is a number here. 0: it is not found. */
pid_t ptc_emu_pids_find_thread(pid_t pid, pid_t tid);

#endif
