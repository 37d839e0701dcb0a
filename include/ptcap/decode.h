/* SPDX-License-Identifier: MIT */
/*
 * Decoding: a recording in, batches of items out, in time order. examples/branches.c uses it.
 *
 * Open a recording, choose a time if not all of it is wanted, run with a sink, free. Damage and
 * loss are no errors: they are items, gaps, and decoding goes on behind them. One object is for one
 * thread at a time; two objects have nothing in common.
 *
 * What a transfer is, which are listed, and how gaps look: doc/format.md.
 */
#ifndef PTCAP_DECODE_H
#define PTCAP_DECODE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/kind.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ptc_item_type {
	PTC_ITEM_BRANCH = 1, /* a transfer */
	PTC_ITEM_GAP = 2,    /* trace that is missing or could not be followed */
	PTC_ITEM_INSN = 3,   /* one retired instruction (opts.insns) */
	PTC_ITEM_EVENT = 4,  /* something else that the trace tells of (opts.events) */
	PTC_ITEM_RUN = 5,    /* transfers side by side (opts.runs) */
};

/* What an event's value is, if it has one. */
enum ptc_event_kind {
	PTC_EVENT_NONE = 0,
	PTC_EVENT_ENABLED,   /* tracing went on */
	PTC_EVENT_DISABLED,  /* tracing was off */
	PTC_EVENT_OVERFLOW,  /* packets were dropped; there is a gap, too */
	PTC_EVENT_STOP,	     /* TraceStop: a stop region was entered */
	PTC_EVENT_CBR,	     /* the core:bus ratio became this */
	PTC_EVENT_PTWRITE,   /* the operand */
	PTC_EVENT_MWAIT,     /* hints (eax); extensions (ecx) from bit 32 on */
	PTC_EVENT_PWRE,	     /* C-state; sub C-state from bit 8 on; bit 16: by hardware */
	PTC_EVENT_EXSTOP,    /* execution stopped */
	PTC_EVENT_PWRX,	     /* C-state at the wake; the deepest from bit 8 on; bits 16 to 18: woken
			      * by an interrupt, a store, the hardware itself */
	PTC_EVENT_TSX_BEGIN, /* a transaction, its commit, its abort */
	PTC_EVENT_TSX_COMMIT,
	PTC_EVENT_TSX_ABORT,
	PTC_EVENT_CR3, /* another address space: CR3 */
	/* Event Trace (CFE): the vector; its type from bit 8 on */
	PTC_EVENT_INTR, /* an interrupt or an exception */
	PTC_EVENT_IRET,
	PTC_EVENT_SMI,
	PTC_EVENT_RSM,
	PTC_EVENT_SIPI,
	PTC_EVENT_INIT,
	PTC_EVENT_VMENTRY,
	PTC_EVENT_VMEXIT,
	PTC_EVENT_VMEXIT_INTR,
	PTC_EVENT_SHUTDOWN,
	PTC_EVENT_UINTR, /* a user interrupt */
	PTC_EVENT_UIRET,
	PTC_EVENT_CFE,	/* one of another type */
	PTC_EVENT_PFA,	/* EVD, of the event behind it: the page fault's address, */
	PTC_EVENT_VMXQ, /* a VM exit's qualification, */
	PTC_EVENT_VMXR, /* and reason; */
	PTC_EVENT_EVD,	/* one of another type */
	PTC_EVENT_BBP,	/* a block of samples (PEBS): its type. Its items are not told of */
	PTC_EVENT_BEP,	/* and its end */
	PTC_EVENT_TRIG, /* a trigger: the packet's two bytes */
	PTC_EVENT_COUNT
};

enum ptc_gap_cause {
	PTC_GAP_NONE = 0,
	PTC_GAP_OVERFLOW,  /* OVF: the processor dropped packets */
	PTC_GAP_TRUNCATED, /* AUX record with TRUNCATED: the buffer was full */
	PTC_GAP_PARTIAL,   /* AUX record with PARTIAL */
	PTC_GAP_LOST,	   /* bytes of the AUX stream that are not in the file, LOST records */
	PTC_GAP_NOCODE,	   /* no code bytes at the address */
	PTC_GAP_BADPACKET, /* bytes that are no packet */
	PTC_GAP_DESYNC,	   /* packets and code do not fit each other */
	PTC_GAP_SNAPSHOT,  /* in front of a snapshot: trace that was not kept, no loss. Of no
			    * one thread: pid and tid are -1, and no choice of a tid hides it.
			    * Or of one, which came to a CPU, or went from it, when nothing was kept
			    * of that: what it did before does not go on behind it */
	PTC_GAP_COUNT
};

#define PTC_NO_TIME UINT64_MAX

/*
 * 64 bytes, fixed. Lent to the sink for the duration of the call.
 *
 * The time is that of the last timing packet in front of what happened: TSC packets, and MTC and
 * CYC packets between them if the recording has those and says how they count; through the clock
 * conversion of the recording it is nanoseconds of the clock that perf's records have. It is not
 * known (PTC_NO_TIME) in front of the first TSC packet - the last transfer there has the time of
 * that one -, without a conversion, and in raw mode.
 *
 * pid, tid and cpu are what the side records say of that time, or the queue is of.
 */
struct ptc_item {
	uint64_t from; /* BRANCH: 0 for an entry. INSN: the instruction. GAP: offset in the
			* queue's AUX stream. EVENT: where it happened; 0: not known. RUN: see
			* ptc_item_transfers */
	uint64_t
		to; /* BRANCH: 0 for an exit (ptc_item_has_to). GAP: length in bytes; 0 when none of
		     * the stream itself is missing (overflow). EVENT: its value. RUN: how many */
	uint64_t time;	  /* ns of the perf clock, or PTC_NO_TIME. GAP: when it began; where no
			   * time is known there, when decoding went on */
	int32_t pid, tid; /* -1: not known */
	int32_t cpu;	  /* -1: not known */
	uint32_t queue;	  /* AUXTRACE idx */
	uint8_t type;	  /* enum ptc_item_type */
	uint8_t kind;	  /* BRANCH: enum ptc_kind. EVENT: enum ptc_event_kind */
	uint8_t cause;	  /* GAP: enum ptc_gap_cause */
	uint8_t insn_len; /* opts.bytes: of the instruction at `from`; 0: not known */
	uint8_t insn[15];
	uint8_t flags; /* BRANCH: PTC_ITEM_TO_ZERO */
	uint8_t reserved[4];
};
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L /* C99 has no static_assert */
static_assert(sizeof(struct ptc_item) == 64, "ptc_item is one cache line");
#endif

/* A call or jump through a null pointer: `to` is the address 0, and the trace went on there. */
#define PTC_ITEM_TO_ZERO 1

/* Does the transfer @it have a `from`, a `to`? The address 0 is one. */
static inline bool ptc_item_has_from(const struct ptc_item *it)
{
	return it->from || it->kind != PTC_KIND_START;
}

static inline bool ptc_item_has_to(const struct ptc_item *it)
{
	return it->to || it->flags & PTC_ITEM_TO_ZERO;
}

/* One of a RUN, 16 bytes: its ends and its kind. Addresses have 56 bits there, and a sign. */
struct ptc_transfer {
	uint64_t from_kind; /* from << 8, and the kind */
	uint64_t to;
};

static inline uint64_t ptc_transfer_from(struct ptc_transfer t)
{
	return (uint64_t)((int64_t)t.from_kind >> 8);
}

static inline enum ptc_kind ptc_transfer_kind(struct ptc_transfer t)
{
	return (enum ptc_kind)(t.from_kind & 0xff);
}

/* The it->to transfers of a RUN, in order; all are of its time, thread, CPU and queue. Lent as the
 * item is. */
static inline const struct ptc_transfer *ptc_item_transfers(const struct ptc_item *it)
{
	return (const struct ptc_transfer *)(uintptr_t)it->from;
}

/*
 * Items out, n of them, at least 1. They are in the order of their times, at equal times in that of
 * their queues; those of a queue are in the order of its trace. Items without a time come as if it
 * were 0, queue after queue. A non-zero return stops decoding with PTC_E_STOPPED.
 */
struct ptc_sink {
	int (*on_items)(void *ctx, const struct ptc_item *items, size_t n);
	void *ctx;
};

enum ptc_resync {
	PTC_RESYNC_DEFAULT = 0, /* files: PACKET; raw: PSB */
	PTC_RESYNC_PSB,		/* after an error, go on at the next PSB */
	PTC_RESYNC_PACKET,	/* after an error, go on at the next packet with a whole IP */
};

/*
 * Who follows the trace. The second engine does not know all of it, and is not for instructions
 * (opts.insns) and events (opts.events); pieces of trace that it declines, from PSB to PSB, libipt
 * decodes.
 */
enum ptc_engine_choice {
	PTC_ENGINE_DEFAULT = 0, /* FAST */
	PTC_ENGINE_LIBIPT,
	PTC_ENGINE_FAST,   /* the second engine */
	PTC_ENGINE_VERIFY, /* libipt, and all that FAST would give held against it; one thread */
};

/* Which CPU recorded: selects the errata. 0/0/0: not known, none. */
struct ptc_cpu_id {
	uint16_t family;
	uint8_t model, stepping;
};

/*
 * Where code bytes are to be had from, besides the recorded paths and perf's
 * build-id cache. NULL: not given. Lent until the recording is open.
 */
struct ptc_code_opts {
	size_t size;	   /* sizeof(struct ptc_code_opts) */
	const char *symfs; /* a folder in front of every recorded path */
	const char *cache; /* perf's build-id cache, if not at its usual place */
	const char *core;  /* a core of one of the processes */
	const char *vmlinux;
	const char *kcore; /* a copy of /proc/kcore, or a folder with kcore and kallsyms */
	bool look_only;	   /* find the files, do not read them: for ptc_decode_survey */
};

/* The defaults: no place besides the recorded paths and the cache. */
#ifdef __cplusplus
static inline struct ptc_code_opts ptc_code_opts_init(void)
{
	struct ptc_code_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_CODE_OPTS_INIT ptc_code_opts_init()
#else
/* clang-format off */
#define PTC_CODE_OPTS_INIT                                                                         \
	{                                                                                          \
		.size = sizeof(struct ptc_code_opts)                                               \
	}
/* clang-format on */
#endif

/* Ids from @first to @last, both included. */
struct ptc_id_range {
	int32_t first, last;
};

/* n 0: all. Lent until ptc_decode_free. */
struct ptc_ids {
	const struct ptc_id_range *ranges;
	size_t n;
};

/*
 * What transfers of a queue add up to. The whole trace may come in one, or in many, of stretches
 * that follow each other.
 */
struct ptc_sums {
	uint64_t kinds[PTC_KIND_COUNT]; /* how many there are of each */
	uint64_t transfers;		/* in all */
	uint64_t first_ns, last_ns;	/* the earliest and the latest; PTC_NO_TIME: none has one */
	uint32_t queue;			/* AUXTRACE idx */
	uint32_t reserved;
};

/*
 * For who counts transfers and has no need to see them, which takes twice as long. Where the second
 * engine follows a trace, and nothing chooses among its transfers (a thread, a CPU, a time, a
 * function, opts.last, a snapshot's breaks), they come here and not to the sink. All others come as
 * items, and so do gaps: what there is is both together. Calls are between those of the sink, as
 * if they were of it, but a stretch is in no order with items. A non-zero return stops decoding
 * with PTC_E_STOPPED.
 */
struct ptc_sums_sink {
	int (*on_sums)(void *ctx, const struct ptc_sums *sums); /* lent for the call */
	void *ctx;
};

/*
 * Begin with PTC_DECODE_OPTS_INIT, or with zeros and the size: both are the defaults. PTC_E_USAGE:
 * size is not set.
 */
struct ptc_decode_opts {
	size_t size; /* sizeof(struct ptc_decode_opts) */
	enum ptc_resync resync;
	bool insns;	 /* INSN items instead of BRANCH items (gaps come all the same) */
	bool bytes;	 /* fill insn, insn_len */
	bool cpu_id_set; /* use cpu_id instead of the file's CPUID feature */
	struct ptc_cpu_id cpu_id;
	struct ptc_ids tids, cpus; /* only these */
	/*
	 * Only the last so many transfers (opts.insns: instructions) of each thread; 0: all. The
	 * trace in front of them is not decoded: up to 4 MiB of each queue are looked at, a thread
	 * that did not run there may get fewer, and a note says so.
	 */
	uint64_t last;
	const char *sym; /* only what leads from or to this function (gaps come all the same);
			  * lent until ptc_decode_free; NULL: all */
	bool events;	 /* EVENT items, too */
	bool mangled;	 /* names of functions as the linker has them: not demangled */
	/* A recording without trace, too: nothing comes out, but names can be asked for. */
	bool untraced;
	/*
	 * Transfers may come as RUN items, a quarter as large: where the second engine follows the
	 * trace and nothing chooses among its transfers (a thread, a CPU, a time, a function, last,
	 * bytes). Others come as BRANCH items. Which do may differ from run to run; what they are,
	 * and in which order, does not.
	 */
	bool runs;
	uint8_t reserved[4];
	const struct ptc_code_opts *code; /* lent; NULL: nothing special. Not for raw mode */
	/*
	 * Threads to decode with, the caller's included; 0: one. What comes out is the same. With
	 * more than one the sink is called by one of them at a time, in order, but not always by
	 * the same one: what one call wrote the next one sees, and what is of a thread (errno,
	 * thread-local storage) is not to be relied on from call to call.
	 */
	unsigned int jobs;
	enum ptc_engine_choice engine; /* what comes out is the same */
	size_t slice; /* bytes of trace that a thread takes at a time, about; 0: what is best */
	const struct ptc_sums_sink *sums; /* lent until ptc_decode_free; NULL: all are items */
};

/* The defaults: all of the trace, transfers and gaps. */
#ifdef __cplusplus
static inline struct ptc_decode_opts ptc_decode_opts_init(void)
{
	struct ptc_decode_opts opts = {};

	opts.size = sizeof(opts);
	return opts;
}
#define PTC_DECODE_OPTS_INIT ptc_decode_opts_init()
#else
/* clang-format off */
#define PTC_DECODE_OPTS_INIT                                                                       \
	{                                                                                          \
		.size = sizeof(struct ptc_decode_opts)                                             \
	}
/* clang-format on */
#endif

/* Counted while decoding. */
struct ptc_decode_stats {
	uint64_t aux_bytes; /* trace bytes in the file that were looked at */
	uint64_t branches;  /* given to the sink, or counted for opts.sums */
	uint64_t insns;	    /* retired in the trace that was looked at */
	uint64_t gaps[PTC_GAP_COUNT];
	uint64_t missing_files; /* files whose code could not be had, and was missed */
};

/* What became of pieces of trace, where opts.engine is not LIBIPT. */
struct ptc_engine_stats {
	uint64_t pieces, bytes; /* the second engine decoded; of those, VERIFY: */
	uint64_t differing;	/* from libipt */
	uint64_t declined;	/* pieces that were libipt's alone */
};

/* Why pieces were declined. */
struct ptc_engine_reason {
	const char *why; /* words; static */
	uint64_t pieces;
};

struct ptc_decode;

/* "overflow", "truncated", ...; "?" for a value that is none of them. */
PTC_API const char *ptc_gap_name(enum ptc_gap_cause cause);
/* "enabled", "cbr", ...; the same. */
PTC_API const char *ptc_event_name(enum ptc_event_kind kind);

/*
 * Prepare to decode the recording at @path, in any form perf has; @opts NULL: the defaults. On
 * success *@ret is the caller's, for ptc_decode_free; until then the file is mapped and must not
 * change. All its side records are read once, and the files that code is in.
 *
 * PTC_E_IO: it, or what opts.code names, cannot be read. PTC_E_FORMAT: it is no perf.data, or
 * damaged so that nothing can be made of it (off: where). PTC_E_NOT_EXIST: it holds no AUX trace.
 * PTC_E_UNSUPPORTED: trace of another kind than Intel PT, a recording of a big-endian machine,
 * options of a newer caller. PTC_E_USAGE: options without a size. PTC_E_LIMIT, PTC_E_NO_MEMORY.
 */
PTC_API int ptc_decode_open(const char *path, const struct ptc_decode_opts *opts,
			    struct ptc_decode **ret, struct ptc_err *err);

/* One code range of raw mode: @len bytes at @off of the file @path, seen at @addr. len 0: to the
 * end. */
struct ptc_raw_code {
	const char *path;
	uint64_t addr, off, len;
};

/*
 * Prepare to decode the bare PT stream in the file @pt_path, with code from
 * @code[0..n), which is not needed any more then. Overlapping ranges are PTC_E_USAGE; the rest as
 * ptc_decode_open. There are no times, threads or CPUs in what comes out.
 */
PTC_API int ptc_decode_open_raw(const char *pt_path, const struct ptc_raw_code *code, size_t n,
				const struct ptc_decode_opts *opts, struct ptc_decode **ret,
				struct ptc_err *err);

/* Free it and all that it lent; NULL is fine. */
PTC_API void ptc_decode_free(struct ptc_decode *d);

/*
 * When the trace begins and ends: its first and last TSC packets, as ns of the
 * perf clock. PTC_E_NOT_EXIST if it has no times.
 */
PTC_API int ptc_decode_get_times(const struct ptc_decode *d, uint64_t *ret_first_ns,
				 uint64_t *ret_last_ns, struct ptc_err *err);

/*
 * Before running: only items with a time in [@from_ns, @to_ns), where @to_ns is not one of
 * them, so that two parts are the whole (UINT64_MAX: to the end). The trace in front of it and
 * behind it is not decoded, but for what is needed to begin. Not with opts.last, nor after a run
 * (PTC_E_USAGE); PTC_E_NOT_EXIST if the trace has no times.
 */
PTC_API int ptc_decode_choose_time(struct ptc_decode *d, uint64_t from_ns, uint64_t to_ns,
				   struct ptc_err *err);

/*
 * Run to the end; items go to @sink. May be called once (PTC_E_USAGE). PTC_E_STOPPED: the sink said
 * so. PTC_E_FORMAT, PTC_E_LIMIT: a side record that cannot be true. PTC_E_NO_MEMORY. What was given
 * to the sink before an error was right.
 */
PTC_API int ptc_decode_run(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

/* What was counted until now. */
PTC_API void ptc_decode_get_stats(const struct ptc_decode *d, struct ptc_decode_stats *ret);

/* The same of opts.engine, of this run; zeros if that is libipt alone. */
PTC_API void ptc_decode_get_engine_stats(const struct ptc_decode *d, struct ptc_engine_stats *ret);
/* The @i-th reason for which pieces were declined. False beyond the last. */
PTC_API bool ptc_decode_get_engine_reason(const struct ptc_decode *d, size_t i,
					  struct ptc_engine_reason *ret);
/*
 * VERIFY: where the second engine and libipt differed first, and the packets around it, in a few
 * lines. Lent until ptc_decode_free. NULL: nowhere.
 */
PTC_API const char *ptc_decode_difference(const struct ptc_decode *d);

/*
 * What is missing, one line each, after or during a run: "no code for
 * '/usr/lib/x.so' (build-id ...): 3 gaps". Lent until ptc_decode_free; NULL
 * beyond the last. Of names, what could act on a terminal is \xNN.
 */
PTC_API const char *ptc_decode_note(const struct ptc_decode *d, size_t i);

/* A file whose code could not be had. Strings are lent until ptc_decode_free. */
struct ptc_missing {
	const char *file;		   /* as recorded; "[kernel.kallsyms]" */
	const char *build_id;		   /* in hex; "": not known */
	const char *found_path, *found_id; /* another file, which was not used; NULL: none */
	const char *hint;		   /* the way out, in words */
	uint64_t gaps;
	uint64_t bytes;	   /* of trace that could not be followed */
	uint64_t branches; /* at least so many are in them: those that have a bit or a packet there
			    */
};

/*
 * The @i-th file whose code was missed, after or during a run; after
 * ptc_decode_survey of those that could not be found. False beyond the last.
 */
PTC_API bool ptc_decode_missing(const struct ptc_decode *d, size_t i, struct ptc_missing *ret);

/*
 * Instead of running: look which files of the recording can be had here.
 * *ret_files: how many files with code it names in all. PTC_E_USAGE after a run.
 */
PTC_API int ptc_decode_survey(struct ptc_decode *d, size_t *ret_files, struct ptc_err *err);

/*
 * For the sink, inside on_items: the function that holds @ip in the process of
 * @item at that moment. Returns the name, demangled (C++, Rust, D) unless
 * opts.mangled, lent until the next call, and the offset into it; NULL if not known. Names are from
 * the file's symbols, or those of its debug file; of the kernel from kallsyms; of code that is in
 * no file from jitdumps and /tmp/perf-PID.map.
 */
PTC_API const char *ptc_decode_symbol(struct ptc_decode *d, const struct ptc_item *item,
				      uint64_t ip, uint64_t *ret_off);

/*
 * The same for the file (as recorded: a path, "[vdso]") mapped at @ip, and the
 * offset in it.
 */
PTC_API const char *ptc_decode_file(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
				    uint64_t *ret_off);

/*
 * The same for what is mapped: while this number, of 56 bits, is the same, for any process, names
 * and code are at the same addresses.
 */
PTC_API uint64_t ptc_decode_code_state(const struct ptc_decode *d, const struct ptc_item *item);

/*
 * The same for the thread: while this number is the same, the item's thread is the same one, and
 * its process runs the same program. Thread numbers are used again, and exec keeps them.
 */
PTC_API uint64_t ptc_decode_life(const struct ptc_decode *d, const struct ptc_item *item);

/*
 * The same for the source line: its file's name, as the compiler was told it, and *ret_line;
 * NULL if it is not known. Lent until ptc_decode_free.
 */
PTC_API const char *ptc_decode_srcline(struct ptc_decode *d, const struct ptc_item *item,
				       uint64_t ip, int *ret_line);

/*
 * Returns the name of a file of which ptc_decode_srcline was asked something, and that has neither
 * debug information nor Go's own table of lines; lent until the decode is freed. *@ret_n: how many
 * such files there are. NULL: there is none.
 */
PTC_API const char *ptc_decode_without_lines(const struct ptc_decode *d, size_t *ret_n);

/*
 * Call @on_line with @ctx for each line of source that has code in the files of which
 * ptc_decode_srcline was asked something, whether that ran or not: some more than once, in no
 * order. @file as there. Until it returns nonzero, which is returned; else 0.
 */
PTC_API int ptc_decode_each_srcline(struct ptc_decode *d,
				    int (*on_line)(void *ctx, const char *file, int line),
				    void *ctx);

#ifdef __cplusplus
}
#endif
#endif
