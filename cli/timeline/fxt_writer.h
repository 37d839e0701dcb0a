/* SPDX-License-Identifier: MIT */
/*
 * Records of the Fuchsia trace format (FXT). A record is a multiple of 8 bytes and begins with a
 * word that has its type and length. doc/format.md lists the records that ptcap writes.
 * https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format
 */
#ifndef PTC_CLI_TIMELINE_FXT_WRITER_H
#define PTC_CLI_TIMELINE_FXT_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

enum ptc_fxt_event { PTC_FXT_INSTANT = 0, PTC_FXT_BEGIN = 2, PTC_FXT_END = 3 };
enum ptc_fxt_object { PTC_FXT_PROCESS = 1, PTC_FXT_OBJECT_THREAD = 2 };

/* Indexes of the table of strings: 0 is the empty string. */
enum { PTC_FXT_STRINGS_MAX = 32767, PTC_FXT_ARGS_MAX = 4 };

/* An argument of an event: a string (of the table) or a number. */
struct ptc_fxt_arg {
	uint16_t name;	 /* index of a string */
	uint16_t string; /* index of a string; 0: the argument is a number */
	uint64_t number;
};

struct ptc_fxt_args {
	struct ptc_fxt_arg v[PTC_FXT_ARGS_MAX];
	size_t n;
};

/* Initialize with zeros, fd and name. */
struct ptc_fxt_writer {
	int fd;
	const char *name;   /* of the output, for messages; borrowed */
	struct ptc_buf buf; /* records that are not written yet */
	uint64_t written;   /* bytes */
};

void ptc_fxt_release(struct ptc_fxt_writer *w);

/* The functions return 0, PTC_E_IO or PTC_E_NO_MEMORY. */

/* Begins the file: its magic number, the provider @provider (at most 255 bytes), 1 tick = 1 ns. */
int ptc_fxt_begin(struct ptc_fxt_writer *w, const char *provider, struct ptc_err *err);
/* Gives the string @text (at most 32,000 bytes of UTF-8) the index @index. */
int ptc_fxt_string(struct ptc_fxt_writer *w, uint16_t index, const char *text, struct ptc_err *err);
/* Gives a thread the index @index, from 1 to 255. */
int ptc_fxt_thread(struct ptc_fxt_writer *w, uint8_t index, int32_t pid, int32_t tid,
		   struct ptc_err *err);
/* Names a process. With @process_arg (index of the string "process") a thread of process @pid. */
int ptc_fxt_object(struct ptc_fxt_writer *w, enum ptc_fxt_object type, int32_t id, const char *name,
		   uint16_t process_arg, int32_t pid, struct ptc_err *err);
/*
 * Writes an event of the thread with index @thread. Its name is the string @name, or @text, if that
 * is not NULL.
 */
int ptc_fxt_event(struct ptc_fxt_writer *w, enum ptc_fxt_event type, uint8_t thread,
		  uint16_t category, uint16_t name, const char *text, uint64_t ns,
		  const struct ptc_fxt_args *args, struct ptc_err *err);
/* Writes the rest. */
int ptc_fxt_flush(struct ptc_fxt_writer *w, struct ptc_err *err);

/* Returns the bytes of a string record. */
uint64_t ptc_fxt_string_bytes(const char *text);

#endif
