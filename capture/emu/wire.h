/* SPDX-License-Identifier: MIT */
/*
 * Between the plugin, in each QEMU process of a recording, and the trace unit in
 * ptcap (unit.h): one segment of shared memory.
 *
 * Every guest thread has a slot with a ring of 32-bit words that it alone
 * writes. A word below PTC_EMU_EVENT says that a block was entered: it is the
 * block's place in the arena, in units of 16 bytes, where its code bytes are. Other
 * words begin an event: type and length, then so many words. What is written to
 * a ring is there whatever becomes of the process that wrote it.
 */
#ifndef PTC_CAPTURE_EMU_WIRE_H
#define PTC_CAPTURE_EMU_WIRE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	PTC_EMU_VERSION = 6,
	PTC_EMU_SLOTS = 1040,	  /* threads at a time, */
	PTC_EMU_FOR_EXEC = 16,	  /* the last of which are for those that exec, */
	PTC_EMU_FOR_VISITS = 8,	  /* and the very last for those that change mappings */
	PTC_EMU_WORDS = 1 << 15,  /* of a slot's ring */
	PTC_EMU_WAKE = 1 << 13,	  /* words between two wakeups of the trace unit */
	PTC_EMU_UNIT = 16,	  /* bytes: a block's place is counted in these */
	PTC_EMU_PATH = 4096,	  /* longest name in an event, its NUL too */
	PTC_EMU_BLOCK_MAX = 8192, /* bytes of code in a block: two pages */
	PTC_EMU_CALLS = 512,	  /* system calls by number, */
	PTC_EMU_RIGHTS = 510,	  /* execve of a file that gives rights, */
	PTC_EMU_INT80 = 511,	  /* and the 32-bit ones */
};

/* Bytes of the arena, whole pages; the default. */
#define PTC_EMU_ARENA	  ((uint64_t)1 << 30)
#define PTC_EMU_ARENA_MIN ((uint64_t)1 << 16)
#define PTC_EMU_ARENA_MAX ((uint64_t)1 << 34)

#define PTC_EMU_EVENT ((uint32_t)1 << 31)

/* An event's first word. @words: the payload's. */
static inline uint32_t ptc_emu_event(uint32_t type, uint32_t words)
{
	return PTC_EMU_EVENT | type << 20 | words;
}

enum ptc_emu_type {
	PTC_EMU_START = 1, /* struct ptc_emu_start */
	PTC_EMU_MAP,	   /* struct ptc_emu_map, then the file's name with its NUL */
	PTC_EMU_EXECED,	   /* a new program: its name, with its NUL; then what is mapped */
	PTC_EMU_COMM,	   /* the thread has named itself: the name */
	PTC_EMU_SIGNAL,	   /* struct ptc_emu_signal */
	PTC_EMU_EXIT,	   /* the thread ends in the system call of the newest block */
	PTC_EMU_LEAVE,	   /* the thread runs on, and writes no more */
};

enum ptc_emu_how {
	PTC_EMU_FIRST,
	PTC_EMU_EXEC,
	PTC_EMU_THREAD,
	PTC_EMU_FORK,
	PTC_EMU_VISIT, /* by a thread that is not recorded: it only tells of mappings */
};

/* The first words of a slot. */
struct ptc_emu_start {
	int32_t pid, tid;
	int32_t ppid, ptid; /* who made it */
	uint32_t how;
	uint32_t pad;
	uint64_t base; /* of the guest's address 0 in QEMU's memory */
	/*
	 * The PID namespace, if it is not ptcap's: @tid is a number in there, and so is @pid of a
	 * process that has just begun. 0: all are ptcap's. The trace unit puts ptcap's number of
	 * the process into the slot; 0: it has found none, and listens no more.
	 */
	uint64_t pid_ns;
};

enum ptc_emu_change { PTC_EMU_MMAP, PTC_EMU_MUNMAP, PTC_EMU_MPROTECT, PTC_EMU_MREMAP };

struct ptc_emu_map {
	uint64_t start, len, off;
	uint64_t from, from_len; /* of an mremap */
	uint32_t change, prot, flags;
	uint32_t maj, min, pad;
	uint64_t ino;
};

/* A handler is about to be entered, or the process is about to die. */
struct ptc_emu_signal {
	uint64_t ip; /* that was interrupted */
	uint32_t sig;
	uint32_t fatal;
};

/* A block in the arena; its code follows. */
struct ptc_emu_block {
	uint64_t start;
	uint32_t len;	/* of the code */
	uint32_t insns; /* that QEMU translated: the last may not belong to it (unit.c) */
};

/*
 * The page of old system calls: nothing can be read there. As the kernel does, QEMU
 * makes the call when it is jumped to, and returns. (arch/x86/include/uapi/asm/vsyscall.h)
 */
static inline bool ptc_emu_vsyscall(uint64_t ip)
{
	return ip >> 12 == 0xffffffffff600;
}

enum ptc_emu_slot_state { PTC_EMU_FREE, PTC_EMU_TAKEN };

struct ptc_emu_slot {
	_Alignas(64) atomic_ullong head; /* the guest thread's: words written */
	_Alignas(64) atomic_ullong tail; /* the trace unit's: words read */
	atomic_uint room;		 /* futex: bumped when the tail has moved */
	atomic_uint waiting;		 /* for that */
	atomic_uint state;		 /* enum ptc_emu_slot_state */
	atomic_int pid;			 /* of its process, once taken; */
	atomic_ullong born;		 /* and the number of that, of all */
};

/* Why a program that the guest executes is not emulated. */
enum ptc_emu_unfollowed {
	PTC_EMU_UNFOLLOWED_OTHER,   /* it cannot be read, or has no name */
	PTC_EMU_UNFOLLOWED_FOREIGN, /* it is not for 64-bit x86 */
	PTC_EMU_UNFOLLOWED_ROOT,    /* QEMU is not in the root directory that it has */
	PTC_EMU_UNFOLLOWED_USER, /* another user or IPC namespace: the recording is not in reach */
};

#define PTC_EMU_NOBODY UINT32_MAX

struct ptc_emu_shared {
	_Alignas(64) atomic_ullong arena_used; /* bytes */
	uint64_t arena_size;
	uint64_t pid_ns;       /* ptcap's PID namespace; 0: it is not known */
	pthread_mutex_t owned; /* by a thread of ptcap (owner.h) */
	uint32_t version;
	uint32_t turns_env;	/* QEMU turns the order of the environment round */
	atomic_uint bell;	/* futex: bumped to wake the trace unit */
	atomic_uint sleeping;	/* it waits for that */
	atomic_uint stop;	/* futex: record no more */
	atomic_uint loaded;	/* plugins that found this segment */
	atomic_uint full;	/* the arena did not suffice: the trace unit shall end it */
	atomic_uint asked;	/* so often: are there slots that nobody uses any more? */
	atomic_uint answered;	/* futex: up to that question they were freed */
	atomic_uint nslots;	/* those behind were never taken */
	atomic_ullong births;	/* so often one was */
	atomic_ullong untraced; /* threads and processes for which there was no slot */
	atomic_ullong lacking[PTC_EMU_CALLS / 64]; /* bits of calls that QEMU lacks (lack.h) */
	atomic_uint unfollowed;		    /* programs that were executed, and are not emulated */
	atomic_uint unfollowed_why;	    /* enum ptc_emu_unfollowed, of the first */
	char unfollowed_path[PTC_EMU_PATH]; /* and its name */
	/* A process changed its user and executes a program: that user shall own the segment, too.
	 */
	atomic_uint
		granting; /* futex: the process that asks, until its program is there; 0: none */
	atomic_uint grant_uid; /* or PTC_EMU_NOBODY: ptcap's user alone is the owner again */
	atomic_uint grants_asked, grants_given; /* so often; the second one is a futex */
	struct ptc_emu_slot slots[PTC_EMU_SLOTS];
};

/* Where in the segment what is: */
#define PTC_EMU_RINGS_AT  (((uint64_t)sizeof(struct ptc_emu_shared) + 4095) & ~(uint64_t)4095)
#define PTC_EMU_RING_SIZE ((uint64_t)PTC_EMU_WORDS * sizeof(uint32_t))
#define PTC_EMU_ARENA_AT  (PTC_EMU_RINGS_AT + PTC_EMU_SLOTS * PTC_EMU_RING_SIZE)

/* Behind the arena is its index (arena.h). */

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
