/* SPDX-License-Identifier: MIT */
/*
 * Decoding: reads a recording and calls a sink with batches of items in time order. Example:
 * examples/branches.c.
 *
 * Calls: ptc_decode_open, ptc_decode_choose_time or ptc_decode_choose_shard for a part,
 * ptc_decode_run with a sink, ptc_decode_free. Damaged and lost trace is not an error: it becomes a
 * gap item, and decoding continues behind the gap. A struct ptc_decode is not thread-safe. Two of
 * them are independent.
 *
 * doc/format.md defines the branches, which of them are listed, and the gaps.
 */
#ifndef PTCAP_DECODE_H
#define PTCAP_DECODE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/kind.h"
#include "ptcap/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of items. */
enum ptc_item_type {
	PTC_ITEM_BRANCH = 1, /* a branch */
	PTC_ITEM_GAP = 2,    /* trace that is missing or could not be decoded */
	PTC_ITEM_INSN = 3,   /* one retired instruction (opts.insns) */
	PTC_ITEM_EVENT = 4,  /* another event in the trace (opts.events) */
	PTC_ITEM_RUN = 5,    /* an array of branches (opts.runs) */
};

/*
 * Kinds of EVENT items, named after packets and events of the SDM (vol. 3C, 33.4.2). The comment
 * says what the item's value (`to`) holds, if anything.
 */
enum ptc_event_kind {
	PTC_EVENT_NONE = 0,
	PTC_EVENT_ENABLED,  /* tracing was switched on */
	PTC_EVENT_DISABLED, /* tracing was switched off */
	PTC_EVENT_OVERFLOW, /* packets were dropped (OVF); there is also a gap */
	PTC_EVENT_STOP,	    /* TraceStop: a stop region was entered */
	PTC_EVENT_CBR,	    /* value: the new core:bus ratio */
	PTC_EVENT_PTWRITE,  /* value: the operand */
	PTC_EVENT_MWAIT,    /* value: hints (eax); extensions (ecx) from bit 32 on */
	/* Value: C-state; sub C-state from bit 8 on; bit 16: entered by hardware. */
	PTC_EVENT_PWRE,
	PTC_EVENT_EXSTOP, /* execution stopped */
	/*
	 * Value: C-state at the wake; deepest C-state from bit 8 on; bits 16 to 18: wake by
	 * interrupt, store, hardware.
	 */
	PTC_EVENT_PWRX,
	PTC_EVENT_TSX_BEGIN, /* a transaction begins, commits, aborts */
	PTC_EVENT_TSX_COMMIT,
	PTC_EVENT_TSX_ABORT,
	PTC_EVENT_CR3, /* value: the new CR3 */
	/* Event Trace (CFE packets). Value: the vector; the CFE type from bit 8 on */
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
	PTC_EVENT_CFE,	/* a CFE type that has no name here */
	PTC_EVENT_PFA,	/* EVD, belongs to the next event: page fault address */
	PTC_EVENT_VMXQ, /* EVD: exit qualification of a VM exit */
	PTC_EVENT_VMXR, /* EVD: exit reason of a VM exit */
	PTC_EVENT_EVD,	/* an EVD type that has no name here */
	/* A block of samples (PEBS) begins; value: its type. Its items are not decoded. */
	PTC_EVENT_BBP,
	PTC_EVENT_BEP,	/* a block of samples ends */
	PTC_EVENT_TRIG, /* a trigger; value: the packet's two bytes */
	PTC_EVENT_COUNT
};

#define PTC_NO_TIME UINT64_MAX

/*
 * One item: 64 bytes, fixed layout. Borrowed by the sink for the duration of the call.
 *
 * The time is that of the last timing packet before the event. TSC packets count, and MTC and CYC
 * packets between them if the recording has them and states their frequency. The recording's clock
 * conversion turns the TSC into ns of the perf clock.
 *
 * The time is PTC_NO_TIME before the first TSC packet, without a clock conversion, and in raw mode.
 * Exception: the last branch before the first TSC packet gets the time of that packet.
 *
 * pid, tid and cpu come from the sideband records of that time, or from the queue itself.
 */
struct ptc_item {
	/*
	 * BRANCH: the instruction; 0 for an entry. INSN: the instruction. GAP: offset in the
	 * queue's AUX stream. EVENT: the instruction pointer; 0: not known. RUN: see
	 * ptc_item_transfers
	 */
	uint64_t from;
	/*
	 * BRANCH: the target; 0 for an exit (ptc_item_has_to). GAP: length in bytes; 0 if no stream
	 * bytes are missing (overflow). EVENT: the value. RUN: number of branches
	 */
	uint64_t to;
	/*
	 * ns of the perf clock, or PTC_NO_TIME. GAP: when it began; if that is not known, when
	 * decoding resumed
	 */
	uint64_t time;
	int32_t pid, tid; /* -1: not known */
	int32_t cpu;	  /* -1: not known */
	uint32_t queue;	  /* AUXTRACE idx of the queue */
	uint8_t type;	  /* enum ptc_item_type */
	uint8_t kind;	  /* BRANCH: enum ptc_kind. EVENT: enum ptc_event_kind */
	uint8_t cause;	  /* GAP: enum ptc_gap_cause */
	uint8_t insn_len; /* opts.lengths, opts.bytes: of the instruction at `from`; 0: not known */
	uint8_t insn[15];
	uint8_t flags; /* BRANCH: PTC_ITEM_TO_ZERO. With opts.before: PTC_ITEM_BEFORE */
	/*
	 * opts.icount: instructions that this thread retired since its item before, including the
	 * instruction of this item. So the sum over the items of a thread is its instruction count.
	 * A count of more than UINT32_MAX continues in the next item of the thread. The code in
	 * front of a gap, from the last branch on, and behind it, up to the first one, does not
	 * count: it is not known
	 */
	uint32_t insns;
};
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L /* C99 has no static_assert */
static_assert(sizeof(struct ptc_item) == 64, "ptc_item is one cache line");
#endif

/* Flag: a call or jump through a null pointer. `to` is the address 0, and tracing stayed on. */
#define PTC_ITEM_TO_ZERO 1
/* Flag: the item is in front of the shard: see opts.before. */
#define PTC_ITEM_BEFORE	 2

/* Return whether branch @it has a `from`, or a `to`. The address 0 can be a valid end. */
static inline bool ptc_item_has_from(const struct ptc_item *it)
{
	return it->from || it->kind != PTC_KIND_START;
}

static inline bool ptc_item_has_to(const struct ptc_item *it)
{
	return it->to || it->flags & PTC_ITEM_TO_ZERO;
}

/*
 * One branch of a RUN item, 16 bytes: source, target and kind. The source has 56 bits,
 * sign-extended.
 */
struct ptc_transfer {
	uint64_t from_kind; /* from << 8 | kind */
	uint64_t to;
};

/* Return the source and the kind of a branch. */
static inline uint64_t ptc_transfer_from(struct ptc_transfer t)
{
	return (uint64_t)((int64_t)t.from_kind >> 8);
}

static inline enum ptc_kind ptc_transfer_kind(struct ptc_transfer t)
{
	return (enum ptc_kind)(t.from_kind & 0xff);
}

/*
 * Returns the array of it->to branches of a RUN item, in order. All have the time, thread, CPU and
 * queue of the item. Borrowed like the item.
 */
static inline const struct ptc_transfer *ptc_item_transfers(const struct ptc_item *it)
{
	return (const struct ptc_transfer *)(uintptr_t)it->from;
}

/*
 * Receiver of items. on_items gets @n items, at least 1.
 *
 * Order: by time; at equal times by queue; within a queue by position in the trace. Items without a
 * time come as if their time were 0, queue after queue. A non-zero return value stops decoding with
 * PTC_E_STOPPED.
 */
struct ptc_sink {
	int (*on_items)(void *ctx, const struct ptc_item *items, size_t n);
	void *ctx;
};

/* Where decoding continues after an error in the trace. */
enum ptc_resync {
	PTC_RESYNC_DEFAULT = 0, /* files: PACKET; raw: PSB */
	PTC_RESYNC_PSB,		/* after an error, continue at the next PSB */
	PTC_RESYNC_PACKET,	/* after an error, continue at the next packet with a full IP */
};

/*
 * The decoder that follows the trace. The second engine (FAST) does not handle all packets. It
 * declines such segments of the trace, each from one PSB to the next, and libipt decodes these.
 * With opts.events, and with opts.insns in the case of VERIFY, libipt decodes everything.
 */
enum ptc_engine_choice {
	PTC_ENGINE_DEFAULT = 0, /* FAST */
	PTC_ENGINE_LIBIPT,
	PTC_ENGINE_FAST,   /* the second engine */
	PTC_ENGINE_VERIFY, /* decode with both, and compare; items are libipt's; one thread */
};

/* CPU model that recorded; selects its errata in the decoder. 0/0/0: not known, no errata. */
struct ptc_cpu_id {
	uint16_t family;
	uint8_t model, stepping;
};

/*
 * Additional sources of code bytes, besides the recorded paths and perf's build-id cache. NULL: not
 * given. All strings are borrowed until the recording is open.
 */
struct ptc_code_opts {
	size_t size;	   /* sizeof(struct ptc_code_opts) */
	const char *symfs; /* a folder to prepend to every recorded path */
	const char *cache; /* perf's build-id cache, if not in its usual place */
	const char *core;  /* a core dump of one of the processes */
	const char *vmlinux;
	const char *kcore; /* a copy of /proc/kcore, or a folder with kcore and kallsyms */
	bool look_only;	   /* find the files but do not read them: for ptc_decode_survey */
};

/* The defaults: no additional sources. */
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

/* A range of ids, @first and @last included. */
struct ptc_id_range {
	int32_t first, last;
};

/* A set of ids; n 0: all ids. Borrowed until ptc_decode_free. */
struct ptc_ids {
	const struct ptc_id_range *ranges;
	size_t n;
};

/*
 * Counts of a queue's branches over a stretch of its trace. One or many consecutive stretches
 * together cover the whole trace.
 */
struct ptc_sums {
	uint64_t kinds[PTC_KIND_MAX]; /* number of branches of each kind */
	uint64_t transfers;	      /* sum of kinds */
	uint64_t first_ns, last_ns;   /* earliest and latest time; PTC_NO_TIME: none has a time */
	uint32_t queue;		      /* AUXTRACE idx of the queue */
	uint32_t reserved;
};

/*
 * Receiver of branch counts, for callers that only count: about twice as fast as items. Counts come
 * from the second engine only, and only without a filter (thread, CPU, time, function, opts.last,
 * gaps at snapshots). All other branches, and all gaps, come as items, so the result is the sum of
 * both.
 *
 * Calls of on_sums and on_items never overlap. The order of counts relative to items is not
 * defined. A non-zero return value stops decoding with PTC_E_STOPPED.
 */
struct ptc_sums_sink {
	int (*on_sums)(void *ctx, const struct ptc_sums *sums); /* @sums is borrowed for the call */
	void *ctx;
};

/*
 * Initialize with PTC_DECODE_OPTS_INIT, or with zeros and the size: both give the defaults.
 * PTC_E_USAGE: size is not set.
 */
struct ptc_decode_opts {
	size_t size; /* sizeof(struct ptc_decode_opts) */
	enum ptc_resync resync;
	bool insns;	 /* INSN items instead of BRANCH items; gaps come too */
	bool bytes;	 /* fill insn and insn_len of each item */
	bool cpu_id_set; /* use cpu_id, not the file's CPUID feature */
	struct ptc_cpu_id cpu_id;
	struct ptc_ids tids, cpus; /* only these threads and CPUs */
	/*
	 * Only the last N branches (opts.insns: instructions) of each thread; 0: all. Earlier trace
	 * is not decoded. At most 4 MiB of each queue are searched. A thread that did not run in
	 * these 4 MiB may get fewer items, and ptc_decode_note reports it.
	 */
	uint64_t last;
	/*
	 * Only branches from or to this function (gaps come too); borrowed until ptc_decode_free;
	 * NULL: all.
	 */
	const char *sym;
	bool events;  /* EVENT items too */
	bool mangled; /* report function names as the linker has them, not demangled */
	/* Also open a recording without trace. It has no items, but the symbol functions work. */
	bool untraced;
	/*
	 * Allow RUN items: 16 instead of 64 bytes per branch. They come from the second engine
	 * only, and only without a filter (thread, CPU, time, function, last, bytes, lengths). All
	 * other branches come as BRANCH items. The split between the two may change from run to
	 * run. The branches and their order do not change.
	 */
	bool runs;
	bool icount; /* set insns of each item; excludes RUN items and opts.sums */
	/*
	 * Fill insn_len of BRANCH items, for callers that need no bytes: ptc_calls_item needs the
	 * length for return addresses. Much faster than bytes, which includes lengths.
	 */
	bool lengths;
	/*
	 * With ptc_decode_choose_shard: also give the items that a shard decodes in front of its
	 * begin, with PTC_ITEM_BEFORE. They come first, and count in no statistics. Their callers
	 * learn where each running thread is when the shard begins.
	 */
	bool before;
	uint8_t reserved[1];
	/* Borrowed; NULL: no additional sources. Not for raw mode. */
	const struct ptc_code_opts *code;
	/*
	 * Decoding threads, including the caller's; 0: one. The items do not depend on it. With
	 * more than one, the sink is called by one thread at a time, in order, but not always by
	 * the same thread. Writes of one call are visible to the next. Thread-local data (errno) is
	 * not kept from call to call.
	 */
	unsigned int jobs;
	enum ptc_engine_choice engine; /* the items do not depend on it */
	size_t slice; /* approximate bytes of trace per unit of work; 0: automatic */
	/* Borrowed until ptc_decode_free; NULL: all branches come as items. */
	const struct ptc_sums_sink *sums;
};

/* The defaults: all of the trace; branches and gaps. */
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

struct ptc_decode;

/* Returns the name of an event kind: "enabled", "cbr", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_event_name(enum ptc_event_kind kind);

/*
 * Open the recording at @path, in any form that perf writes. @opts NULL: the defaults. Reads all
 * sideband records once, and the files that contain code. On success the caller owns *@ret and
 * frees it with ptc_decode_free. Until then the file is mapped and must not change.
 *
 * PTC_E_IO: @path, or a file named in opts.code, cannot be read. PTC_E_FORMAT: not a perf.data, or
 * damaged beyond use (err.off: where). PTC_E_NOT_EXIST: no AUX trace in it. PTC_E_UNSUPPORTED:
 * trace of another kind than Intel PT, a recording of a big-endian machine, or unknown options of a
 * newer caller. PTC_E_USAGE: options without a size. PTC_E_LIMIT, PTC_E_NO_MEMORY.
 */
PTC_API int ptc_decode_open(const char *path, const struct ptc_decode_opts *opts,
			    struct ptc_decode **ret, struct ptc_err *err);

/*
 * One code range of raw mode: @len bytes at offset @off of the file @path, loaded at address @addr.
 * len 0: to the end of the file.
 */
struct ptc_raw_code {
	const char *path;
	uint64_t addr, off, len;
};

/*
 * Open the bare PT stream in the file @pt_path, with the code ranges @code[0..n). @code is not used
 * after the call. The items have no times, threads or CPUs. PTC_E_USAGE: ranges overlap. Otherwise
 * as ptc_decode_open.
 */
PTC_API int ptc_decode_open_raw(const char *pt_path, const struct ptc_raw_code *code, size_t n,
				const struct ptc_decode_opts *opts, struct ptc_decode **ret,
				struct ptc_err *err);

/* Free @d and all memory borrowed from it. @d may be NULL. */
PTC_API void ptc_decode_free(struct ptc_decode *d);

/*
 * Get the times of the first and the last TSC packet, in ns of the perf clock. PTC_E_NOT_EXIST: the
 * trace has no times.
 */
PTC_API int ptc_decode_get_times(const struct ptc_decode *d, uint64_t *ret_first_ns,
				 uint64_t *ret_last_ns, struct ptc_err *err);

/*
 * Before ptc_decode_run: select the items with a time in [@from_ns, @to_ns). @to_ns is excluded, so
 * adjacent ranges add up to the whole. UINT64_MAX: to the end. Trace outside the range is not
 * decoded, except the part needed to start. PTC_E_USAGE: with opts.last, or after a run.
 * PTC_E_NOT_EXIST: the trace has no times.
 */
PTC_API int ptc_decode_choose_time(struct ptc_decode *d, uint64_t from_ns, uint64_t to_ns,
				   struct ptc_err *err);

/*
 * Before ptc_decode_run: select shard @i of @n, 1 <= @i <= @n. Processes that decode different
 * shards of one recording need nothing from each other. Shards are cut at PSBs, so that each has
 * about the same number of bytes of trace. The items of all shards in order are the items of the
 * recording. The sums of trace bytes, instructions, branches and gaps over all shards are those of
 * the recording. If the recording has fewer places to cut, some shards have no items.
 *
 * All shards need the same @n and the same opts.tids, opts.cpus and opts.resync. Trace in front of
 * the shard is not decoded, except the part needed to start.
 *
 * PTC_E_USAGE: @i or @n is wrong; with opts.last or ptc_decode_choose_time; with opts.icount but
 * without opts.before; after a run. PTC_E_NO_MEMORY.
 */
PTC_API int ptc_decode_choose_shard(struct ptc_decode *d, uint32_t i, uint32_t n,
				    struct ptc_err *err);

/*
 * Before ptc_decode_run: let @before_change be called with @ctx, by the thread that runs the
 * decoder, before mappings or processes change. NULL: not wanted. A sink that keeps items, and
 * looks up their names later, must look them up before @before_change returns.
 *
 * Until then, another thread than the decoder's may call these functions with the items, one thread
 * at a time: ptc_decode_symbol, ptc_decode_file, ptc_decode_srcline, ptc_decode_inlines,
 * ptc_decode_code_state, ptc_decode_code_part. With opts.sym it must not: the decoder looks up
 * names.
 */
PTC_API void ptc_decode_on_change(struct ptc_decode *d, void (*before_change)(void *ctx),
				  void *ctx);

/*
 * Inside on_items: let ptc_decode_run return 1 soon, after a few more items. Then call
 * ptc_decode_run again to continue, from any thread. If opts.jobs is more than 1, and the trace is
 * decoded by several threads, this has no effect.
 */
PTC_API void ptc_decode_pause(struct ptc_decode *d);

/*
 * Decode to the end and give all items to @sink. Only once for each @d, otherwise PTC_E_USAGE.
 * Returns 0 at the end, 1 after ptc_decode_pause.
 * PTC_E_STOPPED: the sink stopped. PTC_E_FORMAT, PTC_E_LIMIT: an invalid sideband record.
 * PTC_E_NO_MEMORY. Items given to the sink before an error are valid.
 */
PTC_API int ptc_decode_run(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

/*
 * VERIFY: returns a text of a few lines about the first difference between the second engine and
 * libipt, with the packets around it. Borrowed until ptc_decode_free. NULL: no difference.
 */
PTC_API const char *ptc_decode_difference(const struct ptc_decode *d);

/*
 * Returns note @i about missing data, one line, during or after a run: "no code for '/usr/lib/x.so'
 * (build-id ...): 3 gaps". Borrowed until ptc_decode_free. NULL: no more notes. Control characters
 * in names are escaped as \xNN.
 */
PTC_API const char *ptc_decode_note(const struct ptc_decode *d, size_t i);

/* A file whose code was not found. All strings are borrowed until ptc_decode_free. */
struct ptc_missing {
	const char *file;     /* as recorded; "[kernel.kallsyms]" */
	const char *build_id; /* in hex; "": not known */
	/* A file with another build-id, which was not used; NULL: none. */
	const char *found_path, *found_id;
	const char *hint; /* how to get the file, in words */
	uint64_t gaps;
	uint64_t bytes; /* bytes of trace that could not be decoded */
	/*
	 * Lower bound of the branches in these bytes: only those with a TNT bit or a packet of
	 * their own.
	 */
	uint64_t branches;
};

/*
 * Get missing file @i, during or after a run, or after ptc_decode_survey. Returns false if there is
 * no such file.
 */
PTC_API bool ptc_decode_missing(const struct ptc_decode *d, size_t i, struct ptc_missing *ret);

/*
 * Check which files of the recording are available, instead of running. *@ret_files: number of
 * files with code that the recording names. PTC_E_USAGE: after a run.
 */
PTC_API int ptc_decode_survey(struct ptc_decode *d, size_t *ret_files, struct ptc_err *err);

/*
 * Returns the name of the function that contains @ip in the process of @item at its time, and its
 * offset in *@ret_off. NULL: not known. To be called by the sink inside on_items. Demangled (C++,
 * Rust, D), except with opts.mangled. Borrowed until the next call.
 *
 * Sources of names: the file's symbols or its debug file; for the kernel kallsyms; for code in no
 * file jitdumps and /tmp/perf-PID.map.
 */
PTC_API const char *ptc_decode_symbol(struct ptc_decode *d, const struct ptc_item *item,
				      uint64_t ip, uint64_t *ret_off);

/*
 * As ptc_decode_symbol, for the file mapped at @ip as recorded (a path, or "[vdso]"), and the
 * offset in that file.
 */
PTC_API const char *ptc_decode_file(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
				    uint64_t *ret_off);

/*
 * Returns a 56-bit number of the current mappings of @item's process. While the number is equal,
 * for any process, the same names and code are at the same addresses. To be called inside on_items.
 */
PTC_API uint64_t ptc_decode_code_state(const struct ptc_decode *d, const struct ptc_item *item);

/* Addresses [start, end), and the number of the code there. */
struct ptc_code_part {
	uint64_t start, end;
	uint64_t number;
};

/*
 * Get the addresses around @ip whose code has the same number, in the process of @item. Where an
 * address has the same number again, at any time and in any process, its code, function name and
 * source line are the same. A file that is mapped keeps its number. The part is valid while
 * ptc_decode_code_state returns the same. To be called inside on_items.
 */
PTC_API void ptc_decode_code_part(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
				  struct ptc_code_part *ret);

/*
 * Returns a number for the life of @item's thread. While the number is equal, it is the same
 * thread, and its process runs the same program. (tids are reused, and exec keeps the tid.) To be
 * called inside on_items.
 */
PTC_API uint64_t ptc_decode_life(const struct ptc_decode *d, const struct ptc_item *item);

/*
 * Returns the source file of @ip, as named by the compiler, and the line in *@ret_line. NULL: not
 * known. Borrowed until ptc_decode_free. To be called inside on_items.
 */
PTC_API const char *ptc_decode_srcline(struct ptc_decode *d, const struct ptc_item *item,
				       uint64_t ip, int *ret_line);

/*
 * Returns the name of one file that ptc_decode_srcline looked into, and that has neither debug
 * information nor Go's own line table. *@ret_n: number of such files. NULL: no such file. Borrowed
 * until ptc_decode_free.
 */
PTC_API const char *ptc_decode_without_lines(const struct ptc_decode *d, size_t *ret_n);

/*
 * Call @on_line with @ctx for each source line that has code in a file that ptc_decode_srcline
 * looked into, executed or not. Some lines come more than once, in no order. @file is named as by
 * ptc_decode_srcline. Stops when @on_line returns non-zero, and returns that value. Otherwise
 * returns 0.
 */
PTC_API int ptc_decode_each_srcline(struct ptc_decode *d,
				    int (*on_line)(void *ctx, const char *file, int line),
				    void *ctx);

#ifdef __cplusplus
}
#endif
#endif
