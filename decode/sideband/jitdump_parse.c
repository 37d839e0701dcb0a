/* SPDX-License-Identifier: MIT */
#include "decode/sideband/jitdump_parse.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"

enum {
	MAGIC = 0x4a695444, /* in the byte order of the writer */
	HEAD_SIZE = 40,
	FLAG_TSC = 1,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_CLOSE = 3,
	PREFIX_SIZE = 16,
};

int ptc_jit_begin(struct ptc_jit_iter *it, const void *bytes, size_t len, struct ptc_jit_head *ret,
		  struct ptc_err *err)
{
	uint32_t magic, version, size, machine, pad;
	uint64_t time, flags;

	memset(it, 0, sizeof(*it));
	it->rest = ptc_cur_init(bytes, len);
	it->len = len;
	if (len >= sizeof(magic) && ptc_le32(bytes) != MAGIC)
		return ptc_fail(err, PTC_E_FORMAT, "it is no jitdump");
	if (!ptc_cur_le32(&it->rest, &magic) || !ptc_cur_le32(&it->rest, &version) ||
	    !ptc_cur_le32(&it->rest, &size) || !ptc_cur_le32(&it->rest, &machine) ||
	    !ptc_cur_le32(&it->rest, &pad) || !ptc_cur_le32(&it->rest, &ret->pid) ||
	    !ptc_cur_le64(&it->rest, &time) || !ptc_cur_le64(&it->rest, &flags))
		return ptc_fail(err, PTC_E_FORMAT,
				"it ends within its header, as one that is being written does");
	if (version != 1 || machine != EM_X86_64 || flags & ~(uint64_t)FLAG_TSC)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"it is a jitdump of version %u, for machine %u, with flags 0x%llx",
				version, machine, (unsigned long long)flags);
	if (size < HEAD_SIZE || !ptc_cur_skip(&it->rest, size - HEAD_SIZE))
		return ptc_fail(err, PTC_E_FORMAT, "its header says it has %u bytes", size);
	ret->tsc = flags & FLAG_TSC;
	return 0;
}

void ptc_jit_end(struct ptc_jit_iter *it)
{
	free(it->known);
	it->known = NULL;
	it->nknown = it->known_cap = 0;
}

static size_t known_at(const struct ptc_jit_iter *it, uint64_t index)
{
	return PTC_PARTITION_POINT(i, 0, it->nknown, it->known[i].index < index);
}

/* Indexes come in order, so this appends. Hostile input may do otherwise, at a bounded cost. */
static bool know(struct ptc_jit_iter *it, const struct ptc_jit_known *k)
{
	const size_t i = known_at(it, k->index);

	if (i < it->nknown && it->known[i].index == k->index) {
		it->known[i] = *k;
		return true;
	}
	if (i + 4096 < it->nknown)
		return true; /* far out of order: it cannot be moved later */
	if (!ptc_grow(&it->known, &it->known_cap, it->nknown + 1, sizeof(*it->known)))
		return false;
	memmove(&it->known[i + 1], &it->known[i], (it->nknown - i) * sizeof(*it->known));
	it->known[i] = *k;
	it->nknown++;
	return true;
}

static int bad(const struct ptc_jit_iter *it, const struct ptc_cur *at, struct ptc_err *err)
{
	return ptc_fail_at(err, PTC_E_FORMAT, it->len - ptc_cur_left(at),
			   "a record of the jitdump is damaged");
}

/* The rest is less than a record: the writer is still writing, or was killed. */
static int ends_early(const struct ptc_jit_iter *it, const struct ptc_cur *at, struct ptc_err *err)
{
	return ptc_fail_at(err, PTC_E_FORMAT, it->len - ptc_cur_left(at),
			   "it ends within a record, as one that is being written does");
}

/* Fields: pid, tid, vma, address, size, index, the name and its NUL, the code. */
static int take_load(struct ptc_jit_iter *it, struct ptc_cur body, struct ptc_jit_code *ret,
		     struct ptc_err *err)
{
	const struct ptc_cur start = body;
	struct ptc_jit_known k;
	uint64_t vma;
	size_t n;

	if (!ptc_cur_skip(&body, 8) || !ptc_cur_le64(&body, &vma) ||
	    !ptc_cur_le64(&body, &ret->addr) || !ptc_cur_le64(&body, &k.size) ||
	    !ptc_cur_le64(&body, &k.index))
		return bad(it, &start, err);
	k.name = (const char *)body.pos;
	n = strnlen(k.name, ptc_cur_left(&body));
	if (!ptc_cur_skip(&body, n + 1) || k.size > ptc_cur_left(&body))
		return bad(it, &start, err);
	k.code = body.pos;
	ret->name = k.name;
	ret->code = ptc_cur_init(k.code, (size_t)k.size);
	return know(it, &k) ? 1 : ptc_fail_mem(err);
}

/* Fields: pid, tid, vma, old address, new address, size, index. Returns 0 for unknown code. */
static int take_move(struct ptc_jit_iter *it, struct ptc_cur body, struct ptc_jit_code *ret,
		     struct ptc_err *err)
{
	const struct ptc_cur start = body;
	uint64_t vma, old, size, index;
	size_t i;

	if (!ptc_cur_skip(&body, 8) || !ptc_cur_le64(&body, &vma) || !ptc_cur_le64(&body, &old) ||
	    !ptc_cur_le64(&body, &ret->addr) || !ptc_cur_le64(&body, &size) ||
	    !ptc_cur_le64(&body, &index))
		return bad(it, &start, err);
	i = known_at(it, index);
	if (i == it->nknown || it->known[i].index != index)
		return 0;
	if (size > it->known[i].size)
		size = it->known[i].size;
	ret->name = it->known[i].name;
	ret->code = ptc_cur_init(it->known[i].code, (size_t)size);
	return 1;
}

int ptc_jit_next(struct ptc_jit_iter *it, struct ptc_jit_code *ret, struct ptc_err *err)
{
	struct ptc_cur body, start;
	uint32_t id, size;
	int r;

	for (;;) {
		start = it->rest;
		if (!ptc_cur_left(&it->rest))
			return 0;
		if (!ptc_cur_le32(&it->rest, &id) || !ptc_cur_le32(&it->rest, &size) ||
		    !ptc_cur_le64(&it->rest, &ret->time))
			return ends_early(it, &start, err);
		if (size < PREFIX_SIZE)
			return bad(it, &start, err);
		if (!ptc_cur_sub(&it->rest, size - PREFIX_SIZE, &body))
			return ends_early(it, &start, err);
		if (id == CODE_CLOSE)
			return 0;
		r = id == CODE_LOAD ? take_load(it, body, ret, err) :
		    id == CODE_MOVE ? take_move(it, body, ret, err) :
				      0;
		if (r)
			return r;
	}
}

bool ptc_jit_path(const char *path, uint32_t *ret)
{
	const char *base = strrchr(path, '/');
	unsigned long long v;
	char *end;

	if (!base || strncmp(base, "/jit-", 5) != 0 || !strchr("0123456789", base[5]) || !base[5])
		return false;
	v = strtoull(base + 5, &end, 10);
	if (v > INT32_MAX || strcmp(end, ".dump") != 0)
		return false;
	*ret = (uint32_t)v;
	return true;
}
