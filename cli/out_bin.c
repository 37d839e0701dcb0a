/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format bin`: 16 bytes a transfer, as the decoder has them. What transfers have in
 * common, and all that is none, is an item with a unit in front of it that no transfer is. What is
 * written follows from the transfers alone, not from how they come together. Every machine that
 * ptcap runs on is little-endian.
 */
#include "out_bin.h"

#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli.h"

/* COPIED: bytes of a run that are not worth a part of their own. */
enum { HEAD_LEN = 64, BATCH = 256, COPIED = 1024 };

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the records are little-endian");
static_assert(PTC_BIN_PARTS <= IOV_MAX, "so many can be written at once");

struct record {
	uint64_t type;	/* << 8: where a transfer has its kind there is none */
	uint64_t units; /* behind these two words, of 16 bytes */
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

/* They stay where they are until they are written. */
static void put_there(struct ptc_bin_printer *p, const void *bytes, size_t n)
{
	if (p->niov && is_behind(&p->iov[p->niov - 1], bytes))
		p->iov[p->niov - 1].iov_len += n;
	else
		p->iov[p->niov++] = (struct iovec){ (void *)(uintptr_t)bytes, n };
}

static void put(struct ptc_bin_printer *p, const void *bytes, size_t n)
{
	uint8_t *at;

	if (p->niov == PTC_BIN_PARTS || n > sizeof(p->buf) - p->nbuf)
		write_out(p);
	at = p->buf + p->nbuf;
	memcpy(at, bytes, n);
	p->nbuf += n;
	put_there(p, at, n);
}

/* It is the sink's until it returns. */
static void put_run(struct ptc_bin_printer *p, const struct ptc_item *it)
{
	const size_t n = it->to * sizeof(struct ptc_transfer);

	if (n <= COPIED) {
		put(p, ptc_item_transfers(it), n);
		return;
	}
	if (p->niov == PTC_BIN_PARTS)
		write_out(p);
	put_there(p, ptc_item_transfers(it), n);
	p->borrows = true;
}

void ptc_print_bin_begin(struct ptc_bin_printer *p)
{
	char head[HEAD_LEN + 1];

	*p = (struct ptc_bin_printer){ .failed = false };
	/* Padded with blanks; what is behind it is aligned, then. */
	(void)snprintf(head, sizeof(head), "%-*s\n", HEAD_LEN - 1, "PTCAPDEC 2 16");
	put(p, head, HEAD_LEN);
}

bool ptc_print_bin_end(struct ptc_bin_printer *p)
{
	write_out(p);
	return !p->failed;
}

static void put_record(struct ptc_bin_printer *p, const struct ptc_item *it)
{
	const struct record r = { (uint64_t)it->type << 8, sizeof(*it) / 16, *it };

	put(p, &r, sizeof(r));
}

/* What is known of a transfer beside its ends and its kind. */
static const void *context_of(const struct ptc_item *it)
{
	return &it->time;
}

static_assert(offsetof(struct ptc_item, time) + sizeof(((struct ptc_bin_printer *)0)->context) ==
			      offsetof(struct ptc_item, type) &&
		      offsetof(struct ptc_item, pid) == offsetof(struct ptc_item, time) + 8 &&
		      offsetof(struct ptc_item, queue) == offsetof(struct ptc_item, time) + 20,
	      "a context is the words between an item's ends and its type");

/* The transfers behind it are @it's thread's. */
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

/* Is its address too large for that, or has it flags, or no kind, by which it would be no transfer?
 */
static bool is_wide(const struct ptc_item *it)
{
	return ptc_transfer_from(transfer_of(it)) != it->from || !it->kind || it->flags;
}

/* How many of the @n items, the first of which is one, are transfers with nothing between them. */
static size_t put_transfers(struct ptc_bin_printer *p, const struct ptc_item *items, size_t n)
{
	struct ptc_transfer out[BATCH];
	size_t i;

	come_to(p, items);
	for (i = 0; i < n && i < BATCH && items[i].type == PTC_ITEM_BRANCH && !is_wide(&items[i]) &&
		    !memcmp(p->context, context_of(&items[i]), sizeof(p->context));
	     i++)
		out[i] = transfer_of(&items[i]);
	put(p, out, i * sizeof(*out));
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
			put_record(p, it);
		}
		i++;
	}
	if (p->borrows)
		write_out(p);
	return p->failed;
}
