/* SPDX-License-Identifier: MIT */
#include "capture/step/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum { SLOTS = 1 << 15, PAGE = 4096 };

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
}

void ptc_code_flush(struct ptc_code *c)
{
	c->generation++;
	if (!c->generation) { /* wrapped: old slots would look valid */
		memset(c->slots, 0, SLOTS * sizeof(*c->slots));
		c->generation = 1;
	}
}

/* Words through ptrace: also from mappings without PROT_READ. */
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

static void classify(pid_t tid, uint64_t ip, struct ptc_insn *ret)
{
	uint8_t bytes[PTC_INSN_MAX];
	const size_t to_page_end = PAGE - (size_t)(ip % PAGE);
	size_t n = ptc_code_read(tid, ip, bytes,
				 to_page_end < sizeof(bytes) ? to_page_end : sizeof(bytes));
	enum ptc_insn_status st = ptc_insn_decode(PTC_MODE_64, bytes, n, ip, ret);

	if (st == PTC_INSN_SHORT) { /* it crosses into the next page, which may not be there */
		n = ptc_code_read(tid, ip, bytes, sizeof(bytes));
		st = ptc_insn_decode(PTC_MODE_64, bytes, n, ip, ret);
	}
	if (st != PTC_INSN_OK)
		*ret = (struct ptc_insn){ .kind = PTC_KIND_NONE, .cond = PTC_COND_NONE };
}

const struct ptc_insn *ptc_code_at(struct ptc_code *c, const struct ptc_maps *maps, pid_t tid,
				   uint64_t ip)
{
	struct ptc_code_slot *slot = &c->slots[(ip ^ ip >> 15) % SLOTS];
	const struct ptc_map *map;

	if (slot->ip == ip && slot->generation == c->generation)
		return &slot->insn;
	classify(tid, ip, &slot->insn);
	slot->ip = ip;
	map = ptc_maps_find(maps, ip);
	slot->generation = map && !(map->prot & PROT_WRITE) && slot->insn.len ? c->generation : 0;
	return &slot->insn;
}
