/* SPDX-License-Identifier: MIT */
/* Inside the plugin: a guest thread's stream of words, and what is written into it. */
#ifndef PTC_CAPTURE_EMU_PLUGIN_H
#define PTC_CAPTURE_EMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/emu/wire.h"

/* The calling guest thread. */
struct ptc_emu_me {
	uint32_t *ring;
	uint64_t pos;	/* words written */
	uint64_t limit; /* there look for room, or ring the bell */
	struct ptc_emu_slot *slot;
	/*
	 * The thread's CPUX86State: general registers, then rip. TCG keeps its address
	 * in rbp, which callbacks therefore find in their caller's frame. NULL: not known.
	 */
	const uint64_t *env;
	int64_t call;	 /* the system call it is in */
	bool unfollowed; /* an exec, which was counted as one that is not recorded */
	uint64_t args[6];
};

enum { PTC_ENV_RSP = 4, PTC_ENV_RDI = 7 };

/* The process. */
struct ptc_emu_proc {
	struct ptc_emu_shared *sh;
	int shm_id;
	char plugin[PTC_EMU_PATH]; /* our own path */
	/* Of the program: QEMU's own function for it is missing in 10.0, which does not build it.
	 */
	char path[PTC_EMU_PATH];
	char exe[PTC_EMU_PATH]; /* the same without links; "": it has no such name */
	char comm[16];
	enum ptc_emu_how how; /* it came to be */
	uint64_t base;	      /* of the guest's address 0 */
	bool begun;
	bool untraced;	      /* its beginning was not recorded: neither is anything of it */
	unsigned int env_rip; /* index of rip in me.env; 0: not known, and me.env is not used */
	/* There are handlers among the blocks that were translated before they were handlers. */
	atomic_bool late;
	atomic_int threads;
	atomic_bool jit; /* it has mapped a jitdump: its times and ours must agree */
	int pid;	 /* as ptcap knows it */
	uint64_t pid_ns; /* its PID namespace, if that is not ptcap's; 0: it is */
};

extern struct ptc_emu_proc ptc_emu_proc;

struct ptc_emu_me *ptc_emu_me(void);

/* --- stream.c: a thread's words, and whoever reads them --- */
static inline bool ptc_emu_stopped(void)
{
	return atomic_load_explicit(&ptc_emu_proc.sh->stop, memory_order_relaxed);
}

static inline void ptc_emu_publish(struct ptc_emu_me *m)
{
	atomic_store_explicit(&m->slot->head, m->pos, memory_order_release);
}

/* At the limit: ring, and wait if the ring is full. */
void ptc_emu_make_room(struct ptc_emu_me *m);
/* Write an event to the thread's stream. @len bytes, padded to words. */
void ptc_emu_put(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len);
/* The same with a text behind the payload. */
void ptc_emu_put_text(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len,
		      const char *text);
/* Wait until the trace unit has read all that this thread wrote. */
void ptc_emu_sync(struct ptc_emu_me *m);
/* The thread writes to @slot, whose ring is the one at @index, from now on. */
void ptc_emu_open(struct ptc_emu_me *m, struct ptc_emu_slot *slot, uint32_t index);
/* Nobody wants its words any more. */
void ptc_emu_to_nowhere(struct ptc_emu_me *m);
bool ptc_emu_is_nowhere(const struct ptc_emu_me *m);
bool ptc_emu_has_stream(const struct ptc_emu_me *m);

/* There is something for the trace unit to do. */
void ptc_emu_ring_bell(void);
/* Sleep while *@word is @seen, or until it is time to see if there still is somebody who records.
 */
void ptc_emu_await(atomic_uint *word, unsigned int seen);
/* Wake all that wait for @word. */
void ptc_emu_wake(atomic_uint *word);

/* --- threads.c: who has a stream --- */
/* The calling thread came to be in this way, in the process @ppid's: a stream, if we record. */
void ptc_emu_join_as(struct ptc_emu_me *m, enum ptc_emu_how how, int ppid);
/* A stream for the calling thread, if it has none and we record. */
void ptc_emu_join(struct ptc_emu_me *m);
/* The thread ends. */
void ptc_emu_part(struct ptc_emu_me *m);
/* Is the calling thread @m one that is not recorded, in a process that is? */
bool ptc_emu_visits(const struct ptc_emu_me *m);
/* A stream for an event that must be told all the same. False: we record no more. */
bool ptc_emu_visit(struct ptc_emu_me *ret);
/* What was written to it is read when this returns. */
void ptc_emu_end_visit(struct ptc_emu_me *m);
/* The process is new, to itself or to us: what its number is, and in which namespace. */
void ptc_emu_know_pid(void);
/* After fork(2), in the child. */
void ptc_emu_forked(struct ptc_emu_me *m);

/* --- begin.c: before the first instruction --- */
/* The first block of the program, at @start, is entered; @env: as in struct ptc_emu_me. Gives the
 * program its environment and its name. Ends it with a message if that cannot be done. */
void ptc_emu_begin(const uint64_t *env, uint64_t start);
/* Learns where rip is in @env, at a block that no jump led to. False: not there. */
bool ptc_emu_know_env(const uint64_t *env, uint64_t start);

/* --- loaded.c: what is mapped when a program begins --- */
void ptc_emu_tell_loaded(struct ptc_emu_me *m, const char *path);

/* --- calls.c: system calls --- */
void ptc_emu_call(uint64_t id, unsigned int vcpu, int64_t num, uint64_t a1, uint64_t a2,
		  uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void ptc_emu_called(uint64_t id, unsigned int vcpu, int64_t num, int64_t ret);

/* Copies guest memory. Returns how many bytes there are: a guest's pointer may lead nowhere. */
size_t ptc_emu_read_guest(uint64_t guest, void *out, size_t len);

/* --- exec.c: the guest executes a program --- */
/* Does not return if the program runs under QEMU. Else counts it as one that is not recorded. */
void ptc_emu_exec(struct ptc_emu_me *m);
/* The exec failed: takes back what ptc_emu_exec counted. */
void ptc_emu_exec_failed(struct ptc_emu_me *m);

/* --- reach.c --- */
/* Can a program that this process executes be recorded, as its user? *ret_fd: a descriptor for it
 * to find the memory of the recording by; -1: it finds that by its number. */
bool ptc_emu_is_in_reach(int *ret_fd);
/* Ends the turn of this process to ask for a grant, if it has one. */
void ptc_emu_end_turn(void);

/* --- signals.c --- */
/* Signal handlers at guest address @handler run from now on; returning through @restorer. */
void ptc_emu_handler(uint64_t handler, uint64_t restorer);
bool ptc_emu_is_handler(uint64_t addr);
/*
 * A block at @addr is being translated: to be told before ptc_emu_is_handler is asked.
 * If it becomes a handler later, ptc_emu_proc.late is set.
 */
void ptc_emu_translated(uint64_t addr);
/* A block at a handler's address is entered: if that is a delivery, tell of it. */
void ptc_emu_delivered(struct ptc_emu_me *m);
/* Hear of QEMU's own death by a guest's fatal signal. */
void ptc_emu_watch_death(void);

#endif
