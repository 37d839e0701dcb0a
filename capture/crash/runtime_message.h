/* SPDX-License-Identifier: MIT */
/*
 * Saves the messages of runtimes, of a process that is about to abort, and Python's frames
 * (arch/message_collect.h).
 */
#ifndef PTC_CAPTURE_CRASH_RUNTIME_MESSAGE_H
#define PTC_CAPTURE_CRASH_RUNTIME_MESSAGE_H

#include "base/buf.h"

struct ptc_maps;
struct ptc_state;
struct user_regs_struct;

/*
 * Append the messages of the stopped thread of @s as records, and their memory. @maps: the mappings
 * of the process. @regs: the thread's registers.
 */
void ptc_state_put_messages(struct ptc_buf *b, const struct ptc_state *s,
			    const struct user_regs_struct *regs, const struct ptc_maps *maps);

#endif
