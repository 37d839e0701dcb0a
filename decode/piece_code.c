/* SPDX-License-Identifier: MIT */
#include "decode/piece_code.h"

#include <stdlib.h>

#include "decode/addrspace.h"

static size_t read_code(const void *as, uint64_t ip, uint8_t *out, size_t len)
{
	return ptc_addrspace_read(as, ip, out, len);
}

static void code_free(struct ptc_piece_code *k)
{
	ptc_fast_chains_release(&k->chains);
	ptc_fast_code_release(&k->code);
	free(k);
}

void ptc_piece_codes_release(struct ptc_piece_codes *c)
{
	while (c->n)
		code_free(c->codes[--c->n]);
}

static uint64_t kernel_version(const struct ptc_addrspace *as)
{
	return as->kernel ? as->kernel->version : 0;
}

static enum ptc_piece_kernel kernel_of(const struct ptc_addrspace *as)
{
	if (!as->kernel)
		return PTC_PIECE_NO_KERNEL;
	return as->kernel->view ? PTC_PIECE_KERNEL_VIEW : PTC_PIECE_KERNEL_NOW;
}

/* Whoever has the same code, or else the one of @pid. */
static struct ptc_piece_code *find(const struct ptc_piece_codes *c, const struct ptc_addrspace *as,
				   int32_t pid)
{
	struct ptc_piece_code *k, *of = NULL;
	size_t i;

	for (i = 0; i < c->n; i++) {
		k = c->codes[i];
		if (k->kernel != kernel_of(as))
			continue;
		if (as->state && k->state == as->state)
			return k;
		if (k->pid == pid)
			of = k;
	}
	return of;
}

/* The one that was not used for longest, other than @k, goes. */
static void drop_oldest(struct ptc_piece_codes *c, const struct ptc_piece_code *k)
{
	size_t i, oldest = c->codes[0] == k;

	for (i = oldest + 1; i < c->n; i++)
		if (c->codes[i] != k && c->codes[i]->used < c->codes[oldest]->used)
			oldest = i;
	code_free(c->codes[oldest]);
	c->codes[oldest] = c->codes[--c->n];
}

static struct ptc_piece_code *add(struct ptc_piece_codes *c, const struct ptc_addrspace *as,
				  int32_t pid)
{
	struct ptc_piece_code *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	if (!ptc_fast_code_init(&k->code, read_code, as) || !ptc_fast_chains_init(&k->chains)) {
		code_free(k);
		return NULL;
	}
	if (c->n == PTC_PIECE_CODES)
		drop_oldest(c, NULL);
	k->code.halved = c->halved;
	k->pid = pid;
	k->kernel = kernel_of(as);
	k->state = as->state;
	k->version = as->version;
	k->kernel_version = kernel_version(as);
	c->codes[c->n++] = k;
	return k;
}

static void limit(struct ptc_piece_codes *c, const struct ptc_piece_code *k)
{
	size_t i, bytes;

	for (;; drop_oldest(c, k)) {
		for (i = bytes = 0; i < c->n; i++)
			bytes += ptc_fast_code_bytes(&c->codes[i]->code) +
				 ptc_fast_chains_bytes(&c->codes[i]->chains);
		if (bytes <= PTC_PIECE_CODE_BYTES >> c->halved || c->n == 1)
			return;
	}
}

static void forget(struct ptc_piece_code *k)
{
	ptc_fast_code_forget(&k->code);
	ptc_fast_chains_forget(&k->chains);
}

/* What @as has become since *@version. */
static void follow(struct ptc_piece_code *k, const struct ptc_addrspace *as, uint64_t *version)
{
	const struct ptc_change *change;

	while (*version != as->version) {
		change = ptc_addrspace_change(as, *version + 1);
		if (!change) {
			forget(k);
			*version = as->version;
		} else if (ptc_fast_code_drop(&k->code, change->start, change->end)) {
			ptc_fast_chains_forget(&k->chains);
		}
		*version += change != NULL;
	}
}

struct ptc_piece_code *ptc_piece_codes_use(struct ptc_piece_codes *c,
					   const struct ptc_addrspace *as, int32_t pid)
{
	struct ptc_piece_code *k = find(c, as, pid);

	if (!k)
		k = add(c, as, pid);
	if (!k)
		return NULL;
	k->used = ++c->uses;
	k->code.ctx = as;
	k->code.halved = c->halved;
	if (!as->state || k->state != as->state)
		follow(k, as, &k->version);
	k->state = as->state;
	if (as->kernel)
		follow(k, as->kernel, &k->kernel_version);
	if (ptc_fast_code_is_full(&k->code))
		forget(k);
	limit(c, k);
	return k;
}

bool ptc_piece_codes_know(const struct ptc_piece_codes *c, const struct ptc_addrspace *as,
			  int32_t pid, uint64_t start, uint64_t end)
{
	struct ptc_piece_code *k = find(c, as, pid);

	return !k || ptc_fast_code_knows(&k->code, start, end);
}
