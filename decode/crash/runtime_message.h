/* SPDX-License-Identifier: MIT */
/*
 * The message of the runtime that aborted a process: of the C library, an exception that nobody
 * caught, or a panic. It is read from the saved memory.
 */
#ifndef PTC_DECODE_CRASH_RUNTIME_MESSAGE_H
#define PTC_DECODE_CRASH_RUNTIME_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/crash/crash_state.h"
#include "ptcap/crash_report.h"

enum { PTC_MESSAGE_TYPE = 1024, PTC_MESSAGE_TEXT = 2048, PTC_MESSAGE_FILE = 512 };

struct ptc_runtime_message {
	enum ptc_crash_message_kind kind;
	/* of an exception, demangled; of a report: the kind of the error; otherwise "" */
	char type[PTC_MESSAGE_TYPE];
	char text[PTC_MESSAGE_TEXT]; /* not escaped; "": the message is not known */
	bool cut;		     /* the text is longer */
	char file[PTC_MESSAGE_FILE]; /* of a panic: its place in the source; otherwise "" */
	uint32_t line, column;
	uint64_t goroutine; /* of a Go panic: the number of the goroutine */
	/* address of the exception's function what(), or 0 */
	uint64_t what;
};

/*
 * Read message @i of @d. Returns false if the memory has no such message. A Go panic is none here:
 * go_message.h reads it. The memory is from a
 * recording: the text may have any characters.
 */
bool ptc_runtime_message_read(const struct ptc_crash_state *d, size_t i,
			      struct ptc_runtime_message *ret);

/*
 * Returns true if the function with this name returns the string that the standard's exceptions
 * keep. @type: the exception's type, which counts if @what is NULL: the function has no known name.
 */
bool ptc_runtime_message_is_what(const char *what, const char *type);

/*
 * Returns true if @function, which may be NULL, ends a program because of an exception. While it
 * runs, it is on the stack.
 */
bool ptc_runtime_message_terminates(const char *function);

/*
 * Find the messages, and Python's frames, in the memory of a process in which @thread was killed.
 * @read reads up to @len bytes. Adds messages and memory to @d, whose mappings are known. Returns
 * false if out of memory.
 */
bool ptc_runtime_message_find(struct ptc_crash_state *d,
			      size_t (*read)(void *ctx, uint64_t addr, void *to, size_t len),
			      void *ctx, const struct ptc_crash_thread *thread);

#endif
