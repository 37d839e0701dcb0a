/* SPDX-License-Identifier: MIT */
#include "decode/items/item_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static_assert((int)PTC_GAP_COUNT <= (int)PTC_GAP_MAX,
	      "arrays of the library have space for each cause");

const char *ptc_gap_name(enum ptc_gap_cause cause)
{
	static const char *const names[PTC_GAP_COUNT] = {
		[PTC_GAP_NONE] = "none",	   [PTC_GAP_OVERFLOW] = "overflow",
		[PTC_GAP_TRUNCATED] = "truncated", [PTC_GAP_PARTIAL] = "partial",
		[PTC_GAP_LOST] = "lost",	   [PTC_GAP_NOCODE] = "nocode",
		[PTC_GAP_BADPACKET] = "badpacket", [PTC_GAP_DESYNC] = "desync",
		[PTC_GAP_SNAPSHOT] = "snapshot",
	};

	return (unsigned int)cause < PTC_GAP_COUNT ? names[cause] : "?";
}

const char *ptc_event_name(enum ptc_event_kind kind)
{
	static const char *const names[PTC_EVENT_COUNT] = {
		[PTC_EVENT_NONE] = "none",
		[PTC_EVENT_ENABLED] = "enabled",
		[PTC_EVENT_DISABLED] = "disabled",
		[PTC_EVENT_OVERFLOW] = "overflow",
		[PTC_EVENT_STOP] = "stop",
		[PTC_EVENT_CBR] = "cbr",
		[PTC_EVENT_PTWRITE] = "ptwrite",
		[PTC_EVENT_MWAIT] = "mwait",
		[PTC_EVENT_PWRE] = "pwre",
		[PTC_EVENT_EXSTOP] = "exstop",
		[PTC_EVENT_PWRX] = "pwrx",
		[PTC_EVENT_TSX_BEGIN] = "tsx-begin",
		[PTC_EVENT_TSX_COMMIT] = "tsx-commit",
		[PTC_EVENT_TSX_ABORT] = "tsx-abort",
		[PTC_EVENT_CR3] = "cr3",
		[PTC_EVENT_INTR] = "intr",
		[PTC_EVENT_IRET] = "iret",
		[PTC_EVENT_SMI] = "smi",
		[PTC_EVENT_RSM] = "rsm",
		[PTC_EVENT_SIPI] = "sipi",
		[PTC_EVENT_INIT] = "init",
		[PTC_EVENT_VMENTRY] = "vmentry",
		[PTC_EVENT_VMEXIT] = "vmexit",
		[PTC_EVENT_VMEXIT_INTR] = "vmexit-intr",
		[PTC_EVENT_SHUTDOWN] = "shutdown",
		[PTC_EVENT_UINTR] = "uintr",
		[PTC_EVENT_UIRET] = "uiret",
		[PTC_EVENT_CFE] = "cfe",
		[PTC_EVENT_PFA] = "pfa",
		[PTC_EVENT_VMXQ] = "vmxq",
		[PTC_EVENT_VMXR] = "vmxr",
		[PTC_EVENT_EVD] = "evd",
		[PTC_EVENT_BBP] = "bbp",
		[PTC_EVENT_BEP] = "bep",
		[PTC_EVENT_TRIG] = "trig",
	};

	return (unsigned int)kind < PTC_EVENT_COUNT ? names[kind] : "?";
}

void ptc_out_init(struct ptc_out *o, uint32_t queue, const struct ptc_decode_opts *opts,
		  struct ptc_decode_stats *stats)
{
	*o = (struct ptc_out){
		.queue = queue,
		.pid = -1,
		.tid = -1,
		.cpu = -1,
		.tids = opts->tids,
		.cpus = opts->cpus,
		.stats = stats,
	};
	o->picky = opts->tids.n || opts->cpus.n;
}

static void empty(struct ptc_out *o)
{
	o->head = o->n = 0;
	o->recs.head = o->recs.n = o->lent = 0;
	o->newest = 0;
}

struct ptc_out_room ptc_out_swap_room(struct ptc_out *o, struct ptc_out_room room)
{
	const struct ptc_out_room was = { o->items, o->recs.v, o->cap, o->recs.cap };

	o->items = room.items;
	o->cap = room.cap;
	o->recs.v = room.recs;
	o->recs.cap = room.recs_cap;
	empty(o);
	return was;
}

void ptc_out_room_release(struct ptc_out_room *room)
{
	free(room->items);
	free(room->recs);
	*room = (struct ptc_out_room){ .cap = 0 };
}

void ptc_out_release(struct ptc_out *o)
{
	struct ptc_out_room room;

	room = ptc_out_swap_room(o, (struct ptc_out_room){ .cap = 0 });
	ptc_out_room_release(&room);
}

/*
 * Reserve whole cache lines. Where many items are listed at once, an item in two cache lines takes
 * more than twice as long.
 */
static bool grow_item_lines(struct ptc_out *o, size_t want)
{
	void *items = o->items;

	static_assert(sizeof(*o->items) == PTC_VEC_LINE, "an item is a line");
	if (!ptc_vec_reserve_lines(&items, &o->cap, want))
		return false;
	o->items = items;
	return true;
}

bool ptc_out_reserve(struct ptc_out *o, size_t more)
{
	if (o->head == o->n)
		empty(o);
	if (o->cap > o->n && o->cap - o->n > more)
		return true;
	if (!grow_item_lines(o, o->n + more + 1))
		o->failed = true;
	return !o->failed;
}

static struct ptc_item *append_any(struct ptc_out *o, enum ptc_item_type type, uint64_t time)
{
	struct ptc_item *it;

	if (!ptc_out_reserve(o, 0))
		return NULL;
	it = &o->items[o->n++];
	memset(it, 0, sizeof(*it));
	it->type = (uint8_t)type;
	it->time = time;
	it->queue = o->queue;
	it->pid = o->pid;
	it->tid = o->tid;
	it->cpu = o->cpu;
	ptc_out_saw(o, time);
	return it;
}

static bool is_tid_cpu_selected(const struct ptc_out *o)
{
	return ptc_ids_have(&o->tids, o->tid) && ptc_ids_have(&o->cpus, o->cpu);
}

static struct ptc_item *append_selected_item(struct ptc_out *o, enum ptc_item_type type,
					     uint64_t time)
{
	if (o->picky && !is_tid_cpu_selected(o))
		return NULL;
	return append_any(o, type, time);
}

struct ptc_item *ptc_out_branch(struct ptc_out *o, uint64_t from, uint64_t to, enum ptc_kind kind,
				uint64_t time)
{
	struct ptc_item *it = append_selected_item(o, PTC_ITEM_BRANCH, time);

	if (!it)
		return NULL;
	it->from = from;
	it->to = to;
	it->kind = (uint8_t)kind;
	o->stats->branches++;
	return it;
}

static bool append_recs(struct ptc_out *o, const struct ptc_fast_rec *recs, size_t n)
{
	if (!ptc_grow(&o->recs.v, &o->recs.cap, o->recs.n + n, sizeof(*o->recs.v)))
		return false;
	memcpy(o->recs.v + o->recs.n, recs, n * sizeof(*recs));
	o->recs.n += n;
	return true;
}

/* The cause of a RUN item whose branches are lent. Cleared when it is handed over. */
enum { LENT = 1 };

void ptc_out_run(struct ptc_out *o, const struct ptc_fast_rec *recs, size_t n, uint64_t time)
{
	struct ptc_item *it;

	if (!ptc_out_reserve(o, 0))
		return;
	it = &o->items[o->n++];
	*it = ptc_out_stamp(o, time);
	it->type = PTC_ITEM_RUN;
	it->from = (uint64_t)(uintptr_t)recs;
	it->to = n;
	it->cause = LENT;
	o->lent += n;
	o->stats->branches += n;
	ptc_out_saw(o, time);
}

/* Copy the branches of @it, an item of @o, to the records of @o. */
static bool own(struct ptc_out *o, struct ptc_item *it)
{
	const struct ptc_fast_rec *recs = (const struct ptc_fast_rec *)(uintptr_t)it->from;

	it->from = o->recs.n;
	it->cause = 0;
	return append_recs(o, recs, it->to);
}

void ptc_out_keep(struct ptc_out *o)
{
	struct ptc_item *it;
	size_t i;

	/* Lent items are among the last ones, so the search does not look at all waiting items. */
	for (i = o->n; o->lent && i > o->head;) {
		it = &o->items[--i];
		if (it->type != PTC_ITEM_RUN || it->cause != LENT)
			continue;
		o->lent -= it->to;
		if (!own(o, it))
			o->failed = true;
	}
}

static_assert(sizeof(struct ptc_transfer) == sizeof(struct ptc_fast_rec) &&
		      offsetof(struct ptc_transfer, from_kind) ==
			      offsetof(struct ptc_fast_rec, from_kind) &&
		      offsetof(struct ptc_transfer, to) == offsetof(struct ptc_fast_rec, to),
	      "both types have the same layout");

/* The branches of @it are not needed any more. */
static void drop_recs(struct ptc_out *o, const struct ptc_item *it)
{
	if (it->type != PTC_ITEM_RUN)
		return;
	if (it->cause == LENT)
		o->lent -= it->to;
	else
		o->recs.head += it->to;
}

void ptc_out_sift(struct ptc_out *o, size_t from, bool (*keep)(void *ctx, struct ptc_item *it),
		  void *ctx)
{
	size_t i, n = from;

	for (i = from; i < o->n; i++) {
		if (keep(ctx, &o->items[i]))
			o->items[n++] = o->items[i];
		else
			drop_recs(o, &o->items[i]);
	}
	o->n = n;
}

struct ptc_item *ptc_out_take(struct ptc_out *o, size_t n)
{
	struct ptc_item *items = o->items + o->head;
	size_t i;

	o->head += n;
	for (i = 0; o->runs && i < n; i++) {
		if (items[i].type != PTC_ITEM_RUN)
			continue;
		if (items[i].cause == LENT) {
			items[i].cause = 0;
			o->lent -= items[i].to;
			continue;
		}
		items[i].from = (uint64_t)(uintptr_t)(o->recs.v + items[i].from);
		o->recs.head += items[i].to;
	}
	return items;
}

struct ptc_item *ptc_out_insn(struct ptc_out *o, uint64_t ip, uint64_t time)
{
	struct ptc_item *it = append_selected_item(o, PTC_ITEM_INSN, time);

	if (it)
		it->from = ip;
	return it;
}

struct ptc_item *ptc_out_event(struct ptc_out *o, enum ptc_event_kind kind, uint64_t ip,
			       uint64_t value, uint64_t time)
{
	struct ptc_item *it = append_selected_item(o, PTC_ITEM_EVENT, time);

	if (!it)
		return NULL;
	it->from = ip;
	it->to = value;
	it->kind = (uint8_t)kind;
	return it;
}

void ptc_out_gap(struct ptc_out *o, enum ptc_gap_cause cause, uint64_t off, uint64_t len,
		 uint64_t time)
{
	struct ptc_item *it = append_selected_item(o, PTC_ITEM_GAP, time);

	if (!it)
		return;
	it->from = off;
	it->to = len;
	it->cause = (uint8_t)cause;
	o->stats->gaps[cause]++;
}

static bool is_later(const struct ptc_item *it, uint64_t time)
{
	return it->time != PTC_NO_TIME && time != PTC_NO_TIME && it->time > time;
}

void ptc_out_lost(struct ptc_out *o, uint64_t off, uint64_t time)
{
	const size_t before = o->n - o->head;
	struct ptc_item lost;
	size_t at;

	ptc_out_gap(o, PTC_GAP_LOST, off, 0, time);
	if (o->n - o->head == before)
		return;
	at = o->n - 1;
	lost = o->items[at];
	for (; at > o->head && is_later(&o->items[at - 1], time); at--)
		o->items[at] = o->items[at - 1];
	o->items[at] = lost;
}

void ptc_out_unkept(struct ptc_out *o, uint64_t off, uint64_t len, uint64_t time)
{
	struct ptc_item *it = append_any(o, PTC_ITEM_GAP, time);

	if (!it)
		return;
	it->pid = -1;
	it->tid = -1;
	it->from = off;
	it->to = len;
	it->cause = PTC_GAP_SNAPSHOT;
	o->stats->gaps[PTC_GAP_SNAPSHOT]++;
}
