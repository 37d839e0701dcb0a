/* SPDX-License-Identifier: MIT */
/* Internals of the plugin: a guest thread's stream of words, and the events in it. */
#ifndef PTC_CAPTURE_EMU_PLUGIN_H
#define PTC_CAPTURE_EMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/emu/shm_protocol.h"

/* State of the calling guest thread. */
struct ptc_emu_me {
	uint32_t *ring;
	uint64_t pos;	/* number of words written */
	uint64_t limit; /* position at which to check for space, or to ring the bell */
	struct ptc_emu_slot *slot;
	/*
	 * The thread's CPUX86State: general registers, then rip. TCG keeps its address in rbp, so
	 * callbacks find it in their caller's frame. NULL: unknown.
	 */
	const uint64_t *env;
	int64_t call;	 /* its newest system call */
	bool in_call;	 /* that call has not returned */
	bool unfollowed; /* its current exec was counted as not recorded */
	uint64_t args[6];
	/* It waits before the block at this address, while a signal is handled; 0: it does not. */
	atomic_ullong parked;
	/* The newest fault of an instruction that the kernel reported. sig 0: none. */
	struct {
		int sig, code;
		uint64_t addr;
	} fault;
};

enum { PTC_ENV_RSP = 4, PTC_ENV_RDI = 7 };

/* State of the process. */
struct ptc_emu_proc {
	struct ptc_emu_shared *sh;
	int shm_id;
	char plugin[PTC_EMU_PATH]; /* path of this plugin */
	/* Path of the program. QEMU 10.0 does not build its own function for it. */
	char path[PTC_EMU_PATH];
	char exe[PTC_EMU_PATH]; /* Same without symbolic links; "": none. */
	char comm[16];
	enum ptc_emu_how how; /* how the process started */
	uint64_t base;	      /* host address of the guest's address 0 */
	bool begun;
	bool untraced;	      /* its start was not recorded, so no part of it is recorded */
	unsigned int env_rip; /* index of rip in me.env; 0: unknown, and me.env is not used */
	/*
	 * Blocks must be checked when they are entered: some block became a signal handler after
	 * its translation, or the threads are frozen.
	 */
	atomic_bool late;
	atomic_uint frozen; /* futex: threads wait before their next block */
	uint64_t auxv;	    /* guest address of the auxiliary vector; 0: unknown */
	atomic_int threads;
	atomic_bool jit; /* it has mapped a jitdump: its times must agree with ours */
	int pid;	 /* in ptcap's PID namespace */
	uint64_t pid_ns; /* its PID namespace if it differs from ptcap's; 0: the same */
};

/* Hidden: accessed with one instruction. */
extern struct ptc_emu_proc ptc_emu_proc __attribute__((visibility("hidden")));

/*
 * Initial-exec: accessed with one instruction. The C library reserves a little space for such
 * variables.
 */
extern __thread struct ptc_emu_me ptc_emu_me __attribute__((tls_model("initial-exec")));

/* Returns the host's address of guest address @guest. */
static inline void *ptc_emu_host(uint64_t guest)
{
	return (void *)(guest + ptc_emu_proc.base);
}

/* Copies guest memory. Returns the number of bytes copied: a guest's pointer may be invalid. */
size_t ptc_emu_read_guest(uint64_t guest, void *out, size_t len);
/*
 * Finds the index of rip in @env, at a block that no jump led to. Returns false if it is not found.
 */
bool ptc_emu_know_env(const uint64_t *env, uint64_t start);

/* --- stream.c: a thread's words --- */
static inline bool ptc_emu_stopped(void)
{
	return atomic_load_explicit(&ptc_emu_proc.sh->stop, memory_order_relaxed);
}

static inline void ptc_emu_publish(struct ptc_emu_me *m)
{
	atomic_store_explicit(&m->slot->head, m->pos, memory_order_release);
}

/* Call at the limit: rings the bell, and waits if the ring is full. */
void ptc_emu_make_room(struct ptc_emu_me *m);
/* Writes an event of @len bytes, padded to words. */
void ptc_emu_put(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len);
/* Same, with a text after the payload. */
void ptc_emu_put_text(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len,
		      const char *text);
/* Waits until the trace unit has read all words of this thread. */
void ptc_emu_sync(struct ptc_emu_me *m);
/* Lets the thread write to @slot, which has the ring @index, from now on. */
void ptc_emu_open(struct ptc_emu_me *m, struct ptc_emu_slot *slot, uint32_t index);
/* Lets the thread's words be discarded from now on. */
void ptc_emu_to_nowhere(struct ptc_emu_me *m);
bool ptc_emu_is_nowhere(const struct ptc_emu_me *m);
bool ptc_emu_has_stream(const struct ptc_emu_me *m);

/* Wakes the trace unit, which has something to do. */
void ptc_emu_ring_bell(void);
/*
 * Sleeps while *@word is @seen, with a time limit. After the limit it checks that ptcap still
 * lives.
 */
void ptc_emu_await(atomic_uint *word, unsigned int seen);
/* Wakes all threads that wait for @word. */
void ptc_emu_wake(atomic_uint *word);

/* --- threads.c: assigns streams --- */
/*
 * Opens a stream for the calling thread, which started in the way @how, with parent process @ppid.
 * Opens none if recording has stopped.
 */
void ptc_emu_join_as(struct ptc_emu_me *m, enum ptc_emu_how how, int ppid);
/* Opens a stream for the calling thread if it has none and recording goes on. */
void ptc_emu_join(struct ptc_emu_me *m);
/* Ends the stream: the thread ends. */
void ptc_emu_part(struct ptc_emu_me *m);
/* Returns true if the calling thread @m is not recorded, but its process is. */
bool ptc_emu_visits(const struct ptc_emu_me *m);
/*
 * Opens a temporary stream for an event that must be recorded in any case. Returns false if
 * recording has stopped.
 */
bool ptc_emu_visit(struct ptc_emu_me *ret);
/* Closes the temporary stream, after its words were read. */
void ptc_emu_end_visit(struct ptc_emu_me *m);
/* Finds the number and namespace of a process that is new, or new to the recording. */
void ptc_emu_know_pid(void);
/* Call after fork(2) in the child. */
void ptc_emu_forked(struct ptc_emu_me *m);

/* --- program_start.c: before the first instruction --- */
/*
 * Called when the first block of the program, at @start, is entered; @env: see struct ptc_emu_me.
 * Gives the program its environment and its name. On failure ends the program with a message.
 */
void ptc_emu_begin(const uint64_t *env, uint64_t start);

/* --- initial_maps.c: mappings when a program begins --- */
void ptc_emu_tell_loaded(struct ptc_emu_me *m, const char *path);
/* Reports the mapping with the guest's first stack pointer @rsp. */
void ptc_emu_tell_stack(struct ptc_emu_me *m, uint64_t rsp);

/* --- guest_syscalls.c: system calls --- */
void ptc_emu_call(uint64_t id, unsigned int vcpu, int64_t num, uint64_t a1, uint64_t a2,
		  uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void ptc_emu_called(uint64_t id, unsigned int vcpu, int64_t num, int64_t ret);

/*
 * Reports data of the guest that is in no file, if ptcap saves states. Does not wait: no code
 * changes.
 */
void ptc_emu_tell_data(struct ptc_emu_me *m, const struct ptc_emu_map *map);

/* --- exec.c: the guest executes a program --- */
/* Does not return if the program runs under QEMU. Otherwise counts the program as not recorded. */
void ptc_emu_exec(struct ptc_emu_me *m);
/* The exec failed: undoes the count of ptc_emu_exec. */
void ptc_emu_exec_failed(struct ptc_emu_me *m);

/* --- shm_access.c --- */
/*
 * Returns true if a program that this process executes can be recorded, as its user. *ret_fd:
 * descriptor through which the program finds the recording's memory; -1: it uses the segment's
 * number.
 */
bool ptc_emu_is_in_reach(int *ret_fd);
/* Gives up this process's turn to ask for a grant, if it has one. */
void ptc_emu_end_turn(void);

/* --- signals.c --- */
/* Registers the signal handler at guest address @handler, which returns through @restorer. */
void ptc_emu_handler(uint64_t handler, uint64_t restorer);
bool ptc_emu_is_handler(uint64_t addr);
/*
 * A block at @addr is being translated. Call it before ptc_emu_is_handler. If the block becomes a
 * handler later, ptc_emu_proc.late is set.
 */
void ptc_emu_translated(uint64_t addr);
/* A block at a handler's address @ip is entered: writes a signal event if a signal was delivered.
 */
void ptc_emu_delivered(struct ptc_emu_me *m, uint64_t ip);
/* Installs hooks that report when QEMU kills itself with a guest's fatal signal. */
void ptc_emu_watch_death(void);

/* --- siginfo.c: why a signal came --- */
/*
 * Lets this process see the siginfo of each signal before QEMU. Call it before QEMU installs its
 * handlers.
 */
void ptc_emu_watch_signals(void);
/*
 * Lets QEMU handle signals that kill the guest and have no core dump. From version 9 on, QEMU
 * leaves these to the kernel. Call it after QEMU has installed its handlers.
 */
void ptc_emu_watch_defaults(void);
/* The guest handles signal @sig now: its siginfo does not belong to a later signal. */
void ptc_emu_signal_handled(struct ptc_emu_me *m, int sig);
/* Fills in the siginfo of signal ret->signo, which kills the calling thread's process. */
void ptc_emu_signal_cause(const struct ptc_emu_me *m, struct ptc_emu_death *ret);

/* --- plugin_state.c --- */
/*
 * Reads the registers of the thread with @m. @m is a copy, and the thread may end at any time.
 * Returns false if they cannot be read.
 */
bool ptc_emu_registers(const struct ptc_emu_me *m, struct ptc_emu_regs *ret);

/* --- death.c: a signal kills the process --- */
/* The calling thread, which has slot @index, belongs to the process from now on. */
void ptc_emu_enrol(struct ptc_emu_me *m);
/* The calling thread ends. */
void ptc_emu_strike(const struct ptc_emu_me *m);
/* Call in the child of a fork: the parent's threads are not in the child. */
void ptc_emu_strike_all(void);
/*
 * Waits while the threads of the process are frozen, or ptcap copies the process. @ip: the block
 * that is entered next; 0: the thread is at the end of a system call.
 */
void ptc_emu_park(struct ptc_emu_me *m, uint64_t ip);
/* Returns true if ptcap copies the processes of the recording. */
static inline bool ptc_emu_must_be_still(void)
{
	return atomic_load(&ptc_emu_proc.sh->still) != 0;
}
/* Waits until the trace unit has read all words. Until then the thread is before its block @ip. */
void ptc_emu_sync_at(struct ptc_emu_me *m, uint64_t ip);
/* Lets ptcap find the registers of the thread, which has a stream. */
void ptc_emu_show_env(struct ptc_emu_me *m);
/*
 * The process dies from @sig when this returns. Reports the signal, and if ptcap saves the state,
 * the registers of all threads. Then waits until ptcap has saved the state.
 */
void ptc_emu_die(struct ptc_emu_me *m, int sig);
/* Returns true if QEMU dumps the guest's core before it kills itself with @sig. */
bool ptc_emu_dumps_core(int sig);
/*
 * Waits until ptcap has taken a snapshot, if signal @sig, which was reported, requests one. @ip:
 * the instruction that is next.
 */
void ptc_emu_hold(struct ptc_emu_me *m, int sig, uint64_t ip);

/* Lets ptcap read this process's memory (kernel.yama.ptrace_scope). */
void ptc_emu_let_read(void);

/* --- fault_report.c: faults that the guest handles --- */
/* Call when the guest installs a handler of @sig. Makes the first fault as cheap as the others. */
void ptc_emu_fault_expected(int sig);
/*
 * Call when the handler of signal @sig is entered, before ptc_emu_signal_handled. @frame: guest
 * address of the signal's frame. Reports the registers of the interrupted code, and keeps a copy of
 * its stack, if ptcap saves states and the signal is a fault.
 */
void ptc_emu_fault_handled(struct ptc_emu_me *m, int sig, uint64_t frame);
/* The process exits with @status. Waits until ptcap has saved the state at its last handled fault,
 * if the exit is a failure.
 */
void ptc_emu_exits(struct ptc_emu_me *m, int status);
/* Call in the child of a fork: its parent's faults are not its own. */
void ptc_emu_forget_faults(void);

/* --- points.c: places at which a snapshot is taken --- */
/* The guest has mapped code. @name: its file; NULL or "": none. */
void ptc_emu_points_mapped(const struct ptc_emu_map *map, const char *name);
/* Returns the points at the guest's address @addr, as a bit set. */
uint64_t ptc_emu_points_at(uint64_t addr);
/*
 * The block at @ip with @points was entered, and this is recorded. Waits until ptcap has taken a
 * snapshot, if one is due.
 */
void ptc_emu_points_reached(struct ptc_emu_me *m, uint64_t ip, uint64_t points);

/* --- guest_core.c: the core file --- */
/* Lets the guest's core file have the name that the kernel would give it. */
void ptc_emu_watch_core(void);
/*
 * Completes that name when the signal @sig that kills the process is known. Counts the process if a
 * program would get its core.
 */
void ptc_emu_name_core(int sig);

#endif
