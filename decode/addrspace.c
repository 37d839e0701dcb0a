/* SPDX-License-Identifier: MIT */
#include "decode/addrspace.h"

#include <stdlib.h>
#include <string.h>

#include "decode/codefile.h"
#include "decode/grow.h"
#include "decode/ipt.h"
#include "decode/overlay.h"

void ptc_addrspace_release(struct ptc_addrspace *as)
{
	ptc_ipt_drop_images(as);
	ptc_overlay_put(as->overlay);
	as->overlay = NULL;
	free(as->ranges);
	as->ranges = NULL;
	as->n = as->cap = 0;
}

static void note_change(struct ptc_addrspace *as, uint64_t start, uint64_t end)
{
	as->version++;
	as->state = as->states ? ++*as->states : 0;
	as->changes[as->version % PTC_CHANGES] = (struct ptc_change){ as->version, start, end };
}

void ptc_addrspace_rename(struct ptc_addrspace *as)
{
	as->state = as->states ? ++*as->states : 0;
}

void ptc_addrspace_clear(struct ptc_addrspace *as)
{
	as->n = 0;
	ptc_overlay_put(as->overlay);
	as->overlay = NULL;
	note_change(as, 0, UINT64_MAX);
	as->layout++;
}

/* Index of the first range that ends behind @ip. */
static size_t lower(const struct ptc_addrspace *as, uint64_t ip)
{
	size_t lo = 0, hi = as->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (as->ranges[mid].end <= ip)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* An overlay of its own, to be changed. */
static bool own_overlay(struct ptc_addrspace *as)
{
	struct ptc_overlay *o;

	if (as->overlay && !ptc_overlay_shared(as->overlay))
		return true;
	if (as->overlay && as->copied) {
		*as->copied += ptc_overlay_size(as->overlay);
		if (*as->copied > PTC_OVERLAY_COPIES)
			return false;
	}
	o = as->overlay ? ptc_overlay_copy(as->overlay) : ptc_overlay_new();
	if (!o)
		return false;
	ptc_overlay_put(as->overlay);
	as->overlay = o;
	return true;
}

static bool drop_patches(struct ptc_addrspace *as, uint64_t start, uint64_t end)
{
	return !as->overlay || (own_overlay(as) && ptc_overlay_drop(as->overlay, start, end));
}

bool ptc_addrspace_patch(struct ptc_addrspace *as, uint64_t addr, const uint8_t *bytes, size_t len)
{
	uint64_t end;
	size_t i;

	if (__builtin_add_overflow(addr, len, &end))
		end = UINT64_MAX;
	if (!own_overlay(as) || !ptc_overlay_patch(as->overlay, addr, bytes, len))
		return false;
	note_change(as, addr, end);
	for (i = lower(as, addr); i < as->n && as->ranges[i].start < end; i++) {
		if (!as->ranges[i].patched)
			as->layout++;
		as->ranges[i].patched = true;
		if (as->ranges[i].file)
			as->ranges[i].file->saved = true;
	}
	return true;
}

bool ptc_addrspace_map(struct ptc_addrspace *as, uint64_t start, uint64_t len, uint64_t off,
		       struct ptc_codefile *file)
{
	struct ptc_range head, tail, *r;
	bool keep_head, keep_tail;
	uint64_t end;
	size_t i, j, put;

	if (__builtin_add_overflow(start, len, &end))
		end = UINT64_MAX;
	if (start >= end)
		return true;
	if (file)
		ptc_codefile_fill(file, off, end - start);
	if (!drop_patches(as, start, end) ||
	    !ptc_grow(&as->ranges, &as->cap, as->n + 2, sizeof(*as->ranges)))
		return false;
	r = as->ranges;
	i = lower(as, start);
	for (j = i; j < as->n && r[j].start < end; j++)
		;
	/* [i, j) overlap; what sticks out of the new range at either side stays. */
	keep_head = i < j && r[i].start < start;
	keep_tail = i < j && r[j - 1].end > end;
	if (keep_head) {
		head = r[i];
		head.end = start;
	}
	if (keep_tail) {
		tail = r[j - 1];
		tail.off += end - tail.start;
		tail.start = end;
	}
	put = i + keep_head + 1 + keep_tail;
	memmove(&r[put], &r[j], (as->n - j) * sizeof(*r));
	as->n = as->n - (j - i) + (put - i);
	if (keep_head)
		r[i++] = head;
	r[i++] = (struct ptc_range){ .start = start, .end = end, .off = off, .file = file };
	if (keep_tail)
		r[i] = tail;
	note_change(as, start, end);
	as->layout++;
	return true;
}

bool ptc_addrspace_copy(struct ptc_addrspace *as, const struct ptc_addrspace *from)
{
	if (as == from)
		return true;
	if (!ptc_grow(&as->ranges, &as->cap, from->n, sizeof(*as->ranges)))
		return false;
	if (from->n)
		memcpy(as->ranges, from->ranges, from->n * sizeof(*as->ranges));
	as->n = from->n;
	ptc_overlay_put(as->overlay);
	as->overlay = from->overlay ? ptc_overlay_get(from->overlay) : NULL;
	note_change(as, 0, UINT64_MAX);
	as->state = from->state;
	as->layout++;
	return true;
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

const struct ptc_range *ptc_addrspace_find(const struct ptc_addrspace *as, uint64_t ip)
{
	const size_t i = lower(as, ip);

	if (i < as->n && as->ranges[i].start <= ip)
		return &as->ranges[i];
	return as->kernel && is_kernel(ip) ? ptc_addrspace_find(as->kernel, ip) : NULL;
}

/* Bytes of the file from @ip on, inside the range, at most @len. */
static size_t in_range(const struct ptc_range *r, uint64_t ip, size_t len, const uint8_t **ret)
{
	const struct ptc_codefile *f = r->file;
	uint64_t off;

	if (!f || !f->bytes || __builtin_add_overflow(r->off, ip - r->start, &off) || off >= f->len)
		return 0;
	*ret = f->bytes + off;
	return ptc_codefile_has(f, off, len < r->end - ip ? len : r->end - ip);
}

/* What the files say. */
static size_t read_files(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len)
{
	size_t i = lower(as, ip), done = 0, n;
	const uint8_t *p;

	for (; done < len && i < as->n && as->ranges[i].start <= ip; i++) {
		n = in_range(&as->ranges[i], ip, len - done, &p);
		if (!n)
			break;
		memcpy(out + done, p, n);
		done += n;
		ip += n;
		if (ip != as->ranges[i].end)
			break;
	}
	return done;
}

static size_t read_own(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len)
{
	size_t done = 0, n;
	uint64_t hole;

	if (!as->overlay)
		return read_files(as, ip, out, len);
	while (done < len) {
		n = ptc_overlay_read(as->overlay, ip, out + done, len - done, &hole);
		if (!n)
			n = read_files(as, ip, out + done, hole < len - done ? hole : len - done);
		done += n;
		ip += n;
		if (!n || !ip) /* nothing there, or behind the last address */
			break;
	}
	return done;
}

size_t ptc_addrspace_read(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len)
{
	const size_t n = read_own(as, ip, out, len);

	return n || !as->kernel || !is_kernel(ip) ? n : read_own(as->kernel, ip, out, len);
}

bool ptc_addrspace_has(const struct ptc_addrspace *as, uint64_t ip)
{
	uint8_t byte;

	return ptc_addrspace_read(as, ip, &byte, 1) == 1;
}
