/* SPDX-License-Identifier: MIT */
/*
 * Description: compacted sideband records lead to the same state as the records themselves, for
 * each unit of memory. The compacted size depends on the state, not on the number of changes.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/sideband.h"
#include "capture/snapshot/state_compactor.h"
#include "fewer.h"

#define TYPE                                                                                       \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_IDENTIFIER)
#define BASE UINT64_C(0x400000)

enum { PIDS = 5, TIDS = 4, UNITS = 48, UNIT = 16, FILES = 6, CPUS = 3, ID = 77 };

/* A unit of memory: its file, its offset in the file, and its last change. */
struct unit {
	char name[8];
	uint64_t off;
	uint8_t poke; /* 0: same as in the file */
};

struct process {
	bool has[TIDS];
	char comm[TIDS][16];
	struct unit units[UNITS];
};

/* The reference model: kept simple on purpose. */
struct model {
	struct process p[PIDS];
	int32_t runs[CPUS];
};

static int32_t pid_of(unsigned int p)
{
	return (int32_t)(1000 + 10 * p);
}

static struct process *process(struct model *m, int32_t pid)
{
	return &m->p[(pid - 1000) / 10];
}

static void forget_memory(struct process *p)
{
	memset(p->units, 0, sizeof(p->units));
}

static void apply_fork(struct model *m, const struct ptc_sb *sb)
{
	const struct ptc_sb_task *t = &sb->u.task;
	struct process *p = process(m, t->pid), *parent = process(m, t->ppid);

	if (t->pid != t->ppid && sb->id.time) {
		memset(p, 0, sizeof(*p));
		memcpy(p->units, parent->units, sizeof(p->units));
	}
	p->has[t->tid % 10] = true;
	memcpy(p->comm[t->tid % 10], parent->comm[t->ptid % 10], 16);
}

static void apply_mmap(struct model *m, const struct ptc_sb_mmap *r)
{
	struct process *p = process(m, r->pid);
	uint64_t at;

	p->has[r->tid % 10] = true;
	for (at = 0; at < r->len; at += UNIT) {
		struct unit *u = &p->units[(r->addr + at - BASE) / UNIT];

		memset(u, 0, sizeof(*u));
		if (!(r->prot & PROT_EXEC))
			continue;
		(void)snprintf(u->name, sizeof(u->name), "%s", r->filename);
		u->off = r->pgoff + at;
	}
}

static void apply(struct model *m, const struct ptc_sb *sb)
{
	const struct ptc_cur *c = &sb->u.poke.new_bytes;
	struct process *p;
	size_t at;

	switch (sb->type) {
	case PERF_RECORD_COMM:
		p = process(m, sb->u.comm.pid);
		if (sb->misc & PERF_RECORD_MISC_COMM_EXEC)
			memset(p, 0, sizeof(*p));
		p->has[sb->u.comm.tid % 10] = true;
		memset(p->comm[sb->u.comm.tid % 10], 0, 16);
		memcpy(p->comm[sb->u.comm.tid % 10], sb->u.comm.comm, strlen(sb->u.comm.comm));
		break;
	case PERF_RECORD_FORK:
		apply_fork(m, sb);
		break;
	case PERF_RECORD_EXIT:
		p = process(m, sb->u.task.pid);
		p->has[sb->u.task.tid % 10] = false;
		memset(p->comm[sb->u.task.tid % 10], 0, 16);
		if (!p->has[0] && !p->has[1] && !p->has[2] && !p->has[3])
			forget_memory(p);
		break;
	case PERF_RECORD_MMAP2:
		apply_mmap(m, &sb->u.mmap);
		break;
	case PERF_RECORD_TEXT_POKE:
		p = process(m, sb->id.pid);
		for (at = 0; at < ptc_cur_left(c); at += UNIT)
			p->units[(sb->u.poke.addr + at - BASE) / UNIT].poke = c->pos[at];
		break;
	case PERF_RECORD_SWITCH:
		m->runs[sb->id.cpu] = sb->id.tid;
		break;
	default:
		cr_assert_fail("nobody makes such a record");
	}
}

/* --- random records --- */

static uint32_t rnd(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static void make_range(uint64_t *seed, uint64_t *ret_addr, uint64_t *ret_len)
{
	const uint32_t at = rnd(seed, UNITS), n = 1 + rnd(seed, rnd(seed, 3) ? 6 : UNITS);

	*ret_addr = BASE + (uint64_t)at * UNIT;
	*ret_len = (uint64_t)(n < UNITS - at ? n : UNITS - at) * UNIT;
}

/* Makes a record of a random thread of a random process; the record borrows @name and @bytes. */
static void make(struct ptc_sb *sb, uint64_t *seed, char *name, uint8_t *bytes)
{
	const int32_t pid = pid_of(rnd(seed, PIDS)), tid = pid + (int32_t)rnd(seed, TIDS);
	const int32_t other = pid_of(rnd(seed, PIDS));
	uint64_t len, i;

	sb->id.pid = pid;
	sb->id.tid = tid;
	sb->id.cpu = rnd(seed, CPUS);
	switch (rnd(seed, 16)) {
	case 0:
		sb->type = PERF_RECORD_FORK;
		sb->u.task.pid = pid;
		sb->u.task.tid = pid;
		sb->u.task.ppid = other;
		sb->u.task.ptid = other;
		break;
	case 1:
		sb->type = PERF_RECORD_FORK;
		sb->u.task.pid = sb->u.task.ppid = pid;
		sb->u.task.tid = tid;
		sb->u.task.ptid = pid;
		break;
	case 2:
	case 3:
		sb->type = PERF_RECORD_EXIT;
		sb->u.task.pid = sb->u.task.ppid = pid;
		sb->u.task.tid = tid;
		break;
	case 4:
	case 5:
		sb->type = PERF_RECORD_COMM;
		sb->misc = rnd(seed, 4) ? 0 : PERF_RECORD_MISC_COMM_EXEC;
		sb->u.comm.pid = pid;
		sb->u.comm.tid = sb->misc ? pid : tid;
		sb->u.comm.comm = name;
		(void)snprintf(name, 16, "name%u", rnd(seed, 1000));
		break;
	case 6:
	case 7:
		sb->type = PERF_RECORD_SWITCH;
		sb->u.sw.next_prev_pid = sb->u.sw.next_prev_tid = -1;
		break;
	case 8:
	case 9:
		sb->type = PERF_RECORD_TEXT_POKE;
		sb->misc = PERF_RECORD_MISC_USER;
		make_range(seed, &sb->u.poke.addr, &len);
		for (i = 0; i < len; i++)
			bytes[i] = (uint8_t)(1 + (i / UNIT + rnd(seed, 200)) % 250);
		sb->u.poke.new_bytes = ptc_cur_init(bytes, len);
		break;
	default:
		sb->type = PERF_RECORD_MMAP2;
		sb->misc = PERF_RECORD_MISC_USER;
		make_range(seed, &sb->u.mmap.addr, &sb->u.mmap.len);
		sb->u.mmap.pid = pid;
		sb->u.mmap.tid = tid;
		sb->u.mmap.prot = PROT_READ | (rnd(seed, 5) ? PROT_EXEC : 0u);
		sb->u.mmap.pgoff = (uint64_t)rnd(seed, 100) * UNIT;
		sb->u.mmap.filename = name;
		(void)snprintf(name, 16, "/f%u", rnd(seed, FILES));
	}
}

/*
 * Returns true if the record is possible: only existing threads act, and no thread is created
 * twice.
 */
static bool can_be(struct model *m, const struct ptc_sb *sb)
{
	const struct process *p = process(m, sb->id.pid);
	const bool any = p->has[0] || p->has[1] || p->has[2] || p->has[3];
	const bool itself = p->has[sb->id.tid % 10];

	if (sb->type == PERF_RECORD_FORK && sb->u.task.pid == sb->u.task.ppid)
		return p->has[0] && !itself;
	if (sb->type == PERF_RECORD_FORK)
		return !any && process(m, sb->u.task.ppid)->has[0];
	if (sb->type == PERF_RECORD_COMM && sb->misc & PERF_RECORD_MISC_COMM_EXEC)
		return any;
	return itself || sb->type == PERF_RECORD_SWITCH;
}

static bool same_units(const struct unit *a, const struct unit *b)
{
	size_t i;

	for (i = 0; i < UNITS; i++)
		if (strcmp(a[i].name, b[i].name) != 0 || a[i].off != b[i].off ||
		    a[i].poke != b[i].poke)
			return false;
	return true;
}

static bool is_same(const struct model *a, const struct model *b)
{
	size_t p, t;

	for (p = 0; p < PIDS; p++) {
		if (!same_units(a->p[p].units, b->p[p].units))
			return false;
		for (t = 0; t < TIDS; t++)
			if (a->p[p].has[t] != b->p[p].has[t] ||
			    strcmp(a->p[p].comm[t], b->p[p].comm[t]) != 0)
				return false;
	}
	return !memcmp(a->runs, b->runs, sizeof(a->runs));
}

/*
 * Applies the compacted records to @m. A main thread without a name has no record: its mappings
 * show that it exists.
 */
static void tell(const struct ptc_fold *f, struct model *m)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_sb sb;
	struct ptc_cur c;

	cr_assert_eq(ptc_fold_put(f, &b, &err), 0);
	c = ptc_cur_init(b.bytes, b.len);
	while (ptc_cur_left(&c)) {
		cr_assert_eq(ptc_rec_next(&c, 0, &rec, &err), 1);
		cr_assert_eq(ptc_sb_parse(&rec, TYPE, &sb, &err), 1, "%s", err.msg);
		cr_assert_eq(sb.id.time, 0);
		apply(m, &sb);
	}
	ptc_buf_release(&b);
}

/*
 * A process's mappings are recorded for the process, whichever thread made them. Takes over such
 * main threads.
 */
static void take_main_threads(struct model *to, const struct model *from)
{
	size_t p;

	for (p = 0; p < PIDS; p++) {
		if (to->p[p].has[0] == from->p[p].has[0])
			continue;
		cr_assert(!from->p[p].comm[0][0] && !to->p[p].comm[0][0]);
		to->p[p].has[0] = from->p[p].has[0];
	}
}

static void one_life(uint64_t seed, unsigned int steps)
{
	static uint8_t bytes[UNITS * UNIT];
	struct ptc_fold *f = ptc_fold_new(TYPE, ID);
	struct model truth = { .p[0].has[0] = true, .p[0].comm[0] = "first" };
	const struct ptc_sb first = { .type = PERF_RECORD_COMM,
				      .u.comm = { pid_of(0), pid_of(0), "first" } };
	struct ptc_err ignored;
	unsigned int i;
	char name[16];

	cr_assert_not_null(f);
	cr_assert_eq(ptc_fold_take(f, &first, &ignored), 0);
	for (i = 1; i <= steps; i++) {
		struct ptc_sb sb = { .id = { .has = TYPE, .time = i, .id = ID } };
		struct model told = { .runs = { 0 } };
		struct ptc_err err;

		make(&sb, &seed, name, bytes);
		if (!can_be(&truth, &sb))
			continue;
		apply(&truth, &sb);
		cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
		if (rnd(&seed, 8))
			continue;
		tell(f, &told);
		take_main_threads(&told, &truth);
		cr_assert(is_same(&truth, &told), "after %u records", i);
	}
	ptc_fold_free(f);
}

Test(state_compactor, leads_to_the_same_state)
{
	uint64_t life;

	for (life = 1; life <= 60; life++)
		one_life(life * 0x9e3779b97f4a7c15, 600);
}

static void put_mmap(struct ptc_fold *f, uint64_t i, uint64_t addr, uint64_t len)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER };
	struct ptc_err err;
	char name[32];

	(void)snprintf(name, sizeof(name), "/tmp/code.%lu", i);
	sb.id.time = i;
	sb.u.mmap = (struct ptc_sb_mmap){ .pid = 1000,
					  .tid = 1000,
					  .addr = addr,
					  .len = len,
					  .prot = PROT_READ | PROT_EXEC,
					  .filename = name };
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
}

/* munmap has no record: only a later mapping at the same address shows that the old one is gone. */
Test(state_compactor, memory_is_flat_however_often_code_is_mapped)
{
	struct ptc_fold *f = ptc_fold_new(TYPE, ID);
	const uint64_t rounds = FEWER(1000000, 200000);
	struct ptc_fold_size size;
	size_t before = 0;
	uint64_t i;

	for (i = 0; i < rounds; i++) {
		put_mmap(f, i, BASE + i % 7 * 4096, 4096 * (1 + i % 3));
		if (i == 1000)
			before = mallinfo2().uordblks;
	}
	ptc_fold_size(f, &size);
	cr_assert_leq(size.pieces, 9);
	cr_assert_leq(mallinfo2().uordblks, before + 4096, "%zu bytes, %zu before",
		      mallinfo2().uordblks, before);
	ptc_fold_free(f);
}

/*
 * Each bit of @mapped says whether a unit of memory has code. Compares the state up to @until with
 * it.
 */
static void look_at(struct ptc_fold *f, uint64_t mapped, uint64_t until)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	char text[64 * 64];
	struct ptc_err err;
	size_t at = 0;
	uint64_t i;

	for (i = 0; i < UNITS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "%lx-%lx r%cxp 00000000 00:00 0\n", BASE + i * UNIT,
				       BASE + (i + 1) * UNIT, mapped >> i & 1 ? '-' : 'w');
	for (i = 0; i < at; i++)
		if (text[i] == 'w')
			text[i + 1] = '-';
	cr_assert_eq(ptc_maps_parse(&maps, text, at, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_fold_look(f, pid_of(0), &maps, until, &err), 0);
	ptc_maps_release(&maps);
}

Test(state_compactor, a_look_leaves_what_is_mapped_and_what_is_newer)
{
	uint64_t life, seed = 5;

	for (life = 0; life < 500; life++) {
		struct ptc_fold *f = ptc_fold_new(TYPE, ID);
		struct model truth = { .p[0].has[0] = true }, told = { .p[0].has[0] = true };
		uint64_t said[UNITS] = { 0 }, at, i;
		const uint64_t until = rnd(&seed, 13);
		const uint64_t mapped = (uint64_t)rnd(&seed, UINT32_MAX) << 20 ^
					rnd(&seed, UINT32_MAX);

		for (i = 1; i <= 12; i++) {
			static uint8_t bytes[UNITS * UNIT];
			struct ptc_sb sb = { .id = { .has = TYPE, .time = i, .pid = pid_of(0) } };
			uint64_t addr, len;
			struct ptc_err err;

			make_range(&seed, &addr, &len);
			if (i % 3) {
				sb.type = PERF_RECORD_MMAP2;
				sb.u.mmap = (struct ptc_sb_mmap){ .pid = pid_of(0),
								  .tid = pid_of(0),
								  .addr = addr,
								  .len = len,
								  .pgoff = i << 12,
								  .prot = PROT_EXEC,
								  .filename = "/f" };
			} else {
				sb.type = PERF_RECORD_TEXT_POKE;
				sb.misc = PERF_RECORD_MISC_USER;
				memset(bytes, (int)i, len);
				sb.u.poke.addr = addr;
				sb.u.poke.new_bytes = ptc_cur_init(bytes, len);
			}
			apply(&truth, &sb);
			cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
			/* A unit has a mapping and a change, each with its time. */
			for (at = 0; at < len; at += UNIT) {
				const size_t u = (addr + at - BASE) / UNIT;

				said[u] = i % 3 ? i | i << 32 : i << 32 | (uint32_t)said[u];
			}
		}
		look_at(f, mapped, until);
		for (i = 0; i < UNITS; i++) {
			struct unit *u = &truth.p[0].units[i];

			if (!(mapped >> i & 1) && said[i] >> 32 <= until)
				u->poke = 0;
			if (!(mapped >> i & 1) && (uint32_t)said[i] <= until) {
				u->name[0] = '\0';
				u->off = 0;
			}
		}
		tell(f, &told);
		cr_assert(same_units(truth.p[0].units, told.p[0].units), "life %lu", life);
		ptc_fold_free(f);
	}
}

Test(state_compactor, asks_for_a_look_when_it_is_worth_one)
{
	struct ptc_fold *f = ptc_fold_new(TYPE, ID);
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_fold_size size;
	uint64_t i, looks = 0;
	struct ptc_err err;
	int32_t pid = 0;

	for (i = 1; i <= FEWER(1000000, 250000); i++) {
		put_mmap(f, i, BASE + i * 8192, 4096);
		if (!ptc_fold_wants_look(f, &pid))
			continue;
		looks++;
		cr_assert_eq(pid, 1000);
		cr_assert(!ptc_fold_wants_look(f, &pid), "asked twice");
		cr_assert_eq(ptc_fold_look(f, pid, &maps, i, &err), 0);
	}
	ptc_fold_size(f, &size);
	cr_assert_leq(size.pieces, 4096);
	cr_assert(looks > FEWER(100, 25) && looks < FEWER(300, 75), "%lu looks", looks);
	for (i = 1; i < 100000; i++) /* no effect: the next look comes after twice as many */
		put_mmap(f, i, BASE + i * 8192, 4096);
	for (looks = 0; ptc_fold_wants_look(f, &pid); looks++)
		;
	cr_assert_eq(looks, 1);
	ptc_fold_free(f);
}

Test(state_compactor, symbols_and_programs_are_forgotten_when_they_go)
{
	struct ptc_fold *f = ptc_fold_new(TYPE, ID);
	struct ptc_sb sb = { .type = PERF_RECORD_KSYMBOL };
	struct ptc_fold_size size;
	struct ptc_err err;

	sb.u.ksymbol.addr = 4096;
	sb.u.ksymbol.name = "bpf_prog";
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
	sb.u.ksymbol.addr = 8192;
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
	ptc_fold_size(f, &size);
	cr_assert_eq(size.others, 2);
	sb.u.ksymbol.flags = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
	sb.type = PERF_RECORD_BPF_EVENT;
	sb.u.bpf = (struct ptc_sb_bpf){ .type = PERF_BPF_EVENT_PROG_LOAD, .id = 5 };
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
	ptc_fold_size(f, &size);
	cr_assert_eq(size.others, 2);
	sb.u.bpf.type = PERF_BPF_EVENT_PROG_UNLOAD;
	cr_assert_eq(ptc_fold_take(f, &sb, &err), 0);
	ptc_fold_size(f, &size);
	cr_assert_eq(size.others, 1);
	ptc_fold_free(f);
}
