/* SPDX-License-Identifier: MIT */
/*
 * The state of a process: the registers of each thread, the mappings, and parts of the memory.
 * `ptcap crash` saves it at the moment a signal kills the process. `ptcap stacks` saves it while
 * the process lives. Layout: doc/format.md.
 */
#ifndef PTCAP_CRASH_H
#define PTCAP_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/ledger.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* event_id of the HEADER_EVENT_TYPE records that hold crash state: "ptcapCRS" in little endian. */
#define PTC_CRASH_ID UINT64_C(0x5352437061637470)

/* Kinds of crash records. Each has its structure and additional bytes. */
enum ptc_crash_kind {
	PTC_CRASH_SIGNAL = 1,  /* first record of a state; bytes: the kernel's siginfo */
	PTC_CRASH_THREAD = 2,  /* bytes: the name of the thread */
	PTC_CRASH_MAP = 3,     /* bytes: the name of the mapping, as in /proc/PID/maps */
	PTC_CRASH_MEMORY = 4,  /* bytes: the memory from addr on */
	PTC_CRASH_AUXV = 5,    /* bytes: the auxiliary vector */
	PTC_CRASH_MESSAGE = 6, /* where a runtime keeps its message; no bytes */
	/* After the THREAD record of the same thread. bytes: name of the file of its system call */
	PTC_CRASH_TASK = 7,
	PTC_CRASH_LIVE = 8, /* no signal killed the process: signo of the SIGNAL record is 0 */
};

/* Messages of runtimes, and stacks of interpreters. Their memory is in MEMORY records. */
enum ptc_crash_message_kind {
	PTC_CRASH_ABORT_MSG = 1,     /* addr of the GNU C library's struct abort_msg_s */
	PTC_CRASH_CXX_EXCEPTION = 2, /* addr of the struct _Unwind_Exception */
	PTC_CRASH_RUST_PANIC = 3,    /* addr of the PanicHookInfo */
	PTC_CRASH_GO_PANIC = 4,	     /* addr of the runtime.g */
	PTC_CRASH_ASAN_REPORT = 5,   /* addr of the text */
	/* addr of CPython's _PyRuntime, which describes the layout of 3.13 */
	PTC_CRASH_PYTHON_RUNTIME = 6,
	PTC_CRASH_PYTHON_3_11 = 7, /* addr of the thread's PyThreadState; by CPython's version */
	PTC_CRASH_PYTHON_3_12 = 8,
	PTC_CRASH_PYTHON_3_13 = 9,
};

/* Register numbers, in the order of the kernel's struct user_regs_struct. */
enum ptc_crash_reg {
	PTC_REG_R15,
	PTC_REG_R14,
	PTC_REG_R13,
	PTC_REG_R12,
	PTC_REG_RBP,
	PTC_REG_RBX,
	PTC_REG_R11,
	PTC_REG_R10,
	PTC_REG_R9,
	PTC_REG_R8,
	PTC_REG_RAX,
	PTC_REG_RCX,
	PTC_REG_RDX,
	PTC_REG_RSI,
	PTC_REG_RDI,
	PTC_REG_ORIG_RAX,
	PTC_REG_RIP,
	PTC_REG_CS,
	PTC_REG_EFLAGS,
	PTC_REG_RSP,
	PTC_REG_SS,
	PTC_REG_FS_BASE,
	PTC_REG_GS_BASE,
	PTC_REG_DS,
	PTC_REG_ES,
	PTC_REG_FS,
	PTC_REG_GS,
	PTC_REG_COUNT
};

enum { PTC_CRASH_REGS = 27 }; /* registers of a record: its layout does not change */

/* PTC_CRASH_SIGNAL: the fatal signal, or a fault before an exit with a failure. Field names without
 * comment are those of siginfo_t. */
struct ptc_crash_signal {
	uint64_t pid, tid; /* process and thread that the signal killed */
	uint64_t signo;	   /* 0: no signal, the process was alive */
	int64_t code;	   /* si_code */
	uint64_t error;
	uint64_t addr;	    /* si_addr, if si_code says that the field is valid */
	uint64_t sender;    /* si_pid, if si_code says that the field is valid */
	uint64_t time_ns;   /* by the clock of the recording's records */
	uint64_t no_memory; /* 1: the recording keeps no memory, so there are no MEMORY records */
	/* not 0: the process handled the signal, and exited later with this status */
	uint64_t exit_status;
};

/* PTC_CRASH_THREAD: one thread and its registers. */
struct ptc_crash_thread {
	uint64_t pid, tid;
	uint64_t in_call;	       /* 1: inside a system call; regs are those at the entry */
	uint64_t regs[PTC_CRASH_REGS]; /* by enum ptc_crash_reg */
};

/* PTC_CRASH_MAP: one mapping, addresses [start, end), at file offset off. */
struct ptc_crash_map {
	uint64_t pid;
	uint64_t start, end, off;
	uint64_t prot; /* PROT_* */
};

/* PTC_CRASH_MEMORY: a part of the memory from address addr on. */
struct ptc_crash_memory {
	uint64_t pid, addr;
	uint64_t cut; /* bytes after these that existed, but exceeded the limit */
};

/* PTC_CRASH_AUXV: the auxiliary vector of the process (getauxval(3)). */
struct ptc_crash_auxv {
	uint64_t pid;
};

/* PTC_CRASH_MESSAGE: the message of a runtime, or an exception, of the thread that was killed. */
struct ptc_crash_message {
	uint64_t pid, tid;
	uint64_t what; /* enum ptc_crash_message_kind; a reader skips unknown kinds */
	uint64_t addr;
};

/* PTC_CRASH_TASK: more about one thread. */
struct ptc_crash_task {
	uint64_t pid, tid;
	uint64_t own_tid; /* its ID in the PID namespace of the process; 0: unknown */
	/* the signal that had stopped the process before (job control); 0: it was not stopped */
	uint64_t stop_signal;
	/*
	 * 1: the thread did not stop. In state 'D' only rip, rsp and arguments are known. Otherwise
	 * rip is 0, and no register is known.
	 */
	uint64_t unstopped;
	uint64_t cpu_ns; /* CPU time of the thread so far */
};

/* PTC_CRASH_LIVE: how the state of a live process was read. */
struct ptc_crash_live {
	uint64_t pid;
	uint64_t stopped_ns; /* time from the first stop of a thread to the last resume */
	uint64_t
		restarted; /* system calls that the stop had interrupted, and that were restarted */
};

/* One crash record, decoded. */
struct ptc_crash {
	uint32_t kind; /* enum ptc_crash_kind; u is empty for an unknown kind */
	union {
		struct ptc_crash_signal signal;
		struct ptc_crash_thread thread;
		struct ptc_crash_map map;
		struct ptc_crash_memory memory;
		struct ptc_crash_auxv auxv;
		struct ptc_crash_message message;
		struct ptc_crash_task task;
		struct ptc_crash_live live;
	} u;
	struct ptc_cur bytes; /* borrowed from the record */
};

/*
 * Decode @rec if it is a crash record. Returns 1 and fills *@ret, 0 for any other record, or
 * PTC_E_FORMAT. Numbers that an older writer did not store are 0.
 */
PTC_API int ptc_crash_parse(const struct ptc_rec *rec, struct ptc_crash *ret, struct ptc_err *err);

/* Get number @i of @c, with its name. Returns false if @i is too large. */
PTC_API bool ptc_crash_field(const struct ptc_crash *c, size_t i, struct ptc_ledger_field *ret);

/* Returns the name of a register ("rax"), static; "?" if @reg is not below PTC_REG_COUNT. */
PTC_API const char *ptc_crash_reg_name(size_t reg);

#ifdef __cplusplus
}
#endif
#endif
