/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format bin`: 16 bytes per branch, in the decoder's layout. Context shared by
 * branches, and all other items, are written as items after a marker unit that cannot be a branch.
 * The output depends only on the branches, not on how they were batched. All supported machines are
 * little-endian.
 */
#include "cli/decode/out_bin.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/common/cli.h"

/* COPIED: up to this size a run is copied instead of referenced. */
enum { HEAD_LEN = 64, BATCH = 256, COPIED = 1024 };

/* The type of a record of counts, which is no item (doc/format.md). */
enum { TYPE_COUNTS = 6 };

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the records are little-endian");
static_assert((int)PTC_BIN_COUNTS <= (int)BATCH,
	      "the branches of one record of counts fit a batch");
static_assert(PTC_BIN_PARTS <= IOV_MAX, "so many can be written at once");

struct record {
	uint64_t type;	/* type << 8; the kind field of a branch is 0 here */
	uint64_t units; /* number of 16-byte units after these two words */
	struct ptc_item item;
};

static_assert(sizeof(struct record) == 80 && PTC_KIND_NONE == 0, "doc/format.md says so");

static void write_out(struct ptc_bin_printer *p)
{
	struct ptc_err err;

	if (!p->failed &&
	    ptc_writev_all(STDOUT_FILENO, p->iov, (int)p->niov, "standard output", &err)) {
		(void)ptc_say_err(&err);
		p->failed = true;
	}
	p->niov = p->nbuf = 0;
	p->borrows = false;
}

static bool is_behind(const struct iovec *part, const uint8_t *bytes)
{
	return (const uint8_t *)part->iov_base + part->iov_len == bytes;
}

/* Append a reference to bytes that stay valid until they are written. */
static void put_there(struct ptc_bin_printer *p, const void *bytes, size_t n)
{
	if (p->niov && is_behind(&p->iov[p->niov - 1], bytes))
		p->iov[p->niov - 1].iov_len += n;
	else
		p->iov[p->niov++] = (struct iovec){ (void *)(uintptr_t)bytes, n };
}

static void put_bin_bytes(struct ptc_bin_printer *p, const void *bytes, size_t n)
{
	uint8_t *at;

	if (p->niov == PTC_BIN_PARTS || n > sizeof(p->buf) - p->nbuf)
		write_out(p);
	at = p->buf + p->nbuf;
	memcpy(at, bytes, n);
	p->nbuf += n;
	put_there(p, at, n);
}

/* Append a run. Its bytes are borrowed until the sink returns. */
static void put_run(struct ptc_bin_printer *p, const struct ptc_item *it)
{
	const size_t n = it->to * sizeof(struct ptc_transfer);

	if (n <= COPIED) {
		put_bin_bytes(p, ptc_item_transfers(it), n);
		return;
	}
	if (p->niov == PTC_BIN_PARTS)
		write_out(p);
	put_there(p, ptc_item_transfers(it), n);
	p->borrows = true;
}

void ptc_print_bin_begin(struct ptc_bin_printer *p, bool icount, bool head_too)
{
	char head[HEAD_LEN + 1];

	*p = (struct ptc_bin_printer){ .icount = icount };
	if (!head_too)
		return;
	/* Padded with blanks, which aligns the following data. */
	(void)snprintf(head, sizeof(head), "%-*s\n", HEAD_LEN - 1, "PTCAPDEC 2 16");
	put_bin_bytes(p, head, HEAD_LEN);
}

/* Write the counts of the branches since the last record of counts, filled up with zeros. */
static void put_counts(struct ptc_bin_printer *p)
{
	const size_t units = (p->ncounts + 3) / 4;
	const uint64_t head[2] = { (uint64_t)TYPE_COUNTS << 8, units };

	if (!p->ncounts)
		return;
	put_bin_bytes(p, head, sizeof(head));
	put_bin_bytes(p, p->counts, units * 16);
	memset(p->counts, 0, sizeof(p->counts));
	p->ncounts = 0;
}

bool ptc_print_bin_end(struct ptc_bin_printer *p)
{
	put_counts(p);
	write_out(p);
	return !p->failed;
}

static void put_record(struct ptc_bin_printer *p, const struct ptc_item *it)
{
	const struct record r = { (uint64_t)it->type << 8, sizeof(*it) / 16, *it };

	put_bin_bytes(p, &r, sizeof(r));
}

/* Returns the context of a branch: everything except its ends and kind. */
static const void *context_of(const struct ptc_item *it)
{
	return &it->time;
}

static_assert(offsetof(struct ptc_item, time) + sizeof(((struct ptc_bin_printer *)0)->context) ==
			      offsetof(struct ptc_item, type) &&
		      offsetof(struct ptc_item, pid) == offsetof(struct ptc_item, time) + 8 &&
		      offsetof(struct ptc_item, queue) == offsetof(struct ptc_item, time) + 20,
	      "a context is the words between an item's ends and its type");

/* Write a context record if the next branches, those of @it, have another context. */
static void come_to(struct ptc_bin_printer *p, const struct ptc_item *it)
{
	struct ptc_item context = { .type = PTC_ITEM_RUN };

	if (p->has_context && !memcmp(p->context, context_of(it), sizeof(p->context)))
		return;
	p->has_context = true;
	memcpy(p->context, context_of(it), sizeof(p->context));
	memcpy(&context.time, p->context, sizeof(p->context));
	put_record(p, &context);
}

static struct ptc_transfer transfer_of(const struct ptc_item *it)
{
	return (struct ptc_transfer){ it->from << 8 | it->kind, it->to };
}

/* Return whether the branch does not fit 16 bytes: a large address, flags, or no kind. */
static bool is_wide(const struct ptc_item *it)
{
	return ptc_transfer_from(transfer_of(it)) != it->from || !it->kind ||
	       it->flags & PTC_ITEM_TO_ZERO;
}

void ptc_print_bin_before(struct ptc_bin_printer *p, const struct ptc_item *items, size_t n)
{
	while (n--) {
		if (items[n].type != PTC_ITEM_RUN &&
		    (items[n].type != PTC_ITEM_BRANCH || is_wide(&items[n])))
			continue;
		p->has_context = true;
		memcpy(p->context, context_of(&items[n]), sizeof(p->context));
		return;
	}
}

/*
 * Write consecutive branches with the same context. The first of the @n items must be one. Returns
 * their number.
 */
static size_t put_transfers(struct ptc_bin_printer *p, const struct ptc_item *items, size_t n)
{
	const size_t most = p->icount ? PTC_BIN_COUNTS - p->ncounts : BATCH;
	struct ptc_transfer out[BATCH];
	size_t i;

	come_to(p, items);
	for (i = 0; i < n && i < most && items[i].type == PTC_ITEM_BRANCH && !is_wide(&items[i]) &&
		    !memcmp(p->context, context_of(&items[i]), sizeof(p->context));
	     i++) {
		out[i] = transfer_of(&items[i]);
		if (p->icount)
			p->counts[p->ncounts++] = items[i].insns;
	}
	put_bin_bytes(p, out, i * sizeof(*out));
	if (p->ncounts == PTC_BIN_COUNTS)
		put_counts(p);
	return i;
}

int ptc_print_bin(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_bin_printer *p = ctx;
	size_t i = 0;

	while (i < n) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_BRANCH && !is_wide(it)) {
			i += put_transfers(p, it, n - i);
			continue;
		}
		if (it->type == PTC_ITEM_RUN) {
			come_to(p, it);
			put_run(p, it);
		} else {
			put_counts(p); /* before a later item of the same thread */
			put_record(p, it);
		}
		i++;
	}
	if (p->borrows)
		write_out(p);
	return p->failed;
}
