/* SPDX-License-Identifier: MIT */
#include "decode/stacks/wait.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

/* Layouts of glibc's objects (nptl, sysdeps/x86/nptl/bits/struct_mutex.h and struct_rwlock.h). */
enum {
	MUTEX_OWNER = 8,
	RWLOCK_PHASE = 8,	/* offset of the futex that readers wait for */
	RWLOCK_WRITERS = 12,	/* offset of the futex that writers wait for */
	RWLOCK_WRITER = 24,	/* offset of the thread that writes */
	STREAM_OWNER = 8,	/* offset of the owner's thread descriptor: its fs_base */
	MUSL_LOCK = 4,		/* musl: offset of the futex in a mutex; it has the owner, too */
	DESCRIPTOR_SIZE = 4096, /* at most; from fs_base on */
	LOCK_VALUES = 2,	/* glibc: 0 free, 1 locked, 2 locked and awaited */
};

/* Newer than the headers of Debian 12, or missing in older ones. */
enum { OP_LOCK_PI2 = 13, OP_MASK = 0x7f };

const char *ptc_wait_name(enum ptc_wait_kind kind)
{
	static const char *const names[PTC_WAIT_COUNT] = {
		[PTC_WAIT_NONE] = "none",     [PTC_WAIT_CALL] = "call",
		[PTC_WAIT_MUTEX] = "mutex",   [PTC_WAIT_RWLOCK] = "rwlock",
		[PTC_WAIT_STREAM] = "stream", [PTC_WAIT_LOCK] = "lock",
		[PTC_WAIT_COND] = "cond",     [PTC_WAIT_SEM] = "semaphore",
		[PTC_WAIT_JOIN] = "join",     [PTC_WAIT_BARRIER] = "barrier",
		[PTC_WAIT_ONCE] = "once",     [PTC_WAIT_FUTEX] = "futex",
	};

	return kind < PTC_WAIT_COUNT ? names[kind] : "?";
}

/* --- by the names of functions --- */

/* Returns what a function of the C library waits for; FUTEX: the name does not tell. */
static enum ptc_wait_kind kind_of_name(const char *name)
{
	static const struct {
		const char *part;
		enum ptc_wait_kind kind;
	} known[] = {
		/* Parts of names: glibc has prefixes (__GI___) and suffixes (64, _full, @@GLIBC).
		 */
		{ "pthread_mutex_", PTC_WAIT_MUTEX },
		{ "mtx_lock", PTC_WAIT_MUTEX },
		{ "mtx_timedlock", PTC_WAIT_MUTEX },
		{ "pthread_rwlock_", PTC_WAIT_RWLOCK },
		{ "pthread_cond_", PTC_WAIT_COND },
		{ "cnd_wait", PTC_WAIT_COND },
		{ "cnd_timedwait", PTC_WAIT_COND },
		{ "new_sem_", PTC_WAIT_SEM },
		{ "sem_wait", PTC_WAIT_SEM },
		{ "sem_timedwait", PTC_WAIT_SEM },
		{ "sem_clockwait", PTC_WAIT_SEM },
		{ "pthread_join", PTC_WAIT_JOIN },
		{ "pthread_timedjoin", PTC_WAIT_JOIN },
		{ "pthread_clockjoin", PTC_WAIT_JOIN },
		{ "thrd_join", PTC_WAIT_JOIN },
		{ "pthread_barrier_wait", PTC_WAIT_BARRIER },
		{ "pthread_once", PTC_WAIT_ONCE },
		{ "call_once", PTC_WAIT_ONCE },
	};
	size_t i;

	for (i = 0; name && i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(name, known[i].part))
			return known[i].kind;
	return PTC_WAIT_FUTEX;
}

/* Functions of the C library between a lock and the system call. */
static bool is_low_level(const char *name)
{
	return !name || strstr(name, "lll_") || strstr(name, "futex") || strstr(name, "syscall") ||
	       strstr(name, "timedwait_cp") || strstr(name, "_wait_common") ||
	       strstr(name, "__timedwait");
}

enum ptc_wait_kind ptc_wait_kind_of(const char *const *names, size_t n)
{
	bool locks = false;
	size_t i;

	for (i = 0; i < n; i++) {
		const enum ptc_wait_kind kind = kind_of_name(names[i]);

		if (kind != PTC_WAIT_FUTEX)
			return kind;
		if (!is_low_level(names[i]))
			break;
		locks |= names[i] && strstr(names[i], "lll_");
	}
	return locks ? PTC_WAIT_LOCK : PTC_WAIT_FUTEX;
}

/* --- by the memory --- */

static bool read_word(const struct ptc_crash_state *d, uint64_t addr, uint32_t *ret)
{
	uint8_t bytes[4];

	if (ptc_crash_state_memory(d, addr, bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	*ret = ptc_le32(bytes);
	return true;
}

/* Returns the thread that has @own_tid in its own PID namespace; 0: none. */
static uint64_t thread_of(const struct ptc_crash_state *d, uint64_t own_tid)
{
	size_t i;

	for (i = 0; own_tid && i < d->nthreads; i++) {
		const struct ptc_crash_state_thread *t = &d->threads[i];

		if ((t->task.own_tid ? t->task.own_tid : t->state.tid) == own_tid)
			return t->state.tid;
	}
	return 0;
}

/* Returns the thread whose descriptor (pthread_self(3)) is at @addr; 0: none. */
static uint64_t thread_at(const struct ptc_crash_state *d, uint64_t addr)
{
	size_t i;

	for (i = 0; addr && i < d->nthreads; i++)
		if (d->threads[i].state.regs[PTC_REG_FS_BASE] == addr)
			return d->threads[i].state.tid;
	return 0;
}

static void set_owner(struct ptc_wait *w, const struct ptc_crash_state *d, uint64_t own_tid)
{
	const uint64_t tid = thread_of(d, own_tid);

	w->owner = tid ? tid : own_tid;
	w->owner_is_gone = own_tid && !tid;
}

static bool is_pi(const struct ptc_wait *w)
{
	const uint64_t op = w->args[1] & OP_MASK;

	return op == FUTEX_LOCK_PI || op == OP_LOCK_PI2;
}

/*
 * The futex is the lock of the mutex. Its owner is in a member of its own (glibc), or in the lock
 * itself: priority inheritance, robust mutexes, and musl.
 */
static void find_mutex_owner(struct ptc_wait *w, const struct ptc_crash_state *d)
{
	uint32_t lock, owner;

	if (!read_word(d, w->addr, &lock))
		return;
	lock &= FUTEX_TID_MASK;
	if (is_pi(w) || !read_word(d, w->addr + MUTEX_OWNER, &owner))
		owner = is_pi(w) ? lock : 0;
	if (!is_pi(w) && !thread_of(d, owner)) {
		if (lock > LOCK_VALUES && thread_of(d, lock)) {
			owner = lock;
			w->addr -= MUSL_LOCK;
		} else if (!lock || lock > LOCK_VALUES || owner > INT32_MAX) {
			owner = 0; /* not the ID of a thread that has ended */
		}
	}
	set_owner(w, d, owner);
}

/* Only a writer is known by name. Readers are only counted. */
static void find_writer(struct ptc_wait *w, const struct ptc_crash_state *d)
{
	static const uint64_t at[] = { RWLOCK_PHASE, RWLOCK_WRITERS };
	uint32_t writer;
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (!read_word(d, w->addr - at[i] + RWLOCK_WRITER, &writer) ||
		    !thread_of(d, writer))
			continue;
		set_owner(w, d, writer);
		w->addr -= at[i];
		return;
	}
}

/* A lock of a stdio stream has the address of its owner's descriptor. */
static bool find_stream_owner(struct ptc_wait *w, const struct ptc_crash_state *d)
{
	uint8_t bytes[8];
	uint32_t lock;

	if (!read_word(d, w->addr, &lock) || !lock || lock > LOCK_VALUES ||
	    ptc_crash_state_memory(d, w->addr + STREAM_OWNER, bytes, sizeof(bytes)) !=
		    sizeof(bytes))
		return false;
	w->owner = thread_at(d, ptc_le64(bytes));
	return w->owner != 0;
}

/*
 * pthread_join waits until the kernel clears the thread's ID, which is in the descriptor of the
 * thread. Returns false if there is no such ID.
 */
static bool find_joined(struct ptc_wait *w, const struct ptc_crash_state *d)
{
	uint32_t own_tid;
	size_t i;

	if (!read_word(d, w->addr, &own_tid) || !thread_of(d, own_tid))
		return false;
	for (i = 0; i < d->nthreads; i++) {
		const struct ptc_crash_thread *t = &d->threads[i].state;

		if (t->tid == thread_of(d, own_tid) &&
		    w->addr - t->regs[PTC_REG_FS_BASE] < DESCRIPTOR_SIZE) {
			set_owner(w, d, own_tid);
			return true;
		}
	}
	return false;
}

/* Does the memory look like a locked mutex of a thread of this process? */
static bool is_like_mutex(const struct ptc_wait *w, const struct ptc_crash_state *d)
{
	uint32_t lock, owner;

	return read_word(d, w->addr, &lock) && lock == LOCK_VALUES &&
	       read_word(d, w->addr + MUTEX_OWNER, &owner) && thread_of(d, owner);
}

/*
 * The names do not tell, for example because the C library has only its exported names. Its
 * internal functions then have none. @nameless: this is so.
 */
static void guess_kind(struct ptc_wait *w, const struct ptc_crash_state *d, bool nameless)
{
	if (find_stream_owner(w, d)) {
		w->kind = PTC_WAIT_STREAM;
	} else if (find_joined(w, d)) {
		w->kind = PTC_WAIT_JOIN;
	} else if (nameless && is_like_mutex(w, d)) {
		w->kind = PTC_WAIT_MUTEX;
		find_mutex_owner(w, d);
	}
}

static void find_owner(struct ptc_wait *w, const struct ptc_crash_state *d, bool nameless)
{
	switch (w->kind) {
	case PTC_WAIT_MUTEX:
		find_mutex_owner(w, d);
		break;
	case PTC_WAIT_RWLOCK:
		find_writer(w, d);
		break;
	case PTC_WAIT_JOIN:
		(void)find_joined(w, d);
		break;
	case PTC_WAIT_LOCK:
	case PTC_WAIT_FUTEX:
		guess_kind(w, d, nameless);
		break;
	default:
		break;
	}
}

/* Does the call wait for a futex? Other operations, such as FUTEX_WAKE, do not. */
static bool waits_for_futex(const struct ptc_wait *w)
{
	if (w->nr != SYS_futex)
		return false;
	switch (w->args[1] & OP_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case OP_LOCK_PI2:
		return true;
	default:
		return false;
	}
}

struct ptc_wait ptc_wait_find(const struct ptc_crash_state *d,
			      const struct ptc_crash_state_thread *t, uint64_t nr,
			      const char *const *names, size_t n)
{
	const uint64_t *r = t->state.regs;
	struct ptc_wait w = { .kind = PTC_WAIT_NONE, .nr = PTC_WAIT_NO_CALL };
	const uint64_t args[] = { r[PTC_REG_RDI], r[PTC_REG_RSI], r[PTC_REG_RDX],
				  r[PTC_REG_R10], r[PTC_REG_R8],  r[PTC_REG_R9] };

	if (!t->state.in_call)
		return w;
	w.kind = PTC_WAIT_CALL;
	w.nr = nr;
	memcpy(w.args, args, sizeof(w.args));
	if (!waits_for_futex(&w))
		return w;
	/* By the kernel's rules the futex of such a call has its owner. */
	w.kind = is_pi(&w) ? PTC_WAIT_MUTEX : ptc_wait_kind_of(names, n);
	w.addr = w.args[0];
	find_owner(&w, d, n && !names[0]);
	return w;
}

/* --- the number of the call --- */

uint64_t ptc_wait_loaded_call(const uint8_t *code, size_t len)
{
	enum { MOV_EAX = 0xb8, MOV_LEN = 5, CALLS = 1024 };
	size_t i;

	for (i = MOV_LEN; i <= len; i++) {
		const uint8_t *p = code + len - i;

		if (*p == MOV_EAX && ptc_le32(p + 1) < CALLS)
			return ptc_le32(p + 1);
	}
	return PTC_WAIT_NO_CALL;
}
