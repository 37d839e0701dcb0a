/* SPDX-License-Identifier: MIT */
#include "capture/step/insn_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { SLOTS = 1 << 15 };

struct ptc_code_slot {
	uint64_t ip;
	uint32_t generation; /* 0: never filled */
	struct ptc_insn insn;
};

bool ptc_code_init(struct ptc_code *c)
{
	c->slots = calloc(SLOTS, sizeof(*c->slots));
	c->generation = 1;
	return c->slots != NULL;
}

void ptc_code_release(struct ptc_code *c)
{
	free(c->slots);
	c->slots = NULL;
	ptc_saved_release(&c->saved);
}

void ptc_code_flush(struct ptc_code *c)
{
	ptc_saved_flush(&c->saved);
	c->generation++;
	if (!c->generation) { /* wrapped: old slots would look valid */
		memset(c->slots, 0, SLOTS * sizeof(*c->slots));
		c->generation = 1;
	}
}

/* Reads words through ptrace: this also works for mappings without PROT_READ. */
static size_t peek(pid_t tid, uint64_t addr, uint8_t *out, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const uint64_t word_addr = (addr + done) & ~7ull;
		const size_t skip = (size_t)(addr + done - word_addr);
		size_t n = 8 - skip;
		uint8_t word[8];
		long v;

		errno = 0;
		v = ptrace(PTRACE_PEEKTEXT, tid, (void *)word_addr, NULL);
		if (v == -1 && errno)
			break;
		memcpy(word, &v, sizeof(word));
		if (n > len - done)
			n = len - done;
		memcpy(out + done, word + skip, n);
		done += n;
	}
	return done;
}

size_t ptc_code_read(pid_t tid, uint64_t addr, uint8_t *out, size_t len)
{
	struct iovec local = { .iov_base = out, .iov_len = len };
	struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };
	ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	if (n == (ssize_t)len)
		return len;
	return peek(tid, addr, out, len);
}

static size_t to_page_end(uint64_t addr)
{
	return PTC_SAVED_PAGE - (size_t)(addr % PTC_SAVED_PAGE);
}

/*
 * Decodes the instruction at @ip. Returns the number of bytes read into @bytes: those of the next
 * page only if the instruction needs them.
 */
static size_t classify(pid_t tid, uint64_t ip, uint8_t bytes[PTC_INSN_MAX], struct ptc_insn *ret)
{
	const size_t here = to_page_end(ip);
	size_t n = ptc_code_read(tid, ip, bytes, here < PTC_INSN_MAX ? here : PTC_INSN_MAX);
	enum ptc_insn_status st = ptc_insn_decode(PTC_MODE_64, bytes, n, ip, ret);

	if (st == PTC_INSN_SHORT) { /* the rest is in the next page, which may be unmapped */
		n = ptc_code_read(tid, ip, bytes, PTC_INSN_MAX);
		st = ptc_insn_decode(PTC_MODE_64, bytes, n, ip, ret);
	}
	if (st != PTC_INSN_OK)
		*ret = (struct ptc_insn){ .kind = PTC_KIND_NONE, .cond = PTC_COND_NONE };
	return n;
}

static struct ptc_code_slot *find_code_slot(const struct ptc_code *c, uint64_t ip)
{
	return &c->slots[(ip ^ ip >> 15) % SLOTS];
}

const struct ptc_insn *ptc_code_at(struct ptc_code *c, pid_t tid, uint64_t ip)
{
	const struct ptc_code_slot *slot = find_code_slot(c, ip);
	uint8_t bytes[PTC_INSN_MAX];

	if (slot->ip == ip && slot->generation == c->generation)
		return &slot->insn;
	(void)classify(tid, ip, bytes, &c->scratch);
	return &c->scratch;
}

/*
 * Returns true if code in @map can change without a system call of the program. The file of a
 * private mapping may be written by other processes. Files without a name, such as a memfd, are
 * often used in this way.
 */
static bool may_change(const struct ptc_maps *maps, const struct ptc_map *map)
{
	static const char deleted[] = " (deleted)";
	const char *name = ptc_map_name(maps, map);
	const size_t len = strlen(name), tail = sizeof(deleted) - 1;

	return (map->prot & PROT_WRITE) || (map->flags & MAP_SHARED) ||
	       (len > tail && !strcmp(name + len - tail, deleted));
}

/*
 * Saves the page of @addr if the recording lacks it. *@ret_lasts becomes false if its code may
 * change before the next flush.
 */
static bool save_page_if_unknown(struct ptc_code *c, const struct ptc_maps *maps, uint64_t addr,
				 const struct ptc_saved_io *io, bool *ret_lasts)
{
	const struct ptc_map *map = ptc_maps_find(maps, addr);
	bool watch;

	if (!map || !(map->prot & PROT_EXEC)) {
		*ret_lasts = false;
		return true;
	}
	watch = may_change(maps, map);
	if (watch)
		*ret_lasts = false;
	return ptc_saved_look(&c->saved, io, addr, watch);
}

const struct ptc_insn *ptc_code_fetch(struct ptc_code *c, const struct ptc_maps *maps, pid_t tid,
				      uint64_t ip, const struct ptc_saved_io *io)
{
	struct ptc_code_slot *slot = find_code_slot(c, ip);
	const size_t here = to_page_end(ip);
	uint8_t bytes[PTC_INSN_MAX];
	bool lasts = true, ok;
	size_t n;

	if (slot->ip == ip && slot->generation == c->generation)
		return &slot->insn;
	slot->generation = 0;
	slot->ip = ip;
	ok = save_page_if_unknown(c, maps, ip, io, &lasts);
	n = classify(tid, ip, bytes, &slot->insn);
	if (ok && n > here)
		ok = save_page_if_unknown(c, maps, ip + here, io, &lasts);
	if (ok && !lasts)
		ok = ptc_saved_check(&c->saved, io, ip, bytes, n < here ? n : here) &&
		     (n <= here ||
		      ptc_saved_check(&c->saved, io, ip + here, bytes + here, n - here));
	if (lasts && slot->insn.len)
		slot->generation = c->generation;
	return ok ? &slot->insn : NULL;
}
