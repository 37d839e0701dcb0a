// SPDX-License-Identifier: GPL-2.0
/*
 * softcount - a PMU whose trace is a counter, exact to the byte.
 *
 * It offers a ring a stream of 64-bit little-endian words: the ring's number in the
 * top 16 bits, below it the number of words that the ring was offered before. So the
 * offset in that stream determines every byte, and any chunk shows its own place. A
 * timer makes the stream: a number of bytes every few microseconds while the event is
 * on its CPU. Bytes that do not fit the ring are dropped and reported as by the Intel
 * PT driver (PERF_AUX_FLAG_TRUNCATED; without space to start, not even that).
 * /proc/softcount has the account of every ring that ever existed.
 *
 * Terms of an event: chunk (bytes each time, default 4096), us (time between two,
 * default 1000), patient (wait for space, so that nothing is dropped). The parameter
 * ceiling limits the total bytes offered to a ring, and may be raised at any time. An
 * AUX area mapped read-only is in overwrite mode; then AUX samples can be taken.
 */
#include "softaux.h"
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

enum { WORD = 8, RINGS_KEPT = 1024, STOPS_KEPT = 64, CHUNK = 4096, PERIOD_US = 1000 };

static unsigned long ceiling = ULONG_MAX; /* total bytes offered to a ring */
module_param(ceiling, ulong, 0644);

/* The account of one ring, kept after its end. */
struct account {
	u16 ring; /* the number in its words */
	u64 size;
	u64 offered, dropped; /* bytes */
	u64 truncations;      /* how often bytes were dropped behind written ones */
	u64 refused;	      /* how often there was no space to start */
	u64 stops;	      /* how often the event was stopped */
	u64 stop[STOPS_KEPT]; /* offered, at the newest stops */
};
static struct account accounts[RINGS_KEPT]; /* by ring number, the newest ring of each */
static atomic_t rings_made;

struct buf {
	struct area area;
	struct account *account;
};

/* The trace unit of a CPU. Only its own CPU uses it, with interrupts off. */
struct unit {
	struct perf_output_handle handle;
	struct hrtimer timer;
	struct perf_event *event; /* the running event, with or without a buffer */
	struct account *account;
	u64 pos, begin; /* next byte; aux_head when the core last gave space */
	u64 limit;	/* no byte here or beyond */
};
static DEFINE_PER_CPU(struct unit, units);
static struct pmu pmu;

/* ---- the terms of an event -------------------------------------------- */

static u64 chunk_of(struct perf_event *event)
{
	u64 n = round_down(event->attr.config & U32_MAX, WORD);

	return n ? n : CHUNK;
}

static ktime_t period_of(struct perf_event *event)
{
	u64 us = event->attr.config >> 32 & 0xffffff;

	return ns_to_ktime((us ? us : PERIOD_US) * NSEC_PER_USEC);
}

static bool patient(struct perf_event *event)
{
	return event->attr.config & BIT_ULL(56);
}

/* ---- the buffer ------------------------------------------------------- */

static struct buf *buf_of(struct unit *u)
{
	return perf_get_aux(&u->handle);
}

static u64 room(struct unit *u)
{
	struct buf *b = buf_of(u);

	return !b ? 0 : b->area.snapshot ? U64_MAX : u->limit - u->pos;
}

/* As pt_buffer_reset_markers(): without space to start, it sets the flag and fails. */
static bool get_space(struct unit *u, struct perf_event *event)
{
	struct buf *b = perf_aux_output_begin(&u->handle, event);

	if (!b) {
		if (event->hw.config)
			accounts[event->hw.config % RINGS_KEPT].refused++;
		return false;
	}
	u->account = b->account;
	event->hw.config = b->account->ring; /* for the time without a buffer */
	u->pos = u->begin = u->handle.head;
	u->limit = u->pos + round_down(u->handle.size, WORD);
	if (room(u) || patient(event))
		return true;
	perf_aux_output_flag(&u->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&u->handle, 0);
	return false;
}

static void give_space(struct unit *u)
{
	area_end(&buf_of(u)->area, &u->handle, u->begin, u->pos);
}

/* Writes the next @n bytes of the stream, which must fit. */
static void write(struct unit *u, u64 n)
{
	struct buf *b = buf_of(u);
	u64 word = (u64)b->account->ring << 48 | b->account->offered / WORD;

	b->account->offered += n;
	while (n) {
		u64 len = min_t(u64, n, PAGE_SIZE - (u->pos & ~PAGE_MASK)), i;
		__le64 *to = area_at(&b->area, u->pos);

		for (i = 0; i < len / WORD; i++)
			to[i] = cpu_to_le64(word++);
		u->pos += len;
		n -= len;
	}
}

/* ---- the unit --------------------------------------------------------- */

/* The interrupt's work: hands the bytes to the reader and continues. */
static void hand_over(struct unit *u)
{
	give_space(u);
	get_space(u, u->event);
}

static void drop(struct unit *u, u64 n)
{
	u->account->offered += n;
	u->account->dropped += n;
	if (!buf_of(u)) /* off without space: reported if possible */
		return;
	u->account->truncations++;
	perf_aux_output_flag(&u->handle, PERF_AUX_FLAG_TRUNCATED);
	hand_over(u);
}

static void offer(struct unit *u)
{
	u64 most = round_down(READ_ONCE(ceiling), WORD), fits;
	u64 n = min(chunk_of(u->event), most - min(most, u->account->offered));

	if (patient(u->event) && room(u) < n && buf_of(u))
		hand_over(u);
	fits = min(n, room(u));
	if (fits)
		write(u, fits);
	if (fits < n && !patient(u->event))
		drop(u, n - fits);
	else if (buf_of(u) && !buf_of(u)->area.snapshot && u->pos >= u->handle.wakeup)
		hand_over(u);
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct unit *u = container_of(timer, struct unit, timer);

	if (!u->event)
		return HRTIMER_NORESTART;
	offer(u);
	/* Counts from now, not from the due time: so even a slow CPU has time for other work. */
	hrtimer_set_expires(timer, ktime_add(hrtimer_cb_get_time(timer), period_of(u->event)));
	return HRTIMER_RESTART;
}

/* ---- the PMU ---------------------------------------------------------- */

static void *setup_aux(struct perf_event *event, void **pages, int n, bool snapshot)
{
	struct buf *b = kzalloc(sizeof(*b), GFP_KERNEL);
	u16 ring;

	if (!b || !area_init(&b->area, event, pages, n, snapshot)) {
		kfree(b);
		return NULL;
	}
	ring = atomic_inc_return(&rings_made);
	b->account = &accounts[ring % RINGS_KEPT];
	*b->account = (struct account){ .ring = ring, .size = b->area.size };
	return b;
}

static void free_aux(void *aux)
{
	kfree(aux);
}

static void start(struct perf_event *event, int mode)
{
	struct unit *u = this_cpu_ptr(&units);

	if (!get_space(u, event)) {
		event->hw.state = PERF_HES_STOPPED;
		return;
	}
	event->hw.state = 0;
	u->event = event;
	hrtimer_start(&u->timer, period_of(event), HRTIMER_MODE_REL_PINNED_HARD);
}

static void stop(struct perf_event *event, int mode)
{
	struct unit *u = this_cpu_ptr(&units);

	if (event->hw.state == PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED;
	u->event = NULL;
	hrtimer_try_to_cancel(&u->timer);
	if (buf_of(u))
		give_space(u);
	u->account->stop[u->account->stops++ % STOPS_KEPT] = u->account->offered;
}

static int add(struct perf_event *event, int mode)
{
	if (this_cpu_ptr(&units)->event)
		return -EBUSY;
	event->hw.state = PERF_HES_STOPPED;
	if (!(mode & PERF_EF_START))
		return 0;
	start(event, 0);
	return event->hw.state == PERF_HES_STOPPED ? -EINVAL : 0;
}

static void del(struct perf_event *event, int mode)
{
	stop(event, PERF_EF_UPDATE);
}

static void nothing(struct perf_event *event)
{
}

static int event_init(struct perf_event *event)
{
	return event->attr.type == pmu.type ? 0 : -ENOENT;
}

static long snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
			 unsigned long size)
{
	struct unit *u = this_cpu_ptr(&units);
	struct buf *b = buf_of(u);

	return b ? copy_newest(&b->area, &u->handle, handle, u->pos, size) : 0;
}

PMU_FORMAT_ATTR(chunk, "config:0-31");
PMU_FORMAT_ATTR(us, "config:32-55");
PMU_FORMAT_ATTR(patient, "config:56");
static struct attribute *formats[] = { &format_attr_chunk.attr, &format_attr_us.attr,
				       &format_attr_patient.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = formats };
static const struct attribute_group *groups[] = { &format_group, NULL };

static struct pmu pmu = {
	.module = THIS_MODULE,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE,
	.attr_groups = groups,
	.task_ctx_nr = perf_sw_context,
	.event_init = event_init,
	.add = add,
	.del = del,
	.start = start,
	.stop = stop,
	.read = nothing,
	.setup_aux = setup_aux,
	.free_aux = free_aux,
	.snapshot_aux = snapshot_aux,
};

/*
 * Prints a line for each ring: number, size, bytes offered, dropped, truncations, refusals, stops,
 * offsets of the stops.
 */
static int show(struct seq_file *m, void *v)
{
	int i;
	u64 s;

	for (i = 0; i < RINGS_KEPT; i++) {
		const struct account *a = &accounts[i];

		if (!a->size)
			continue;
		seq_printf(m, "%u %llu %llu %llu %llu %llu %llu", a->ring, a->size, a->offered,
			   a->dropped, a->truncations, a->refused, a->stops);
		for (s = a->stops > STOPS_KEPT ? a->stops - STOPS_KEPT : 0; s < a->stops; s++)
			seq_printf(m, " %llu", a->stop[s % STOPS_KEPT]);
		seq_putc(m, '\n');
	}
	return 0;
}

static int __init load(void)
{
	int cpu, err = find_copy_aux();

	if (err)
		return err;
	for_each_possible_cpu(cpu)
	{
		hrtimer_init(&per_cpu(units, cpu).timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		per_cpu(units, cpu).timer.function = tick;
	}
	if (!proc_create_single("softcount", 0444, NULL, show))
		return -ENOMEM;
	err = perf_pmu_register(&pmu, "softcount", -1);
	if (err)
		remove_proc_entry("softcount", NULL);
	return err;
}

static void __exit unload(void)
{
	perf_pmu_unregister(&pmu);
	remove_proc_entry("softcount", NULL);
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A trace that is a count, for tests");
