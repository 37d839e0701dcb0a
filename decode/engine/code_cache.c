/* SPDX-License-Identifier: MIT */
#include "decode/engine/code_cache.h"

#include <stdlib.h>

#include "decode/image/addrspace.h"

static void code_free(struct ptc_segment_code *k)
{
	ptc_fast_chains_release(&k->chains);
	ptc_fast_code_release(&k->code);
	free(k);
}

bool ptc_segment_user_init(struct ptc_segment_user *u)
{
	*u = (struct ptc_segment_user){ .codes = calloc(1, sizeof(*u->codes)) };
	if (!u->codes)
		return false;
	(void)pthread_mutex_init(&u->codes->lock, NULL);
	u->codes->users = 1;
	return true;
}

void ptc_segment_user_join(struct ptc_segment_user *u, const struct ptc_segment_user *other)
{
	struct ptc_segment_codes *c = other->codes;
	size_t i;

	*u = (struct ptc_segment_user){ .codes = c, .counts = other->counts };
	(void)pthread_mutex_lock(&c->lock);
	u->number = c->users++;
	for (i = 0; i < c->n; i++)
		c->codes[i]->code.shared = true;
	(void)pthread_mutex_unlock(&c->lock);
}

static void leave(struct ptc_segment_user *u)
{
	while (u->nheld)
		u->held[--u->nheld]->users--;
}

void ptc_segment_user_release(struct ptc_segment_user *u)
{
	struct ptc_segment_codes *c = u->codes;
	bool last;

	if (!c)
		return;
	(void)pthread_mutex_lock(&c->lock);
	leave(u);
	last = !--c->users;
	(void)pthread_mutex_unlock(&c->lock);
	u->codes = NULL;
	if (!last)
		return;
	while (c->n)
		code_free(c->codes[--c->n]);
	(void)pthread_mutex_destroy(&c->lock);
	free(c);
}

static uint64_t kernel_version(const struct ptc_addrspace *as)
{
	return as->kernel ? as->kernel->version : 0;
}

static enum ptc_segment_kernel kernel_of(const struct ptc_addrspace *as)
{
	if (!as->kernel)
		return PTC_SEGMENT_NO_KERNEL;
	return as->kernel->view ? PTC_SEGMENT_KERNEL_VIEW : PTC_SEGMENT_KERNEL_NOW;
}

static bool is_full(const struct ptc_segment_code *k)
{
	return ptc_fast_code_is_full(&k->code) || ptc_fast_chains_is_full(&k->chains, &k->code);
}

/* Returns true if @k is for exactly this code. */
static bool is_of(const struct ptc_segment_code *k, const struct ptc_addrspace *as)
{
	return as->state && k->state == as->state && k->kernel == kernel_of(as) &&
	       k->kernel_version == kernel_version(as);
}

static size_t bytes_of(const struct ptc_segment_code *k)
{
	return ptc_fast_code_bytes(&k->code) + ptc_fast_chains_bytes(&k->chains);
}

/* Returns the index of the least recently used cache without users, except @kept; ALL: none. */
static size_t find_oldest(const struct ptc_segment_codes *c, const struct ptc_segment_code *kept)
{
	size_t i, oldest = PTC_SEGMENT_CODES_ALL;

	for (i = 0; i < c->n; i++)
		if (!c->codes[i]->users && c->codes[i] != kept &&
		    (oldest == PTC_SEGMENT_CODES_ALL || c->codes[i]->used < c->codes[oldest]->used))
			oldest = i;
	return oldest;
}

/* Returns false if all caches have users. */
static bool drop_oldest(struct ptc_segment_codes *c, const struct ptc_segment_code *kept)
{
	const size_t i = find_oldest(c, kept);

	if (i == PTC_SEGMENT_CODES_ALL)
		return false;
	code_free(c->codes[i]);
	c->codes[i] = c->codes[--c->n];
	return true;
}

static size_t total(const struct ptc_segment_codes *c)
{
	size_t i, bytes = 0;

	for (i = 0; i < c->n; i++)
		bytes += bytes_of(c->codes[i]);
	return bytes;
}

static struct ptc_segment_code *new_code(const struct ptc_segment_codes *c)
{
	struct ptc_segment_code *k = calloc(1, sizeof(*k));
	size_t i;

	if (!k)
		return NULL;
	if (!ptc_fast_code_init(&k->code) || !ptc_fast_chains_init(&k->chains)) {
		code_free(k);
		return NULL;
	}
	k->code.shared = c->users > 1;
	for (i = 0; i < c->n; i++)
		if (!c->codes[i]->code.halved)
			k->code.halved = c->halved;
	return k;
}

/* Creates a cache, and frees unused ones if there are too many or memory is short. */
static struct ptc_segment_code *create_code_cache(struct ptc_segment_codes *c,
						  const struct ptc_addrspace *as, int32_t pid)
{
	struct ptc_segment_code *k;

	if (c->n >= PTC_SEGMENT_CODES && !drop_oldest(c, NULL) && c->n == PTC_SEGMENT_CODES_ALL)
		return NULL;
	k = new_code(c);
	while (!k && drop_oldest(c, NULL))
		k = new_code(c);
	if (!k)
		return NULL;
	k->pid = pid;
	k->kernel = kernel_of(as);
	k->state = as->state;
	k->version = as->version;
	k->kernel_version = kernel_version(as);
	c->codes[c->n++] = k;
	return k;
}

static void clear_code_cache(struct ptc_segment_code *k)
{
	ptc_fast_code_forget(&k->code);
	ptc_fast_chains_forget(&k->chains);
	k->retired = false;
}

/* Applies the changes of @as since *@version to the cache. */
static void apply_code_changes(struct ptc_segment_code *k, const struct ptc_addrspace *as,
			       uint64_t *version)
{
	const struct ptc_change *change;

	while (*version != as->version) {
		change = ptc_addrspace_change(as, *version + 1);
		if (!change) {
			clear_code_cache(k);
			*version = as->version;
		} else if (ptc_fast_code_drop(&k->code, change->start, change->end)) {
			ptc_fast_chains_forget(&k->chains);
		}
		*version += change != NULL;
	}
}

static bool holds(const struct ptc_segment_user *u, const struct ptc_segment_code *k)
{
	size_t i;

	for (i = 0; i < u->nheld; i++)
		if (u->held[i] == k)
			return true;
	return false;
}

/*
 * Where states are not known: returns true if @u is the only user of @k and @k still matches its
 * code.
 */
static bool is_still_of(const struct ptc_segment_user *u, const struct ptc_segment_code *k,
			const struct ptc_addrspace *as, int32_t pid)
{
	return !as->state && !k->state && k->pid == pid && k->version == as->version &&
	       k->kernel == kernel_of(as) && k->kernel_version == kernel_version(as) &&
	       k->users == 1 && holds(u, k);
}

/* Returns a cache for exactly this code, which anyone may join. */
static struct ptc_segment_code *find_same(const struct ptc_segment_user *u,
					  const struct ptc_addrspace *as, int32_t pid)
{
	const struct ptc_segment_codes *c = u->codes;
	size_t i;

	for (i = 0; i < c->n; i++) {
		struct ptc_segment_code *k = c->codes[i];

		k->retired |= is_full(k);
		if (!k->retired && (is_of(k, as) || is_still_of(u, k, as, pid)))
			return k;
	}
	return NULL;
}

/* Returns the cache of a process whose code changes during the segment, if @u is its only user. */
static struct ptc_segment_code *find_own(const struct ptc_segment_user *u,
					 const struct ptc_addrspace *as, int32_t pid)
{
	size_t i;

	for (i = 0; i < u->nheld && !as->state; i++) {
		struct ptc_segment_code *k = u->held[i];

		if (!k->state && k->pid == pid && k->kernel == kernel_of(as) && k->users == 1)
			return k;
	}
	return NULL;
}

/*
 * Returns an unused cache that can be adapted: one for the same code with another kernel state, or
 * the newest one of @pid.
 */
static struct ptc_segment_code *find_like(const struct ptc_segment_codes *c,
					  const struct ptc_addrspace *as, int32_t pid)
{
	struct ptc_segment_code *k, *like = NULL;
	size_t i;

	for (i = 0; i < c->n; i++) {
		k = c->codes[i];
		if (k->kernel != kernel_of(as) || k->users)
			continue;
		if (as->state && k->state == as->state)
			return k;
		if (k->pid == pid && (!like || k->version > like->version))
			like = k;
	}
	return like;
}

/* Adapts @k, which nobody else uses, to the code of @as. */
static void become(struct ptc_segment_code *k, const struct ptc_addrspace *as, bool counts)
{
	if (!as->state || k->state != as->state)
		apply_code_changes(k, as, &k->version);
	k->state = as->state;
	if (as->kernel)
		apply_code_changes(k, as->kernel, &k->kernel_version);
	if (is_full(k))
		clear_code_cache(k);
	ptc_fast_chains_set_counts(&k->chains, counts);
}

/* The caller holds the lock. */
static struct ptc_segment_code *acquire_code_cache(struct ptc_segment_user *u,
						   const struct ptc_addrspace *as, int32_t pid)
{
	struct ptc_segment_codes *c = u->codes;
	struct ptc_segment_code *k = find_same(u, as, pid);
	bool own = false;

	if (!k) {
		k = find_own(u, as, pid);
		own = k;
	}
	if (!k)
		k = find_like(c, as, pid);
	if (!k)
		k = create_code_cache(c, as, pid);
	if (!k)
		return NULL;
	if (!k->users || own)
		become(k, as, u->counts);
	if (!holds(u, k)) {
		k->users++;
		u->held[u->nheld++] = k;
	}
	k->used = ++c->uses;
	while (total(c) > PTC_SEGMENT_CODE_BYTES && drop_oldest(c, k))
		;
	return k;
}

struct ptc_segment_code *ptc_segment_codes_use(struct ptc_segment_user *u,
					       const struct ptc_addrspace *as, int32_t pid,
					       bool begins)
{
	struct ptc_segment_code *k;

	/* Fast path: usually the cache that this thread already holds. */
	if (begins && u->nheld == 1 && is_of(u->held[0], as) && !is_full(u->held[0]))
		return u->held[0];
	(void)pthread_mutex_lock(&u->codes->lock);
	if (begins)
		leave(u);
	k = acquire_code_cache(u, as, pid);
	(void)pthread_mutex_unlock(&u->codes->lock);
	return k;
}

struct ptc_fast_hand *ptc_segment_code_hand(const struct ptc_segment_user *u,
					    struct ptc_segment_code *k,
					    const struct ptc_fast_source *source)
{
	struct ptc_fast_hand **hand = &k->hands[u->number];

	if (!*hand)
		*hand = ptc_fast_hand_new(&k->code, source);
	else
		(*hand)->source = *source;
	return *hand;
}

bool ptc_segment_codes_know(const struct ptc_segment_user *u, const struct ptc_addrspace *as,
			    int32_t pid, uint64_t start, uint64_t end)
{
	bool any = false;
	size_t i;

	for (i = 0; i < u->nheld; i++) {
		struct ptc_segment_code *k = u->held[i];

		if (k->kernel != kernel_of(as) ||
		    (k->pid != pid && !(as->state && k->state == as->state)))
			continue;
		any = true;
		if (ptc_fast_code_knows(&k->code, start, end))
			return true;
	}
	return !any;
}
