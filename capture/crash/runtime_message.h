/* SPDX-License-Identifier: MIT */
/* Saves the messages of runtimes, of a process that is about to abort (arch/message_collect.h). */
#ifndef PTC_CAPTURE_CRASH_RUNTIME_MESSAGE_H
#define PTC_CAPTURE_CRASH_RUNTIME_MESSAGE_H

#include <sys/types.h>

#include "base/buf.h"

struct ptc_maps;
struct user_regs_struct;

/*
 * Append the messages of the stopped thread @tid of process @pid as records, and their memory.
 * @maps: the mappings of the process. @regs: the thread's registers.
 */
void ptc_state_put_messages(struct ptc_buf *b, pid_t pid, pid_t tid,
			    const struct user_regs_struct *regs, const struct ptc_maps *maps);

#endif
