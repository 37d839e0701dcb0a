/* SPDX-License-Identifier: MIT */
/* Description: the state of a dead process is that of the last process, or of the requested one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/crash_record.h"
#include "decode/crash/crash_state.h"
#include "lib_perfdata.h"

static void put_signal(struct ptc_buf *b, uint64_t pid, uint64_t signo)
{
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL };

	c.u.signal.pid = c.u.signal.tid = pid;
	c.u.signal.signo = signo;
	ptc_crash_put(b, &c);
}

static void put_thread(struct ptc_buf *b, uint64_t pid, uint64_t tid, const char *name)
{
	struct ptc_crash c = { .kind = PTC_CRASH_THREAD,
			       .bytes = ptc_cur_init(name, strlen(name)) };

	c.u.thread.pid = pid;
	c.u.thread.tid = tid;
	ptc_crash_put(b, &c);
}

static void put_map(struct ptc_buf *b, uint64_t start, uint64_t end, const char *name)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MAP, .bytes = ptc_cur_init(name, strlen(name)) };

	c.u.map.start = start;
	c.u.map.end = end;
	ptc_crash_put(b, &c);
}

static void put_memory(struct ptc_buf *b, uint64_t addr, const char *bytes)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MEMORY,
			       .bytes = ptc_cur_init(bytes, strlen(bytes)) };

	c.u.memory.addr = addr;
	ptc_crash_put(b, &c);
}

/* Adds the state of process 1, then that of process 2. */
static void put_two(struct ptc_buf *b)
{
	put_signal(b, 1, 11);
	put_thread(b, 1, 1, "first");
	put_map(b, 0x1000, 0x2000, "/one");
	put_signal(b, 2, 6);
	put_thread(b, 2, 3, "a name that is longer than names are");
	put_thread(b, 2, 2, "second");
	put_map(b, 0x1000, 0x2000, "/two");
	put_map(b, 0x4000, 0x5000, "");
	put_memory(b, 0x100, "abcd");
	put_memory(b, 0x104, "efgh");
}

/* Adds the states of processes 5 and 6, which live on, and process 5 a second time. */
static void put_two_live(struct ptc_buf *b)
{
	put_signal(b, 5, 0);
	put_thread(b, 5, 5, "earlier");
	put_signal(b, 6, 0);
	put_thread(b, 6, 6, "other");
	put_signal(b, 5, 0);
	put_thread(b, 5, 5, "later");
}

static void put_one_live(struct ptc_buf *b)
{
	put_signal(b, 5, 0);
	put_thread(b, 5, 5, "only");
}

static void put_live_and_killed(struct ptc_buf *b)
{
	put_two_live(b);
	put_two(b);
	put_two_live(b);
}

/* A recording that has the records of @put among others. */
struct made {
	uint8_t *bytes; /* owned */
	struct ptc_file *f;
	struct ptc_crash_state dead;
};

static struct made make(void (*put)(struct ptc_buf *b))
{
	struct made m = { .bytes = NULL };
	struct ptc_err err;
	struct pd p;
	size_t len;

	pd_init(&p);
	pd_init_pt(&p, NULL);
	if (put)
		put(&p.data);
	pd_comm(&p, 1, 1, "x", false);
	m.bytes = pd_finish(&p, &len);
	pd_release(&p);
	cr_assert_eq(ptc_file_open_bytes(m.bytes, len, "x", &m.f, &err), 0, "%s", err.msg);
	return m;
}

static void release(struct made *m)
{
	ptc_crash_state_release(&m->dead);
	ptc_file_free(m->f);
	free(m->bytes);
}

static int read_of(struct made *m, uint64_t pid)
{
	struct ptc_err err;

	ptc_crash_state_release(&m->dead);
	return ptc_crash_state_read(&m->dead, m->f, pid, &err);
}

Test(crash_state, the_last_state_counts_or_that_of_the_process)
{
	struct made m = make(put_two);
	const struct ptc_crash_state *d = &m.dead;

	cr_assert_eq(read_of(&m, 0), 0);
	cr_assert(d->states == 2 && d->signal.pid == 2 && d->nthreads == 2 && d->nmaps == 2);
	cr_assert_str_eq(ptc_crash_state_victim(d)->name, "second");
	cr_assert_eq(strlen(d->threads[0].name), sizeof(d->threads[0].name) - 1);
	cr_assert_str_eq(ptc_crash_state_map_at(d, 0x1fff)->name, "/two");
	cr_assert_null(ptc_crash_state_map_at(d, 0x2000));
	cr_assert_eq(ptc_crash_state_map_above(d, 0x2000), &d->maps[1]);
	cr_assert_null(ptc_crash_state_map_above(d, 0x4000));
	cr_assert_eq(read_of(&m, 1), 0);
	cr_assert(d->signal.signo == 11 && d->nmaps == 1 && !d->npieces);
	cr_assert_eq(read_of(&m, 3), PTC_E_NOT_EXIST);
	release(&m);
}

Test(crash_state, memory_is_read_across_pieces_up_to_a_hole)
{
	struct made m = make(put_two);
	uint8_t got[16];

	cr_assert_eq(read_of(&m, 0), 0);
	cr_assert_eq(ptc_crash_state_memory(&m.dead, 0x102, got, 4), 4);
	cr_assert_eq(memcmp(got, "cdef", 4), 0);
	cr_assert_eq(ptc_crash_state_memory(&m.dead, 0x106, got, 16), 2);
	cr_assert_eq(ptc_crash_state_memory(&m.dead, 0xff, got, 4), 0);
	cr_assert_eq(ptc_crash_state_memory(&m.dead, UINT64_MAX, got, 4), 0);
	cr_assert_eq(ptc_crash_state_memory(&m.dead, 0x100, got, 0), 0);
	release(&m);
}

Test(crash_state, without_a_state_it_is_said_so)
{
	struct made m = make(NULL);
	struct ptc_err err;

	cr_assert_eq(ptc_crash_state_read(&m.dead, m.f, 0, &err), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "ptcap crash"));
	release(&m);
}

static void put_damaged(struct ptc_buf *b)
{
	const size_t at = b->len;

	put_two(b);
	b->bytes[at + 8 + 8 + 64 + 8 + 7] = 0xff; /* the byte count of the first record */
}

Test(crash_state, a_damaged_state_is_an_error_with_its_place)
{
	struct made m = make(put_damaged);
	struct ptc_err err;

	cr_assert_eq(ptc_crash_state_read(&m.dead, m.f, 0, &err), PTC_E_FORMAT);
	cr_assert(strstr(err.msg, "crash"), "%s", err.msg);
	release(&m);
}

enum { PYTHONS = 20 };

/* Adds messages of runtimes, and of Python's threads. */
static void put_messages(struct ptc_buf *b)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MESSAGE };
	uint64_t i;

	put_signal(b, 2, 6);
	for (i = 0; i < PYTHONS; i++) {
		c.u.message = (struct ptc_crash_message){ 2, i, PTC_CRASH_ABORT_MSG, i };
		ptc_crash_put(b, &c);
		c.u.message.what = PTC_CRASH_PYTHON_3_11 + i % 3;
		ptc_crash_put(b, &c);
	}
	c.u.message.what = PTC_CRASH_PYTHON_RUNTIME;
	ptc_crash_put(b, &c);
}

Test(crash_state, threads_of_python_are_no_messages)
{
	struct made m = make(put_messages);
	const struct ptc_crash_state *d = &m.dead;
	struct ptc_crash_message more;
	size_t i;

	cr_assert_eq(read_of(&m, 0), 0);
	cr_assert_eq(d->nmessages, PTC_CRASH_STATE_MESSAGES);
	cr_assert(d->npython == PYTHONS && d->python_runtime == PYTHONS - 1);
	for (i = 0; i < PYTHONS; i++)
		cr_assert(d->python[i].tid == i &&
			  d->python[i].what == PTC_CRASH_PYTHON_3_11 + i % 3);
	more = d->python[0];
	for (i = 0; i < (size_t)2 * PTC_CRASH_STATE_PYTHON; i++)
		cr_assert(ptc_crash_state_add_message(&m.dead, &more));
	cr_assert_eq(d->npython, PTC_CRASH_STATE_PYTHON);
	release(&m);
}

/* Adds a process that lives on, behind two that were killed. */
static void put_live(struct ptc_buf *b)
{
	struct ptc_crash c = { .kind = PTC_CRASH_LIVE };

	put_two(b);
	put_signal(b, 2, 0);
	c.u.live.pid = 2;
	c.u.live.stopped_ns = 5;
	ptc_crash_put(b, &c);
	put_thread(b, 2, 9, "third");
	c = (struct ptc_crash){ .kind = PTC_CRASH_TASK, .bytes = ptc_cur_init("/tty", 4) };
	c.u.task.pid = 2;
	c.u.task.tid = 9;
	c.u.task.own_tid = 7;
	ptc_crash_put(b, &c);
	c.u.task.tid = 10; /* of no thread */
	ptc_crash_put(b, &c);
}

Test(crash_state, a_live_process_is_no_crash)
{
	struct made m = make(put_live);
	struct ptc_crash_pids pids;
	struct ptc_err err;

	cr_assert_eq(read_of(&m, 0), 0);
	cr_assert(m.dead.signal.signo == 6 && m.dead.states == 2);
	ptc_crash_state_release(&m.dead);
	cr_assert_eq(ptc_crash_state_pids(m.f, &pids, &err), 0);
	cr_assert(pids.n == 2 && pids.pids[0] == 1 && pids.pids[1] == 2 && !pids.left_out);
	cr_assert_eq(ptc_crash_state_read_any(&m.dead, m.f, 2, &err), 0);
	cr_assert(m.dead.signal.signo == 0 && m.dead.nthreads == 1 && !m.dead.nmaps);
	cr_assert(m.dead.live.stopped_ns == 5 && m.dead.threads[0].task.own_tid == 7);
	cr_assert_eq(ptc_cur_left(&m.dead.threads[0].file), 4);
	ptc_crash_state_release(&m.dead);
	cr_assert_eq(ptc_crash_state_read_any(&m.dead, m.f, 1, &err), 0);
	cr_assert(m.dead.signal.signo == 11 && !m.dead.live.pid && !m.dead.threads[0].task.tid);
	ptc_crash_state_release(&m.dead);
	cr_assert_eq(ptc_crash_state_read_any(&m.dead, m.f, 3, &err), PTC_E_NOT_EXIST);
	release(&m);
}

static int read_killed_or_live(struct made *m, uint64_t pid, struct ptc_err *err)
{
	ptc_crash_state_release(&m->dead);
	return ptc_crash_state_read_killed_or_live(&m->dead, m->f, pid, err);
}

Test(crash_state, a_death_counts_before_the_state_of_a_live_process)
{
	struct made m = make(put_live_and_killed);
	struct ptc_err err;

	cr_assert_eq(read_killed_or_live(&m, 0, &err), 0);
	cr_assert(m.dead.signal.pid == 2 && m.dead.nthreads == 2);
	cr_assert_eq(read_killed_or_live(&m, 1, &err), 0);
	cr_assert_eq(m.dead.signal.signo, 11);
	cr_assert_eq(read_killed_or_live(&m, 5, &err), 0);
	cr_assert_str_eq(m.dead.threads[0].name, "later");
	release(&m);
}

Test(crash_state, the_only_live_process_needs_no_choice)
{
	struct made one = make(put_one_live), several = make(put_two_live), none = make(NULL);
	struct ptc_err err;

	cr_assert_eq(read_killed_or_live(&one, 0, &err), 0);
	cr_assert_str_eq(one.dead.threads[0].name, "only");
	cr_assert_eq(read_killed_or_live(&one, 6, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "no state of process 6, but of process 5"));
	cr_assert_eq(read_killed_or_live(&several, 6, &err), 0);
	cr_assert_str_eq(several.dead.threads[0].name, "other");
	cr_assert_eq(read_killed_or_live(&several, 0, &err), PTC_E_USAGE);
	cr_assert_not_null(strstr(err.msg, "processes: 5, 6; choose"), "%s", err.msg);
	cr_assert_eq(read_killed_or_live(&none, 0, &err), PTC_E_NOT_EXIST);
	cr_assert_not_null(strstr(err.msg, "ptcap stacks"), "%s", err.msg);
	release(&one);
	release(&several);
	release(&none);
}

Test(crash_state, an_opened_state_lends_its_threads_and_mappings)
{
	struct made m = make(put_two);
	const struct ptc_crash_state_thread *t;
	struct ptc_crash_state *d = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_crash_state_open(m.f, 3, &d, &err), PTC_E_NOT_EXIST);
	cr_assert_null(d);
	cr_assert_eq(ptc_crash_state_open(m.f, 2, &d, &err), 0);
	cr_assert(ptc_crash_state_signal(d)->pid == 2 && !ptc_crash_state_live(d));
	t = ptc_crash_state_get_thread(d, ptc_crash_state_threads(d) - 1);
	cr_assert_eq(t, ptc_crash_state_victim(d));
	cr_assert_str_eq(ptc_crash_state_thread_name(t), "second");
	cr_assert_eq(ptc_crash_state_registers(t)->tid, ptc_crash_state_signal(d)->tid);
	cr_assert(ptc_crash_state_threads(d) == 2 && !ptc_crash_state_get_thread(d, 2));
	cr_assert(ptc_crash_state_maps(d) == 2 && !ptc_crash_state_get_map(d, 2));
	cr_assert_eq(ptc_crash_state_map_range(ptc_crash_state_get_map(d, 0))->end, 0x2000);
	cr_assert_str_eq(ptc_crash_state_map_name(ptc_crash_state_get_map(d, 0)), "/two");
	ptc_crash_state_free(d);
	ptc_crash_state_free(NULL);
	release(&m);
}

static void put_many_live(struct ptc_buf *b)
{
	uint64_t pid;

	for (pid = UINT64_MAX - 300; pid < UINT64_MAX; pid++)
		put_signal(b, pid, 0);
}

Test(crash_state, a_message_names_the_first_of_many_processes)
{
	struct made m = make(put_many_live);
	struct ptc_err err;

	cr_assert_eq(read_killed_or_live(&m, 0, &err), PTC_E_USAGE);
	cr_assert_not_null(strstr(err.msg, "320 and 294 more; choose one with --pid"), "%s",
			   err.msg);
	release(&m);
}

static void put_many_deaths(struct ptc_buf *b)
{
	uint64_t pid;

	for (pid = 1; pid <= PTC_CRASH_DEATHS_MAX + 2; pid++) {
		put_signal(b, pid, 11);
		put_signal(b, pid, 0);
	}
}

Test(crash_state, the_newest_deaths_are_listed)
{
	struct made m = make(put_many_deaths), two = make(put_two);
	struct ptc_crash_deaths d;
	struct ptc_err err;

	cr_assert_eq(ptc_crash_state_deaths(m.f, &d, &err), 0);
	cr_assert(d.n == PTC_CRASH_DEATHS_MAX && d.left_out == 2);
	cr_assert(d.items[0].pid == 3 && d.items[d.n - 1].pid == PTC_CRASH_DEATHS_MAX + 2);
	cr_assert_eq(ptc_crash_state_deaths(two.f, &d, &err), 0);
	cr_assert(d.n == 2 && !d.left_out && d.items[1].signo == 6);
	release(&m);
	release(&two);
}
