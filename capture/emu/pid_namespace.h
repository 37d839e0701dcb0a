/* SPDX-License-Identifier: MIT */
/*
 * Converts process and thread numbers from another PID namespace to ptcap's. A recording uses
 * ptcap's numbers, since two namespaces may use the same number.
 */
#ifndef PTC_CAPTURE_EMU_PID_NAMESPACE_H
#define PTC_CAPTURE_EMU_PID_NAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the PID namespace of the calling process; 0: /proc does not tell. Used by the plugin too.
 */
uint64_t ptc_emu_pids_namespace(void);

/* Returns our number of the process that has number @pid in namespace @ns. 0: not found. */
pid_t ptc_emu_pids_find(uint64_t ns, pid_t pid);

/*
 * Returns our number of a thread of process @pid, which is our number. @tid is the thread's number
 * in the innermost namespace of the process. 0: not found.
 */
pid_t ptc_emu_pids_find_thread(pid_t pid, pid_t tid);

#endif
