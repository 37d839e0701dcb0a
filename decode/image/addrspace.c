/* SPDX-License-Identifier: MIT */
#include "decode/image/addrspace.h"

#include <stdlib.h>
#include <string.h>

#include "decode/image/codefile.h"
#include "decode/image/ipt_image.h"
#include "decode/image/used_pages.h"

void ptc_addrspace_release(struct ptc_addrspace *as)
{
	ptc_ipt_forget_images(as);
	ptc_ranges_release(&as->patches);
	ptc_ranges_release(&as->ranges);
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
	ptc_ranges_release(&as->ranges);
	ptc_ranges_release(&as->patches);
	note_change(as, 0, UINT64_MAX);
	as->layout++;
}

/* Mark the ranges in [start, end): their files alone do not give their code. */
static bool mark_patched(struct ptc_addrspace *as, uint64_t start, uint64_t end)
{
	const struct ptc_range *r;
	struct ptc_range marked;

	for (r = ptc_ranges_from(&as->ranges, start); r && r->start < end;
	     r = ptc_ranges_from(&as->ranges, marked.end)) {
		marked = *r;
		if (marked.file)
			marked.file->saved = true;
		if (marked.patched)
			continue;
		as->layout++;
		marked.patched = true;
		if (!ptc_ranges_put(&as->ranges, &marked))
			return false;
	}
	return true;
}

bool ptc_addrspace_patch(struct ptc_addrspace *as, uint64_t addr, const uint8_t *bytes, size_t len)
{
	struct ptc_range r = { .start = addr, .bytes = bytes };

	if (__builtin_add_overflow(addr, len, &r.end))
		r.end = UINT64_MAX;
	if (addr < r.end && !ptc_ranges_put(&as->patches, &r))
		return false;
	note_change(as, addr, r.end);
	return mark_patched(as, addr, r.end);
}

bool ptc_addrspace_map(struct ptc_addrspace *as, uint64_t start, uint64_t len, uint64_t off,
		       struct ptc_codefile *file)
{
	struct ptc_range r = { .start = start, .off = off, .file = file };

	if (__builtin_add_overflow(start, len, &r.end))
		r.end = UINT64_MAX;
	if (start >= r.end)
		return true;
	if (file)
		ptc_codefile_fill(file, off, r.end - start);
	if (!ptc_ranges_drop(&as->patches, start, r.end) || !ptc_ranges_put(&as->ranges, &r))
		return false;
	note_change(as, start, r.end);
	as->layout++;
	return true;
}

void ptc_addrspace_copy(struct ptc_addrspace *as, const struct ptc_addrspace *from)
{
	if (as == from)
		return;
	ptc_ranges_release(&as->ranges);
	ptc_ranges_release(&as->patches);
	ptc_ranges_copy(&as->ranges, &from->ranges);
	ptc_ranges_copy(&as->patches, &from->patches);
	note_change(as, 0, UINT64_MAX);
	as->state = from->state;
	as->layout++;
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

const struct ptc_range *ptc_addrspace_find(const struct ptc_addrspace *as, uint64_t ip)
{
	const struct ptc_range *r = ptc_ranges_from(&as->ranges, ip);

	if (r && r->start <= ip)
		return r;
	return as->kernel && is_kernel(ip) ? ptc_addrspace_find(as->kernel, ip) : NULL;
}

/* Set *@ret to the file's bytes at @ip. Returns how many there are in the range, at most @len. */
static size_t in_range(const struct ptc_range *r, uint64_t ip, size_t len, const uint8_t **ret)
{
	const struct ptc_codefile *f = r->file;
	uint64_t off;

	if (!f || !f->bytes || __builtin_add_overflow(r->off, ip - r->start, &off) || off >= f->len)
		return 0;
	*ret = f->bytes + off;
	return ptc_codefile_has(f, off, len < r->end - ip ? len : r->end - ip);
}

/* Read from the files, without patches. */
static size_t read_files(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len)
{
	const struct ptc_range *r;
	const uint8_t *p;
	size_t done = 0, n;

	while (done < len) {
		r = ptc_ranges_from(&as->ranges, ip);
		if (!r || r->start > ip)
			break;
		n = in_range(r, ip, len - done, &p);
		if (!n)
			break;
		memcpy(out + done, p, n);
		if (r->file->used_pages)
			ptc_used_pages_note(r->file, r->off + (ip - r->start), n);
		done += n;
		ip += n;
		if (ip != r->end)
			break;
	}
	return done;
}

static size_t read_own(const struct ptc_addrspace *as, uint64_t ip, uint8_t *out, size_t len)
{
	const struct ptc_range *r;
	size_t done = 0, n;

	if (!as->patches.root)
		return read_files(as, ip, out, len);
	while (done < len) {
		r = ptc_ranges_from(&as->patches, ip);
		n = len - done;
		if (r && r->start <= ip) {
			n = r->end - ip < n ? (size_t)(r->end - ip) : n;
			memcpy(out + done, r->bytes + r->off + (ip - r->start), n);
		} else {
			if (r && r->start - ip < n)
				n = (size_t)(r->start - ip);
			n = read_files(as, ip, out + done, n);
		}
		done += n;
		ip += n;
		if (!n || !ip) /* no code, or past the last address */
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
