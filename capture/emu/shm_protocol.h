/* SPDX-License-Identifier: MIT */
/*
 * The interface between the plugin, in each QEMU process of a recording, and the trace unit in
 * ptcap (trace_unit.h): one segment of shared memory.
 *
 * Every guest thread has a slot with a ring of 32-bit words that only this thread writes. A word
 * below PTC_EMU_EVENT reports that a block was entered. It is the block's place in the arena, in
 * units of 16 bytes; the code bytes are stored there. Other words begin an event: a type and a
 * length, then that many words. The contents of a ring survive the process that wrote them.
 */
#ifndef PTC_CAPTURE_EMU_SHM_PROTOCOL_H
#define PTC_CAPTURE_EMU_SHM_PROTOCOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ptcap/capture.h"

enum {
	PTC_EMU_VERSION = 9,
	PTC_EMU_SLOTS = 1040,	  /* maximum number of threads at a time */
	PTC_EMU_FOR_EXEC = 16,	  /* the last slots are reserved for execs */
	PTC_EMU_FOR_VISITS = 8,	  /* the very last for threads that change mappings */
	PTC_EMU_WORDS = 1 << 15,  /* in a slot's ring */
	PTC_EMU_WAKE = 1 << 13,	  /* words between two wakeups of the trace unit */
	PTC_EMU_UNIT = 16,	  /* bytes: unit of a block's place */
	PTC_EMU_PATH = 4096,	  /* longest name in an event, including its NUL */
	PTC_EMU_BLOCK_MAX = 8192, /* bytes of code in a block: two pages */
	PTC_EMU_CALLS = 512,	  /* system calls, by number */
	PTC_EMU_RIGHTS = 510,	  /* pseudo number: execve of a file that gives rights */
	PTC_EMU_INT80 = 511,	  /* pseudo number: int 0x80 */
	/* Some runtimes use faults as a matter of course. A process that handles more is left out.
	 */
	PTC_EMU_FAULTS = 64,
};

/* Bytes of the arena, whole pages: default and limits. */
#define PTC_EMU_ARENA	  ((uint64_t)1 << 30)
#define PTC_EMU_ARENA_MIN ((uint64_t)1 << 16)
#define PTC_EMU_ARENA_MAX ((uint64_t)1 << 34)

#define PTC_EMU_EVENT ((uint32_t)1 << 31)

/* Returns an event's first word. @words: length of the payload. */
static inline uint32_t ptc_emu_event(uint32_t type, uint32_t words)
{
	return PTC_EMU_EVENT | type << 20 | words;
}

enum ptc_emu_type {
	PTC_EMU_START = 1, /* struct ptc_emu_start */
	PTC_EMU_MAP,	   /* struct ptc_emu_map, then the file's name with its NUL */
	PTC_EMU_EXECED,	   /* a new program: its name with its NUL; mappings follow */
	PTC_EMU_COMM,	   /* the thread has changed its name: the name */
	PTC_EMU_SIGNAL,	   /* struct ptc_emu_signal */
	PTC_EMU_EXIT,	   /* the thread ends in the system call of the last block */
	PTC_EMU_LEAVE,	   /* the thread runs on, and writes no more */
	PTC_EMU_REGS,	   /* struct ptc_emu_regs: a thread of a process that is about to die */
	PTC_EMU_DEATH,	   /* struct ptc_emu_death, after the fatal signal and all PTC_EMU_REGS */
	PTC_EMU_POINT,	   /* the last block begins at a place that requests a snapshot */
	PTC_EMU_HELD,	   /* follows an event that requests a snapshot */
	PTC_EMU_FAULT,	   /* struct ptc_emu_fault, after the signal: the guest handles a fault */
	PTC_EMU_FAILED,	   /* struct ptc_emu_failed: the process, which handled a fault, exits */
};

enum ptc_emu_how {
	PTC_EMU_FIRST,
	PTC_EMU_EXEC,
	PTC_EMU_THREAD,
	PTC_EMU_FORK,
	PTC_EMU_VISIT, /* by a thread that is not recorded: reports mappings only */
};

/* First event of a slot. */
struct ptc_emu_start {
	int32_t pid, tid;
	int32_t ppid, ptid; /* the parent */
	uint32_t how;
	uint32_t pad;
	uint64_t base; /* address of the guest's address 0 in QEMU's memory */
	/*
	 * The PID namespace if it differs from ptcap's. @tid is then a number in that namespace, as
	 * is the @pid of a new process. 0: all numbers are ptcap's. The trace unit stores ptcap's
	 * number of the process in the slot. 0 there: the process was not found, and the slot is
	 * not read any more.
	 */
	uint64_t pid_ns;
};

enum ptc_emu_change {
	PTC_EMU_MMAP,
	PTC_EMU_MUNMAP,
	PTC_EMU_MPROTECT,
	PTC_EMU_MREMAP,
	PTC_EMU_DATA, /* data in no file, in unused address space: reported only for saved states */
};

struct ptc_emu_map {
	uint64_t start, len, off;
	uint64_t from, from_len; /* for mremap */
	uint32_t change, prot, flags;
	uint32_t maj, min, pad;
	uint64_t ino;
};

/* A handler is about to be entered, or the process is about to die. */
struct ptc_emu_signal {
	uint64_t ip; /* the interrupted address */
	uint32_t sig;
	uint32_t fatal;
};

/* Registers of a thread of a process that is about to die, or that handles a fault. */
struct ptc_emu_regs {
	uint32_t slot;
	uint32_t in_call; /* the thread is in a system call, and rip is at the call */
	uint64_t gpr[16]; /* in the order of the instruction encoding: rax, rcx, rdx, rbx, ... */
	uint64_t rip;
	uint64_t rflags;	   /* a thread between two blocks: without the arithmetic flags */
	uint64_t fs_base, gs_base; /* 0: unknown */
};

/* The process is about to die from a signal. */
struct ptc_emu_death {
	int32_t signo;
	/* as in siginfo_t. PTC_EMU_BY_INSN: an instruction caused the signal, and QEMU has no code
	 */
	int32_t code;
	int32_t error;
	int32_t sender; /* PID; 0: none */
	uint64_t addr;
	uint64_t auxv; /* guest address of the auxiliary vector; 0: unknown */
};

#define PTC_EMU_BY_INSN INT32_MAX

/* The guest handles a fault. The event follows the signal's. */
struct ptc_emu_fault {
	uint64_t number; /* of the process's handled faults; the first is 1 */
	struct ptc_emu_death cause;
	struct ptc_emu_regs regs; /* of the interrupted code; the slot is not set */
};

/*
 * A process exits with a failure, after it has handled a fault. It waits until ptcap has saved the
 * state.
 */
struct ptc_emu_failed {
	uint64_t number;     /* of its last handled fault */
	uint64_t status;     /* exit status, not 0 */
	uint64_t stack, len; /* guest address of the stack that was copied at the fault */
	uint64_t copy;	     /* address of the copy in QEMU's memory */
};

/* A block in the arena; its code follows. */
struct ptc_emu_block {
	uint64_t start;
	uint32_t len; /* of the code */
	/* translated by QEMU: the last may not belong to the block (block_table.c) */
	uint32_t insns;
};

/*
 * The vsyscall page. It cannot be read. On a jump to it, QEMU makes the system call and returns,
 * like the kernel (arch/x86/include/uapi/asm/vsyscall.h).
 */
static inline bool ptc_emu_vsyscall(uint64_t ip)
{
	return ip >> 12 == 0xffffffffff600;
}

/* A place in the code at which a snapshot is taken. */
struct ptc_emu_point {
	uint64_t dev, ino;	 /* of its file; ino 0: unknown */
	uint64_t addr;		 /* offset in the file; without a file: guest address */
	uint64_t count;		 /* a snapshot is taken at each count-th execution, at least 1 */
	atomic_ullong seen;	 /* executions, by all threads */
	char file[PTC_EMU_PATH]; /* "": none */
};

enum ptc_emu_slot_state { PTC_EMU_FREE, PTC_EMU_TAKEN };

struct ptc_emu_slot {
	_Alignas(64) atomic_ullong head; /* written by the guest thread: number of words written */
	/* Also written by the guest thread, for a copy of its process (live_guests.h): */
	atomic_ullong parked; /* it waits before the block at this address; 0: it does not */
	atomic_ullong env;    /* its CPUX86State, in QEMU's memory; 0: unknown */
	atomic_ullong auxv;   /* guest address of the auxiliary vector; 0: unknown */
	atomic_uint env_rip;  /* index of rip in env */
	atomic_uint call;     /* the system call in which it is, plus 1; 0: none */
	_Alignas(64) atomic_ullong tail; /* written by the trace unit: number of words read */
	atomic_uint room;		 /* futex: incremented after the tail has moved */
	atomic_uint waiting;		 /* the guest thread waits for room */
	atomic_uint state;		 /* enum ptc_emu_slot_state */
	atomic_int pid;			 /* of the slot's process, once the slot is taken */
	atomic_ullong born;		 /* value of births when the slot was taken */
};

/* The reason why an executed program is not emulated. */
enum ptc_emu_unfollowed {
	PTC_EMU_UNFOLLOWED_OTHER,   /* cannot be read, or has no name */
	PTC_EMU_UNFOLLOWED_FOREIGN, /* is not a 64-bit x86 program */
	PTC_EMU_UNFOLLOWED_ROOT,    /* QEMU is not in its root directory */
	PTC_EMU_UNFOLLOWED_USER, /* another user or IPC namespace: it cannot access the recording */
};

#define PTC_EMU_NOBODY UINT32_MAX

struct ptc_emu_shared {
	_Alignas(64) atomic_ullong arena_used; /* bytes used */
	uint64_t arena_size;
	uint64_t pid_ns;       /* ptcap's PID namespace; 0: unknown */
	pthread_mutex_t owned; /* locked by a thread of ptcap (owner_liveness.h) */
	uint32_t version;
	uint32_t turns_env;    /* QEMU reverses the order of the environment */
	uint32_t saves_state;  /* report the registers of a process that a signal kills */
	int32_t owner;	       /* ptcap's PID, in its own PID namespace */
	uint32_t saves_stacks; /* ptcap copies all processes at a snapshot */
	uint64_t held_signals; /* these request a snapshot. Bit N-1 is signal N */
	uint32_t npoints;
	struct ptc_emu_point points[PTC_AT_MAX];
	atomic_uint bell;     /* futex: incremented to wake the trace unit */
	atomic_uint sleeping; /* the trace unit waits for the bell */
	atomic_uint stop;     /* futex: recording stops */
	atomic_uint loaded;   /* number of plugins that found this segment */
	/*
	 * Futex, 1: guest threads wait before a next block, and at the end of a system call. They
	 * check it at the limit of words between two wakeups, which costs nothing else.
	 */
	atomic_uint still;
	atomic_uint full;	/* the arena is full: the trace unit must end the recording */
	atomic_uint asked;	/* number of requests to free unused slots */
	atomic_uint answered;	/* futex: requests up to this number were handled */
	atomic_uint nslots;	/* slots from this index on were never taken */
	atomic_ullong births;	/* number of times a slot was taken */
	atomic_ullong untraced; /* threads and processes that got no slot */
	/* processes without a core dump, because kernel.core_pattern names a program */
	atomic_ullong undumped;
	/* bit set of calls that QEMU lacks (missing_syscalls.h) */
	atomic_ullong lacking[PTC_EMU_CALLS / 64];
	atomic_uint unfollowed;		    /* number of executed programs that are not emulated */
	atomic_uint unfollowed_why;	    /* enum ptc_emu_unfollowed, of the first */
	char unfollowed_path[PTC_EMU_PATH]; /* path of the first */
	/*
	 * A process that has changed its user executes a program. That user must own the segment
	 * too.
	 */
	/* futex: the process that asks, until its program has started; 0: none */
	atomic_uint granting;
	atomic_uint grant_uid; /* or PTC_EMU_NOBODY: only ptcap's user is the owner again */
	/* number of requests, and of handled requests (a futex) */
	atomic_uint grants_asked, grants_given;
	struct ptc_emu_slot slots[PTC_EMU_SLOTS];
};

/* Offsets in the segment: */
#define PTC_EMU_RINGS_AT  (((uint64_t)sizeof(struct ptc_emu_shared) + 4095) & ~(uint64_t)4095)
#define PTC_EMU_RING_SIZE ((uint64_t)PTC_EMU_WORDS * sizeof(uint32_t))
#define PTC_EMU_ARENA_AT  (PTC_EMU_RINGS_AT + PTC_EMU_SLOTS * PTC_EMU_RING_SIZE)

/* The index (block_store.h) follows the arena. */

static inline uint32_t *ptc_emu_ring(struct ptc_emu_shared *sh, uint32_t slot)
{
	return (uint32_t *)((uint8_t *)sh + PTC_EMU_RINGS_AT + slot * PTC_EMU_RING_SIZE);
}

static inline struct ptc_emu_block *ptc_emu_block(struct ptc_emu_shared *sh, uint32_t place)
{
	return (struct ptc_emu_block *)((uint8_t *)sh + PTC_EMU_ARENA_AT +
					(uint64_t)place * PTC_EMU_UNIT);
}

#endif
