/* SPDX-License-Identifier: MIT */
/* An AVL tree with split and join. A node is changed only while it has one owner. */
#include "decode/image/range_tree.h"

#include <stdlib.h>

#include "base/budget.h"

struct ptc_ranges_node {
	struct ptc_range r;
	struct ptc_ranges_node *left, *right; /* owned, may be shared */
	size_t count;			      /* number of nodes in this subtree */
	unsigned int owners;
	int height;
};

typedef struct ptc_ranges_node node;

enum { NODE_COST = sizeof(node) + 2 * sizeof(void *) }; /* with the overhead of malloc */

static node *ref_node(node *n)
{
	if (n)
		n->owners++;
	return n;
}

/* Releases a reference. Recursion is as deep as the tree. */
static void unref_node(node *n)
{
	if (!n || --n->owners)
		return;
	unref_node(n->left);
	unref_node(n->right);
	free(n);
}

static int height(const node *n)
{
	return n ? n->height : 0;
}

static size_t subtree_node_count(const node *n)
{
	return n ? n->count : 0;
}

/* Recalculates @n after a change below it. */
static void update(node *n)
{
	const int l = height(n->left), r = height(n->right);

	n->height = (l > r ? l : r) + 1;
	n->count = subtree_node_count(n->left) + subtree_node_count(n->right) + 1;
}

static node *new_node(const struct ptc_range *r)
{
	node *n = ptc_budget_allows(NODE_COST) ? malloc(sizeof(*n)) : NULL;

	if (n)
		*n = (node){ .r = *r, .count = 1, .owners = 1, .height = 1 };
	return n;
}

/*
 * Makes *@n a node with one owner, by copying it if needed. Returns false if out of memory, or if
 * *@n is NULL.
 */
static bool own(node **n)
{
	node *copy;

	if (!*n)
		return false;
	if ((*n)->owners == 1)
		return true;
	copy = ptc_budget_allows(NODE_COST) ? malloc(sizeof(*copy)) : NULL;
	if (!copy)
		return false;
	*copy = **n;
	copy->owners = 1;
	(void)ref_node(copy->left);
	(void)ref_node(copy->right);
	unref_node(*n);
	*n = copy;
	return true;
}

/* Raises the right child of @n, or the left one. Out of memory: @n stays as it is. */
static node *rotate(node *n, bool right)
{
	node **side = right ? &n->right : &n->left, *up;

	if (!own(side)) {
		update(n);
		return n;
	}
	up = *side;
	if (right) {
		n->right = up->left;
		up->left = n;
	} else {
		n->left = up->right;
		up->right = n;
	}
	update(n);
	update(up);
	return up;
}

/* Rebalances @n, which has one owner and sides whose heights may differ by two. */
static node *balance(node *n)
{
	const int l = height(n->left), r = height(n->right);

	if (r > l + 1) {
		if (height(n->right->left) > height(n->right->right) && own(&n->right))
			n->right = rotate(n->right, false);
		return rotate(n, true);
	}
	if (l > r + 1) {
		if (height(n->left->right) > height(n->left->left) && own(&n->left))
			n->left = rotate(n->left, true);
		return rotate(n, false);
	}
	update(n);
	return n;
}

/*
 * Joins the trees @l, @k and @r, in this order, and consumes them. @k has one owner and no
 * children. Sets *@ok to false if out of memory; some ranges are lost then.
 */
static node *join(node *l, node *k, node *r, bool *ok)
{
	node **top = height(l) > height(r) ? &l : &r;

	if (height(l) <= height(r) + 1 && height(r) <= height(l) + 1) {
		k->left = l;
		k->right = r;
		update(k);
		return k;
	}
	if (!own(top)) {
		unref_node(l);
		unref_node(k);
		unref_node(r);
		*ok = false;
		return NULL;
	}
	if (top == &l)
		l->right = join(l->right, k, r, ok);
	else
		r->left = join(l, k, r->left, ok);
	return balance(*top);
}

/*
 * Splits @n, which is consumed, into ranges in front of @addr and the rest. A range across @addr is
 * cut.
 */
static void split(node *n, uint64_t addr, node **ret_l, node **ret_r, bool *ok)
{
	node *l, *r, *mid, *tail;

	*ret_l = *ret_r = NULL;
	if (!n)
		return;
	if (!own(&n)) {
		unref_node(n);
		*ok = false;
		return;
	}
	l = n->left;
	r = n->right;
	n->left = n->right = NULL;
	if (n->r.start >= addr) {
		split(l, addr, ret_l, &mid, ok);
		*ret_r = join(mid, n, r, ok);
		return;
	}
	split(r, addr, &mid, ret_r, ok);
	if (n->r.end > addr) {
		tail = new_node(&n->r);
		*ok = *ok && tail;
		if (tail) {
			tail->r.off += addr - tail->r.start;
			tail->r.start = addr;
			*ret_r = join(NULL, tail, *ret_r, ok);
		}
		n->r.end = addr;
	}
	*ret_l = join(l, n, mid, ok);
}

/* Removes the first node from *@n and returns it. NULL: empty, or out of memory. */
static node *take_first(node **n, bool *ok)
{
	node *first;

	if (!*n)
		return NULL;
	if (!own(n)) {
		*ok = false;
		return NULL;
	}
	if ((*n)->left) {
		first = take_first(&(*n)->left, ok);
		*n = balance(*n);
		return first;
	}
	first = *n;
	*n = first->right;
	first->right = NULL;
	return first;
}

/* Puts @k, which may be NULL, in place of the ranges in [start, end). */
static bool replace(struct ptc_ranges *t, uint64_t start, uint64_t end, node *k)
{
	node *l, *mid, *rest, *r;
	bool ok = true;

	split(t->root, start, &l, &rest, &ok);
	split(rest, end, &mid, &r, &ok);
	unref_node(mid);
	if (!k)
		k = take_first(&r, &ok);
	if (!ok && !k)
		unref_node(r);
	t->root = k ? join(l, k, r, &ok) : l;
	return ok;
}

void ptc_ranges_release(struct ptc_ranges *t)
{
	unref_node(t->root);
	t->root = NULL;
}

size_t ptc_ranges_count(const struct ptc_ranges *t)
{
	return subtree_node_count(t->root);
}

void ptc_ranges_copy(struct ptc_ranges *t, const struct ptc_ranges *from)
{
	t->root = ref_node(from->root);
}

bool ptc_ranges_put(struct ptc_ranges *t, const struct ptc_range *r)
{
	node *k = new_node(r);

	return k && replace(t, r->start, r->end, k);
}

const struct ptc_range *ptc_ranges_from(const struct ptc_ranges *t, uint64_t addr)
{
	const struct ptc_range *found = NULL;
	const node *n = t->root;

	while (n) {
		if (n->r.end <= addr) {
			n = n->right;
			continue;
		}
		found = &n->r;
		if (n->r.start <= addr)
			break;
		n = n->left;
	}
	return found;
}

bool ptc_ranges_drop(struct ptc_ranges *t, uint64_t start, uint64_t end)
{
	const struct ptc_range *first = ptc_ranges_from(t, start);

	return !first || first->start >= end || replace(t, start, end, NULL);
}
