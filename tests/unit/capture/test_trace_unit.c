/* SPDX-License-Identifier: MIT */
/*
 * Description: the trace unit of the emulated source moves threads between CPUs. The test writes
 * each thread's words pass by pass, so every run has the same words before and after a move. There
 * is no plugin and no second thread.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "auxtrace/record/sideband.h"
#include "base/cursor.h"
#include "capture/emu/block_store.h"
#include "capture/emu/trace_unit.h"
#include "capture/rings/ring.h"

enum { CPUS_MAX = 3, TASKS_MAX = 3, ROUNDS = 60, RING = 1 << 16, TID = 1000 };

/* Two blocks, each a jump to itself. */
enum { LOOP = 0x1000, HANDLER = 0x2000 };

struct scene;

/* How a guest thread was created, if it is not the first thread of its process. */
struct birth {
	enum ptc_emu_how how;
	unsigned int born; /* position in the order of creation */
	int tid;	   /* tid - TID */
};

/* A guest thread: its output so far, and the resulting branches. */
struct guest {
	unsigned int rounds; /* jumps that were listed */
	uint64_t ip;	     /* address of its current block */
};

/* The receiver of a CPU's branches. */
struct place {
	struct scene *s;
	struct ptc_emu_cpu *cpu;
};

struct scene {
	unsigned int ncpus, nguests;
	unsigned int at, sig;	    /* signal @sig comes in round @at; 0: none */
	const struct birth *births; /* one per guest; NULL: all are first threads */
	struct ptc_emu_shared *sh;
	struct ptc_emu_unit unit;
	struct ptc_emu_cpu cpus[CPUS_MAX];
	struct place places[CPUS_MAX];
	struct guest guests[TASKS_MAX];
	uint32_t loop, handler; /* offsets in the arena */
	atomic_bool gone;
	atomic_int want;
};

static void write_words(struct scene *s, uint32_t slot, const void *words, size_t n)
{
	uint64_t head = atomic_load(&s->sh->slots[slot].head);
	const uint8_t *p = words;
	size_t i;

	for (i = 0; i < n; i++, p += 4)
		memcpy(&ptc_emu_ring(s->sh, slot)[head++ % PTC_EMU_WORDS], p, 4);
	atomic_store(&s->sh->slots[slot].head, head);
}

static void write_event(struct scene *s, uint32_t slot, enum ptc_emu_type type, const void *payload,
			size_t len)
{
	const uint32_t first = ptc_emu_event(type, (uint32_t)(len / 4));

	write_words(s, slot, &first, 1);
	write_words(s, slot, payload, len / 4);
}

static void write_block(struct scene *s, uint32_t slot, uint64_t ip)
{
	write_words(s, slot, ip == LOOP ? &s->loop : &s->handler, 1);
}

/* Writes the words of the next pass: the block again, or a signal and its handler. */
static void go_on(struct scene *s, uint32_t slot)
{
	struct guest *g = &s->guests[slot];
	const struct ptc_emu_signal sig = { .ip = g->ip, .sig = s->sig };

	if (g->rounds != s->at) {
		write_block(s, slot, g->ip);
		return;
	}
	write_event(s, slot, PTC_EMU_SIGNAL, &sig, sizeof(sig));
	g->ip = HANDLER;
	write_block(s, slot, HANDLER);
	if (s->sig == SIGSEGV) /* instead of the jump */
		write_block(s, slot, HANDLER);
}

static void stop_when_all_are_done(struct scene *s)
{
	unsigned int i;

	for (i = 0; i < s->nguests; i++)
		if (s->guests[i].rounds < ROUNDS)
			return;
	atomic_store(&s->want, 2);
}

/* Each branch traced on a CPU must belong to the thread on this CPU. */
static void on_transfer(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	const struct place *p = ctx;
	const uint32_t slot = (uint32_t)(tid - TID);
	struct guest *g = &p->s->guests[slot];

	cr_assert_lt(slot, p->s->nguests, "a transfer of %d", tid);
	cr_assert(p->cpu->running && p->cpu->running->tid == tid,
		  "round %u: %d is traced on CPU %u, which %d has", g->rounds, tid, p->cpu->rec.cpu,
		  p->cpu->running ? p->cpu->running->tid : -1);
	if (kind != PTC_KIND_JMP)
		return;
	cr_assert(from == to && (from == g->ip || g->rounds == p->s->at), "round %u: from %#lx",
		  g->rounds, from);
	if (++g->rounds < ROUNDS)
		go_on(p->s, slot);
	else
		stop_when_all_are_done(p->s);
}

static uint32_t block(struct scene *s, uint64_t start)
{
	const struct ptc_emu_block b = { .start = start, .len = 2, .insns = 1 };
	const uint32_t ret = ptc_emu_arena_place(s->sh, &b, (const uint8_t *)"\xeb\xfe");

	cr_assert_neq(ret, 0);
	return ret;
}

static void open_cpu(struct scene *s, unsigned int i, const struct ptc_clock *clock)
{
	const struct ptc_emu_cpu_opts opts = {
		.number = i,
		.ring = { .data_size = RING,
			  .aux_size = RING,
			  .sample_type = PTC_SOFT_SAMPLE_TYPE },
		.enc = { .psb_period = RING, .mtc_freq = 3, .tsc_per_ctc = 84, .cbr = 30 },
		.clock = clock,
		.first_id = 2 * i + 1,
	};
	struct ptc_err err;

	cr_assert_eq(ptc_emu_cpu_open(&s->cpus[i], &opts, &err), 0, "%s", err.msg);
	s->places[i] = (struct place){ s, &s->cpus[i] };
	s->cpus[i].flow.truth = on_transfer;
	s->cpus[i].flow.truth_ctx = &s->places[i];
}

static void begin_guest(struct scene *s, uint32_t slot)
{
	const struct birth b = s->births ? s->births[slot] :
					   (struct birth){ PTC_EMU_FIRST, slot + 1, (int)slot };
	const struct ptc_emu_start start = { .pid = getpid(), .tid = TID + b.tid, .how = b.how };

	s->guests[slot].ip = LOOP;
	atomic_store(&s->sh->slots[slot].pid, getpid());
	atomic_store(&s->sh->slots[slot].born, b.born);
	atomic_store(&s->sh->slots[slot].state, PTC_EMU_TAKEN);
	write_event(s, slot, PTC_EMU_START, &start, sizeof(start));
	write_block(s, slot, LOOP);
	write_block(s, slot, LOOP);
}

static void run(struct scene *s)
{
	static const struct ptc_clock clock = { .conv = { .mult = 1 } };
	struct ptc_err err;
	unsigned int i;

	s->sh = mmap(NULL, ptc_emu_segment_size(PTC_EMU_ARENA_MIN), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	cr_assert_neq(s->sh, MAP_FAILED);
	ptc_emu_arena_init(s->sh, PTC_EMU_ARENA_MIN);
	s->loop = block(s, LOOP);
	s->handler = block(s, HANDLER);
	for (i = 0; i < s->ncpus; i++)
		open_cpu(s, i, &clock);
	for (i = 0; i < s->nguests; i++)
		begin_guest(s, i);
	atomic_store(&s->sh->nslots, s->nguests);
	s->unit.sh = s->sh;
	s->unit.cpus = s->cpus;
	s->unit.ncpus = s->ncpus;
	s->unit.watermark = RING;
	s->unit.gone = &s->gone;
	s->unit.want = &s->want;
	cr_assert_eq(ptc_emu_unit_init(&s->unit, &err), 0);
	cr_assert_eq(ptc_emu_unit_run(&s->unit, &err), 0, "%s", err.msg);
}

static void done(struct scene *s)
{
	unsigned int i;

	ptc_emu_unit_release(&s->unit);
	for (i = 0; i < s->ncpus; i++)
		ptc_emu_cpu_close(&s->cpus[i]);
	(void)munmap(s->sh, ptc_emu_segment_size(PTC_EMU_ARENA_MIN));
}

/* Checks that a thread leaves CPU @i before another one comes. Returns the number of switch-ins. */
static unsigned int switches(const struct scene *s, unsigned int i)
{
	struct perf_event_mmap_page *page = ptc_softring_page(s->cpus[i].ring);
	const size_t off = (size_t)sysconf(_SC_PAGESIZE);
	static uint8_t bytes[PTC_REC_MAX + 8];
	unsigned int came = 0;
	struct ptc_seg seg[2];
	struct ptc_ring ring;
	struct ptc_err err;
	size_t pos, n;
	uint64_t end;
	int32_t here = -1;

	cr_assert_eq(ptc_ring_init(&ring, page, off, RING, &err), 0, "%s", err.msg);
	n = (size_t)ptc_ring_read(&ring, seg, &end, &err);
	for (pos = 0; pos < n;) {
		const size_t len = ptc_ring_record(seg, pos, bytes);
		struct ptc_cur c = ptc_cur_init(bytes, len);
		struct ptc_rec rec;
		struct ptc_sb sb;

		cr_assert_gt(ptc_rec_next(&c, 0, &rec, &err), 0);
		cr_assert_gt(ptc_sb_parse(&rec, PTC_SOFT_SAMPLE_TYPE, &sb, &err), 0);
		pos += len;
		if (sb.type != PERF_RECORD_SWITCH)
			continue;
		cr_assert_eq(sb.id.cpu, i);
		if (sb.misc & PERF_RECORD_MISC_SWITCH_OUT) {
			cr_assert_eq(here, (int32_t)sb.id.tid, "who leaves was not there");
			here = -1;
			continue;
		}
		cr_assert_eq(here, -1, "%d comes, and %d is there", (int)sb.id.tid, here);
		here = (int32_t)sb.id.tid;
		came++;
	}
	cr_assert_eq(here, -1, "%d is still there", here);
	return came;
}

/*
 * Checks that each jump was listed once, in order, on its thread's CPU, and that each CPU had a
 * thread.
 */
static void check(const char *what, unsigned int ncpus, unsigned int nguests, unsigned int at,
		  unsigned int sig)
{
	struct scene s = { .ncpus = ncpus, .nguests = nguests, .at = at, .sig = sig, .want = 0 };
	unsigned int i, came = 0;

	run(&s);
	for (i = 0; i < nguests; i++) {
		cr_assert_eq(s.guests[i].rounds, ROUNDS, "%s: %u rounds", what, s.guests[i].rounds);
		cr_assert(!at || s.guests[i].ip == HANDLER, "%s: no signal in round %u", what, at);
	}
	for (i = 0; i < ncpus; i++) {
		const unsigned int n = switches(&s, i);

		cr_assert_gt(n, 0, "%s: nobody came to CPU %u", what, i);
		cr_assert_eq(s.cpus[i].flow.odd, 0);
		came += n;
	}
	if (nguests == 1) /* one move after every eight passes */
		cr_assert_eq(came, ncpus == 1 ? 1 : (ROUNDS - 1) / 8 + 1, "%s: %u moves", what,
			     came);
	done(&s);
}

Test(emu_unit, a_thread_goes_round_the_cpus)
{
	check("one CPU", 1, 1, 0, 0);
	check("two CPUs", 2, 1, 0, 0);
	check("three CPUs", 3, 1, 0, 0);
}

Test(emu_unit, threads_that_share_cpus_have_them_one_at_a_time)
{
	check("two on one", 1, 2, 0, 0);
	check("two on two", 2, 2, 0, 0);
	check("three on two", 2, 3, 0, 0);
}

/*
 * In some of these rounds the thread has just been moved, and nothing has run on the new CPU yet.
 */
Test(emu_unit, a_signal_finds_its_thread_wherever_it_moves)
{
	unsigned int at;

	for (at = 1; at < 34; at++) {
		check("alone, sent", 2, 1, at, SIGALRM);
		check("alone, a fault", 2, 1, at, SIGSEGV);
		check("three threads", 2, 3, at, SIGALRM);
	}
}

/*
 * The blocks of the scene are in no file. Their bytes are recorded once, and then they are as quick
 * as blocks of files. (Before the fix, recorded code made all blocks of its process slow.)
 */
Test(emu_unit, recorded_code_is_checked_only_after_a_change)
{
	struct scene s = { .ncpus = 1, .nguests = 1 };
	const struct ptc_emu_process *p;
	const struct ptc_emu_line *line;

	run(&s);
	p = s.unit.procs[0];
	line = &s.unit.code.lines[s.unit.code.index[s.loop] - 1];
	cr_assert_eq(p->known.n, 1);
	cr_assert(!line->filed);
	cr_assert(line->told);
	cr_assert_eq(line->epoch, p->epoch);
	done(&s);
}

/* Threads in the bit set @alive continue and are traced; each other thread has one jump. */
static void check_births(const char *what, const struct birth *births, unsigned int nguests,
			 unsigned int alive)
{
	struct scene s = { .ncpus = 1, .nguests = nguests, .births = births };
	unsigned int i;

	for (i = 0; i < nguests; i++)
		if (!(alive & 1 << i))
			s.guests[i].rounds = ROUNDS;
	run(&s);
	for (i = 0; i < nguests; i++)
		cr_assert_geq(s.guests[i].rounds, ROUNDS, "%s", what);
	cr_assert_eq(s.cpus[0].flow.odd, 0);
	done(&s);
}

/*
 * A program takes the first free slot. That slot may come before the slot of the forked process
 * that executes the program, which is still unread. (Before the fix the program lost its slot then,
 * and waited for ever for its output to be read.)
 */
Test(emu_unit, what_a_program_came_to_be_by_is_read_before_it, .timeout = 600)
{
	static const struct birth forked[] = { { PTC_EMU_EXEC, 2, 0 }, { PTC_EMU_FORK, 1, 0 } };
	static const struct birth twice[] = { { PTC_EMU_EXEC, 3, 0 },
					      { PTC_EMU_EXEC, 2, 0 },
					      { PTC_EMU_FORK, 1, 0 } };
	static const struct birth again[] = { { PTC_EMU_EXEC, 2, 1 },
					      { PTC_EMU_EXEC, 3, 1 },
					      { PTC_EMU_FORK, 1, 1 } };
	static const struct birth thread[] = { { PTC_EMU_THREAD, 2, 0 }, { PTC_EMU_FORK, 1, 1 } };

	check_births("forked", forked, 2, 1 << 0);
	check_births("forked, with two programs", twice, 3, 1 << 0);
	check_births("the newest one in between", again, 3, 1 << 1);
	check_births("a thread of who was forked", thread, 2, 1 << 0 | 1 << 1);
}
