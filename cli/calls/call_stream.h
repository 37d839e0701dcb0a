/* SPDX-License-Identifier: MIT */
/*
 * The calls of a recording for commands that show or sum them: each function and each thread has a
 * number, and each entry has its end. Functions are identified by file and offset, not by address,
 * so they are equal across processes.
 */
#ifndef PTC_CLI_CALLS_CALL_STREAM_H
#define PTC_CLI_CALLS_CALL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "cli/common/code_parts.h"
#include "cli/common/number_index.h"
#include "cli/common/string_pool.h"
#include "ptcap/calls.h"
#include "ptcap/decode.h"
#include "ptcap/part_calls.h"

/* A function, or a place that belongs to no known function. */
struct ptc_function {
	uint32_t name; /* number in the stream's names; 0: not known */
	uint32_t file; /* as recorded; number in the stream's names; 0: not known */
	/* Offset of its start (without a name: of the entry) in the file; without a file an address
	 */
	uint64_t off;
	uint32_t id;  /* the file's build-id in hex; number in the stream's names; 0: not known */
	bool inlined; /* a function that was inlined: the offset is 0 */
};

/* A place in the source. */
struct ptc_source_line {
	uint32_t file; /* number in the stream's names; 0: not known */
	uint32_t line; /* 0: not known */
};

/* A life of a thread: it ends when the tid is reused, and when the process executes a program. */
struct ptc_call_thread {
	int32_t pid, tid;
	uint64_t life;			/* ptc_decode_life */
	char name[PTC_THREAD_NAME_MAX]; /* the last one before the end; "": not known */
	/* First and last item. Times may be PTC_NO_TIME. */
	uint64_t first_time, last_time, first_insns, last_insns;
	uint64_t insns_before; /* instructions of earlier lives of this tid */
	uint32_t *stack; /* owned; numbers of the functions that are open, the outermost first */
	size_t depth, cap;
};

/* The number of a thread or function that is not known. */
#define PTC_NO_NUMBER UINT32_MAX

/* One entry or end of a function, or a gap. */
struct ptc_call_event {
	/* Type, how, depth, times, counts, addresses and item. Entries and ends are balanced. */
	const struct ptc_call *call;
	uint32_t thread;   /* LOST: PTC_NO_NUMBER, if the gap belongs to no thread */
	uint32_t function; /* LOST: PTC_NO_NUMBER */
	/* Instructions of earlier lives of the tid, which the counts of the call include. LOST: 0.
	 */
	uint64_t insns_before;
};

/* Answers about the addresses of an item, in place of a decode. */
struct ptc_call_lookup {
	/* Returns the start of the function at @ip; 0: unknown. */
	uint64_t (*start)(void *ctx, const struct ptc_item *it, uint64_t ip);
	/* Returns the number of this function; PTC_NO_NUMBER: out of memory. */
	uint32_t (*number)(void *ctx, const struct ptc_item *it, uint64_t ip);
	const char *(*name)(void *ctx, const struct ptc_item *it, uint64_t ip);
	uint64_t (*life)(void *ctx, const struct ptc_item *it);
	const char *(*thread_name)(void *ctx, int32_t tid); /* NULL: not known */
	/*
	 * Returns the source line of @ip, or of the begin of its function. file UINT32_MAX: out of
	 * memory.
	 */
	struct ptc_source_line (*line)(void *ctx, const struct ptc_item *it, uint64_t ip);
	struct ptc_source_line (*begin)(void *ctx, const struct ptc_item *it, uint64_t ip);
};

/* What a caller wants. Borrowed until ptc_call_stream_release. */
struct ptc_call_stream_opts {
	struct ptc_decode *d; /* with opts.lengths; for instructions also opts.icount */
	bool inlines;	      /* inlined functions, too */
	/* Returns non-zero to stop decoding. */
	int (*on_event)(void *ctx, const struct ptc_call_event *event);
	void *ctx;
	/*
	 * The items are of a part of the trace: the events are of calls inside of the part, and
	 * this gets the steps. NULL: all of the trace.
	 */
	int (*on_step)(void *ctx, const struct ptc_part_step *step);
	const struct ptc_call_lookup *lookup; /* with d NULL, and no inlined functions */
};

struct ptc_call_stream {
	struct ptc_call_stream_opts opts;
	struct ptc_calls *calls;	  /* owned; NULL: parts has all */
	struct ptc_part_calls *parts;	  /* owned; with opts.on_step */
	struct ptc_inline_calls *inlines; /* owned; NULL: not wanted */
	struct ptc_names names;
	struct ptc_function *functions; /* owned; number of a function: index in this array */
	size_t nfunctions, functions_cap;
	struct ptc_number_index function_index;
	struct ptc_call_thread *threads; /* owned; in the order of their first entries */
	size_t nthreads, threads_cap;
	struct ptc_idmap tids; /* indexes into newest */
	uint32_t *newest;      /* owned; number of the newest thread with a tid */
	size_t newest_cap, last_tid;
	struct ptc_function_seen *seen; /* owned; functions of addresses, the most recent ones */
	struct ptc_code_parts code;
};

/* Returns 0 or PTC_E_NO_MEMORY. On failure nothing needs a release. */
int ptc_call_stream_init(struct ptc_call_stream *s, const struct ptc_call_stream_opts *opts);
void ptc_call_stream_release(struct ptc_call_stream *s);

/* ptc_sink.on_items; ctx is a struct ptc_call_stream. */
int ptc_call_stream_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * The same, item by item: _begin at the begin of on_items, because mappings may have changed since
 * the last call, and then _item for each item. Returns 0, or the non-zero result of on_event.
 */
void ptc_call_stream_begin(struct ptc_call_stream *s);
int ptc_call_stream_item(struct ptc_call_stream *s, const struct ptc_item *it);

/*
 * Report the end of all open functions. To be called once, after the decode. With opts.on_step:
 * give a step for each thread, also during the decode. Returns 0, or the non-zero result of
 * on_event or on_step.
 */
int ptc_call_stream_finish(struct ptc_call_stream *s);

/*
 * Returns the number of the function that contains @ip in the process of @it. PTC_NO_NUMBER: out of
 * memory. To be called inside on_items, behind the begin of ptc_call_stream_items.
 */
uint32_t ptc_call_stream_function(struct ptc_call_stream *s, const struct ptc_item *it,
				  uint64_t ip);

/* Returns the start of the function that contains @ip in the process of @it; 0: unknown. */
uint64_t ptc_call_stream_start(struct ptc_call_stream *s, const struct ptc_item *it, uint64_t ip);

/* Returns the number of function @f, which may be new. PTC_NO_NUMBER: out of memory. */
uint32_t ptc_call_stream_number(struct ptc_call_stream *s, const struct ptc_function *f);

/*
 * Joins parts: opens a call of @function in thread @tid, which another part has counted, without an
 * event. *@ret_thread: the number of the thread. Returns 0 or an error of ptc_calls_restore.
 */
int ptc_call_stream_restore(struct ptc_call_stream *s, int32_t tid, uint32_t function,
			    const struct ptc_open_call *call, uint32_t *ret_thread);

/* Returns the number of the newest thread with ID @tid; PTC_NO_NUMBER: it has entered no function.
 */
uint32_t ptc_call_stream_thread(struct ptc_call_stream *s, int32_t tid);

/*
 * Returns the name of function @number, which is to be printed, escaped by the caller: its symbol,
 * or "file+0x12", or an address. The text is in @buf, or borrowed from the stream.
 */
const char *ptc_call_function_name(const struct ptc_call_stream *s, uint32_t number, char *buf,
				   size_t size);

#endif
