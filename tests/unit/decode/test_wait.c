/* SPDX-License-Identifier: MIT */
/* Description: what a thread waits for, and who holds the lock, are believed only if they fit. */
#include <criterion/criterion.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "decode/stacks/wait.h"

enum { LOCK = 0x1000, OWNER_AT = 8, WRITER_AT = 24, PHASE_AT = 8, SELF = 0x7000 };

static const char *const lock_frames[] = { NULL, "___pthread_mutex_lock", "work" };

Test(wait, functions_of_the_c_library_tell_the_kind)
{
	static const struct {
		const char *names[3];
		enum ptc_wait_kind kind;
	} table[] = {
		{ { "__lll_lock_wait", "pthread_mutex_lock", "f" }, PTC_WAIT_MUTEX },
		{ { NULL, "pthread_mutex_lock@@GLIBC_2.2.5", "f" }, PTC_WAIT_MUTEX },
		{ { "__lll_lock_wait", "__pthread_mutex_cond_lock", "pthread_cond_wait" },
		  PTC_WAIT_MUTEX },
		{ { "__futex_abstimed_wait_common", "pthread_cond_wait", "f" }, PTC_WAIT_COND },
		{ { "__futex_abstimed_wait_common", "__new_sem_wait_slow64.constprop.0", "f" },
		  PTC_WAIT_SEM },
		{ { "__futex_abstimed_wait_common", "__pthread_clockjoin_ex", "f" },
		  PTC_WAIT_JOIN },
		{ { "pthread_rwlock_rdlock", "f", NULL }, PTC_WAIT_RWLOCK },
		{ { "__lll_lock_wait_private", "_IO_fwrite", "f" }, PTC_WAIT_LOCK },
		{ { "syscall", "std::sys::futex_wait", "f" }, PTC_WAIT_FUTEX },
		/* The caller's own function has a name like one of the library. */
		{ { "runtime.futexsleep", "runtime.main", "my_pthread_join" }, PTC_WAIT_FUTEX },
		{ { NULL, NULL, NULL }, PTC_WAIT_FUTEX },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		cr_assert_eq(ptc_wait_kind_of(table[i].names, 3), table[i].kind, "row %zu", i);
	cr_assert_eq(ptc_wait_kind_of(NULL, 0), PTC_WAIT_FUTEX);
}

/* A process of three threads, and the memory at LOCK. */
struct made {
	uint8_t memory[64];
	struct ptc_crash_state_thread threads[3];
	struct ptc_crash_state_piece piece;
	struct ptc_crash_state state;
};

static void make(struct made *m, uint64_t nr, uint64_t addr, uint64_t op)
{
	size_t i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < 3; i++) {
		m->threads[i].state.tid = 100 + i;
		m->threads[i].state.regs[PTC_REG_FS_BASE] = SELF + i;
	}
	m->threads[0].state.in_call = 1;
	m->threads[0].state.regs[PTC_REG_ORIG_RAX] = nr;
	m->threads[0].state.regs[PTC_REG_RDI] = addr;
	m->threads[0].state.regs[PTC_REG_RSI] = op;
	m->piece = (struct ptc_crash_state_piece){
		.addr = LOCK, .bytes = ptc_cur_init(m->memory, sizeof(m->memory))
	};
	m->state = (struct ptc_crash_state){
		.threads = m->threads, .nthreads = 3, .pieces = &m->piece, .npieces = 1
	};
}

static void set_word(struct made *m, size_t at, uint32_t v)
{
	memcpy(m->memory + at, &v, sizeof(v));
}

static struct ptc_wait find(const struct made *m, const char *const *names, size_t n)
{
	return ptc_wait_find(&m->state, &m->threads[0], m->threads[0].state.regs[PTC_REG_ORIG_RAX],
			     names, n);
}

Test(wait, the_owner_of_a_mutex_is_a_thread_of_the_process)
{
	struct made m;
	struct ptc_wait w;

	make(&m, SYS_futex, LOCK, FUTEX_WAIT | FUTEX_PRIVATE_FLAG);
	set_word(&m, 0, 2);
	set_word(&m, OWNER_AT, 102);
	w = find(&m, lock_frames, 3);
	cr_assert(w.kind == PTC_WAIT_MUTEX && w.owner == 102 && !w.owner_is_gone && w.addr == LOCK);
	set_word(&m, OWNER_AT, 55);
	w = find(&m, lock_frames, 3);
	cr_assert(w.owner == 55 && w.owner_is_gone);
	set_word(&m, 0, 0); /* just unlocked */
	cr_assert_eq(find(&m, lock_frames, 3).owner, 0);
	m.state.npieces = 0;
	cr_assert_eq(find(&m, lock_frames, 3).owner, 0);
}

Test(wait, in_a_pid_namespace_the_owner_has_another_number)
{
	struct made m;

	make(&m, SYS_futex, LOCK, FUTEX_WAIT);
	m.threads[2].task.own_tid = 3;
	set_word(&m, 0, 2);
	set_word(&m, OWNER_AT, 3);
	cr_assert_eq(find(&m, lock_frames, 3).owner, 102);
	m.threads[2].task.own_tid = 2; /* not to be taken for the value of the lock */
	set_word(&m, OWNER_AT, 101);
	cr_assert_eq(find(&m, lock_frames, 3).owner, 101);
}

Test(wait, with_priority_inheritance_and_in_musl_the_lock_has_the_owner)
{
	struct made m;
	struct ptc_wait w;

	make(&m, SYS_futex, LOCK, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG);
	set_word(&m, 0, FUTEX_WAITERS | 101);
	w = find(&m, lock_frames, 3);
	cr_assert(w.owner == 101 && w.addr == LOCK);
	make(&m, SYS_futex, LOCK + 4, FUTEX_WAIT);
	set_word(&m, 4, FUTEX_WAITERS | 101);
	w = find(&m, lock_frames, 3);
	cr_assert(w.owner == 101 && w.addr == LOCK);
}

Test(wait, a_writer_holds_a_rwlock_and_a_thread_descriptor_a_stream)
{
	static const char *const rd[] = { "pthread_rwlock_rdlock" };
	static const char *const io[] = { "__lll_lock_wait_private", "_IO_fwrite" };
	const uint64_t self = SELF + 2;
	struct made m;
	struct ptc_wait w;

	make(&m, SYS_futex, LOCK + PHASE_AT, FUTEX_WAIT);
	cr_assert_eq(find(&m, rd, 1).owner, 0);
	set_word(&m, WRITER_AT, 101);
	w = find(&m, rd, 1);
	cr_assert(w.kind == PTC_WAIT_RWLOCK && w.owner == 101 && w.addr == LOCK);
	make(&m, SYS_futex, LOCK, FUTEX_WAIT);
	set_word(&m, 0, 2);
	cr_assert_eq(find(&m, io, 2).kind, PTC_WAIT_LOCK);
	memcpy(m.memory + OWNER_AT, &self, sizeof(self));
	w = find(&m, io, 2);
	cr_assert(w.kind == PTC_WAIT_STREAM && w.owner == 102);
}

Test(wait, without_names_the_memory_must_fit)
{
	static const char *const nameless[] = { NULL, NULL, "work" };
	static const char *const named[] = { "futex_of_another_runtime", "work" };
	struct made m;
	struct ptc_wait w;

	make(&m, SYS_futex, LOCK, FUTEX_WAIT);
	cr_assert_eq(find(&m, nameless, 3).kind, PTC_WAIT_FUTEX);
	set_word(&m, 0, 2);
	set_word(&m, OWNER_AT, 102);
	w = find(&m, nameless, 3);
	cr_assert(w.kind == PTC_WAIT_MUTEX && w.owner == 102);
	cr_assert_eq(find(&m, named, 2).kind, PTC_WAIT_FUTEX);
	make(&m, SYS_futex, LOCK, FUTEX_LOCK_PI);
	set_word(&m, 0, FUTEX_WAITERS | 101);
	w = find(&m, nameless, 3);
	cr_assert(w.kind == PTC_WAIT_MUTEX && w.owner == 101);
	make(&m, SYS_futex, LOCK, FUTEX_WAIT); /* the ID in the descriptor of thread 102 */
	set_word(&m, 0, 102);
	cr_assert_eq(find(&m, nameless, 3).kind, PTC_WAIT_FUTEX);
	m.threads[2].state.regs[PTC_REG_FS_BASE] = LOCK - 0x2d0;
	w = find(&m, nameless, 3);
	cr_assert(w.kind == PTC_WAIT_JOIN && w.owner == 102);
}

Test(wait, other_calls_and_other_operations_are_no_lock)
{
	struct made m;

	make(&m, SYS_read, 0, 0);
	cr_assert_eq(find(&m, lock_frames, 3).kind, PTC_WAIT_CALL);
	make(&m, SYS_futex, LOCK, FUTEX_WAKE);
	cr_assert_eq(find(&m, lock_frames, 3).kind, PTC_WAIT_CALL);
	m.threads[0].state.in_call = 0;
	cr_assert_eq(find(&m, lock_frames, 3).kind, PTC_WAIT_NONE);
	cr_assert_eq(find(&m, lock_frames, 3).nr, PTC_WAIT_NO_CALL);
}

Test(wait, the_number_of_a_restarted_call_is_in_the_code_before_it)
{
	static const uint8_t code[] = { 0xb8, 0x01, 0, 0, 0, 0x90, 0xb8, 0xe6, 0, 0, 0 };
	size_t n;

	cr_assert_eq(ptc_wait_loaded_call(code, sizeof(code)), 0xe6);
	cr_assert_eq(ptc_wait_loaded_call(code, 6), 1);
	for (n = 0; n < 5; n++)
		cr_assert_eq(ptc_wait_loaded_call(code, n), PTC_WAIT_NO_CALL);
}

Test(wait, each_kind_has_a_name)
{
	int i;

	for (i = 0; i < PTC_WAIT_COUNT; i++)
		cr_assert(strcmp(ptc_wait_name((enum ptc_wait_kind)i), "?"), "%d", i);
	cr_assert_str_eq(ptc_wait_name(PTC_WAIT_COUNT), "?");
}
