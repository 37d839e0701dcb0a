/* SPDX-License-Identifier: MIT */
#include "cli/decode/call_fold.h"

#include <stdlib.h>

#include "base/grow.h"
#include "cli/common/number_index.h"
#include "ptcap/error.h"

/* A call that is kept. Its children have ended, except the last one if this call is open. */
struct fold_node {
	struct ptc_shown_call entry, end;
	uint64_t hash;		  /* of an ended call */
	struct fold_node *parent; /* NULL: the root, which moves when there are more threads */
	struct fold_node *before, *first, *last, *next;
};

struct ptc_fold_thread {
	int32_t tid;
	uint32_t queue;
	size_t kept;
	/* Stands for the innermost call that was printed. Its children are kept. */
	struct fold_node root;
	struct fold_node *top; /* the innermost open call; NULL: the root */
};

/* Returns the thread, which may be new. NULL: out of memory. */
static struct ptc_fold_thread *fold_thread(struct ptc_call_fold *f, int32_t tid)
{
	size_t at = ptc_idmap_find(&f->tids, tid);

	if (at != SIZE_MAX)
		return &f->threads[at];
	at = f->tids.n;
	if (!ptc_grow(&f->threads, &f->cap, at + 1, sizeof(*f->threads)) ||
	    !ptc_idmap_add(&f->tids, tid, at))
		return NULL;
	f->threads[at] = (struct ptc_fold_thread){ .tid = tid };
	return &f->threads[at];
}

/* --- the tree of a thread --- */

/* Returns the node behind @n in the order of entries, without leaving @within. NULL: the end. */
static struct fold_node *next_node(const struct fold_node *n, const struct fold_node *within)
{
	if (n->first)
		return n->first;
	while (n != within && !n->next)
		n = n->parent;
	return n == within ? NULL : n->next;
}

/* Free @n, with all calls inside. */
static void free_node(struct ptc_fold_thread *t, struct fold_node *n)
{
	struct fold_node *inner = n, *up;

	while (inner) {
		if (inner->first) {
			inner = inner->first;
			continue;
		}
		up = inner == n ? NULL : inner->parent;
		if (up)
			up->first = inner->next;
		free(inner);
		t->kept--;
		inner = up;
	}
}

/* Take @n out of the children of @parent, and free it. */
static void drop_node(struct ptc_fold_thread *t, struct fold_node *parent, struct fold_node *n)
{
	if (n->before)
		n->before->next = n->next;
	else
		parent->first = n->next;
	if (n->next)
		n->next->before = n->before;
	else
		parent->last = n->before;
	free_node(t, n);
}

static bool is_like(const struct fold_node *a, const struct fold_node *b)
{
	return a->entry.name == b->entry.name && a->entry.how == b->entry.how &&
	       a->end.how == b->end.how && a->hash == b->hash;
}

/* Are both calls equal, with all calls inside? */
static bool is_equal(const struct fold_node *a, const struct fold_node *b)
{
	const struct fold_node *x = a, *y = b;

	if (!is_like(a, b))
		return false;
	do {
		x = next_node(x, a);
		y = next_node(y, b);
		if (!x || !y)
			return !x && !y;
	} while (is_like(x, y) && x->entry.times == y->entry.times &&
		 x->entry.depth == y->entry.depth);
	return false;
}

static uint64_t hash_of_node(const struct fold_node *n)
{
	uint64_t hash = ptc_hash_mix((uintptr_t)n->entry.name, n->entry.how);
	const struct fold_node *c;

	hash = ptc_hash_mix(hash, n->end.how);
	for (c = n->first; c; c = c->next)
		hash = ptc_hash_mix(ptc_hash_mix(hash, c->hash), c->entry.times);
	return hash;
}

/* --- printing --- */

static int print_fold(struct ptc_call_fold *f, const struct ptc_shown_call *call)
{
	return f->sink.on_call(f->sink.ctx, call);
}

/* Print an ended call with all calls inside, and drop it. */
static int print_ended(struct ptc_call_fold *f, struct ptc_fold_thread *t, struct fold_node *parent,
		       struct fold_node *node)
{
	const struct fold_node *n = node;
	int rc = print_fold(f, &n->entry);

	while (!rc) {
		if (n->first) {
			n = n->first;
			rc = print_fold(f, &n->entry);
			continue;
		}
		rc = print_fold(f, &n->end);
		while (!rc && n != node && !n->next) {
			n = n->parent;
			rc = print_fold(f, &n->end);
		}
		if (rc || n == node)
			break;
		n = n->next;
		rc = print_fold(f, &n->entry);
	}
	drop_node(t, parent, node);
	return rc;
}

/* Print the ended calls inside of the root, except the last @keep. */
static int print_children(struct ptc_call_fold *f, struct ptc_fold_thread *t, size_t keep)
{
	struct fold_node *stop = t->root.last;
	int rc = 0;

	/* The last child may be open. */
	if (t->top)
		keep++;
	while (keep-- && stop)
		stop = stop->before;
	while (stop && !rc && t->root.first) {
		const bool last = t->root.first == stop;

		rc = print_ended(f, t, &t->root, t->root.first);
		if (last)
			break;
	}
	return rc;
}

/* Print the outermost open call. Its calls become those of the root. */
static int print_outermost(struct ptc_call_fold *f, struct ptc_fold_thread *t)
{
	struct fold_node *open, *c;
	int rc = print_children(f, t, 0);

	if (rc)
		return rc;
	open = t->root.first;
	rc = print_fold(f, &open->entry);
	t->root.first = open->first;
	t->root.last = open->last;
	for (c = open->first; c; c = c->next)
		c->parent = NULL;
	if (t->top == open)
		t->top = NULL;
	free(open);
	t->kept--;
	return rc ? rc : print_children(f, t, 1);
}

static int print_kept(struct ptc_call_fold *f, struct ptc_fold_thread *t)
{
	int rc = 0;

	while (!rc && t->top)
		rc = print_outermost(f, t);
	return rc ? rc : print_children(f, t, 0);
}

/* --- calls --- */

static void add_total(uint64_t *sum, uint64_t since, uint64_t until)
{
	if (since != PTC_NO_TIME && until != PTC_NO_TIME && until >= since)
		*sum += until - since;
}

static int fold_entry(struct ptc_call_fold *f, struct ptc_fold_thread *t,
		      const struct ptc_shown_call *call)
{
	struct fold_node *n, *parent;
	int rc;

	/* Behind a gap: the older calls have no end. */
	if (t->top && t->top->entry.depth >= call->depth) {
		rc = print_kept(f, t);
		if (rc)
			return rc;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return PTC_E_NO_MEMORY;
	parent = t->top ? t->top : &t->root;
	n->entry = *call;
	n->parent = t->top;
	n->before = parent->last;
	if (parent->last)
		parent->last->next = n;
	else
		parent->first = n;
	parent->last = n;
	t->top = n;
	t->kept++;
	for (rc = 0; !rc && t->kept > PTC_FOLD_KEPT && t->top;)
		rc = print_outermost(f, t);
	return rc;
}

static int fold_end(struct ptc_call_fold *f, struct ptc_fold_thread *t,
		    const struct ptc_shown_call *call)
{
	struct fold_node *n = t->top, *parent, *before;
	int rc;

	if (!n || n->entry.depth != call->depth) {
		rc = print_kept(f, t);
		return rc ? rc : print_fold(f, call);
	}
	parent = n->parent ? n->parent : &t->root;
	before = n->before;
	t->top = n->parent;
	n->end = *call;
	add_total(&n->end.total_time, call->since, call->time);
	add_total(&n->end.total_insns, call->since_insns, call->insns);
	n->hash = hash_of_node(n);
	if (before && is_equal(before, n)) {
		before->entry.times++;
		before->end.times++;
		before->end.total_time += n->end.total_time;
		before->end.total_insns += n->end.total_insns;
		drop_node(t, parent, n);
	}
	return t->top ? 0 : print_children(f, t, 1);
}

static int fold_gap(struct ptc_call_fold *f, const struct ptc_shown_call *call)
{
	const size_t only = call->tid < 0 ? SIZE_MAX : ptc_idmap_find(&f->tids, call->tid);
	size_t i;
	int rc = 0;

	if (only != SIZE_MAX)
		rc = print_kept(f, &f->threads[only]);
	for (i = 0; i < f->tids.n && !rc && call->tid < 0; i++)
		if (f->threads[i].queue == call->queue)
			rc = print_kept(f, &f->threads[i]);
	return rc ? rc : print_fold(f, call);
}

int ptc_call_fold_add(void *ctx, const struct ptc_shown_call *call)
{
	struct ptc_call_fold *f = ctx;
	struct ptc_fold_thread *t;

	if (call->type == PTC_CALL_LOST)
		return fold_gap(f, call);
	t = fold_thread(f, call->tid);
	if (!t)
		return PTC_E_NO_MEMORY;
	t->queue = call->queue;
	return call->type == PTC_CALL_ENTER ? fold_entry(f, t, call) : fold_end(f, t, call);
}

int ptc_call_fold_finish(struct ptc_call_fold *f)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < f->tids.n && !rc; i++)
		rc = print_kept(f, &f->threads[i]);
	return rc;
}

void ptc_call_fold_release(struct ptc_call_fold *f)
{
	struct fold_node *n, *next;
	size_t i;

	for (i = 0; i < f->tids.n; i++) {
		for (n = f->threads[i].root.first; n; n = next) {
			next = n->next;
			free_node(&f->threads[i], n);
		}
	}
	free(f->threads);
	ptc_idmap_release(&f->tids);
	*f = (struct ptc_call_fold){ .sink = f->sink };
}
