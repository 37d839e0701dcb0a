/* SPDX-License-Identifier: MIT */
/*
 * Description: the second engine's cache of code while the code changes: it equals a fresh cache,
 * and unchanged code is not decoded again.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/engine/code_cache.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "fewer.h"

enum { CODE = 3 * 4096, ROOM = 16 * 4096, BASE = 0x400000 };

struct world {
	struct ptc_codefiles files;
	struct ptc_codefile *file;
	struct ptc_addrspace as;
	struct ptc_segment_user user;
	uint8_t bytes[CODE];
	uint64_t seed;
};

static uint64_t number(struct world *w, uint64_t below)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (w->seed >> 33) % below;
}

/* Writes a nop; a jcc, jmp or call to a near place; a ret; a jmp *%rax; or no instruction. */
static void put_insn(struct world *w, size_t *at)
{
	static const uint8_t heads[] = {
		0x90, 0x90, 0x90, 0x90, 0x74, 0xeb, 0xe8, 0xc3, 0xff, 0x06
	};
	const uint8_t head = heads[number(w, sizeof(heads))];

	w->bytes[(*at)++] = head;
	if (head == 0x74 || head == 0xeb)
		w->bytes[(*at)++] = (uint8_t)number(w, 256);
	if (head == 0xff)
		w->bytes[(*at)++] = 0xe0;
	if (head == 0xe8) {
		const uint32_t rel = (uint32_t)(number(w, 8192) - 4096);

		memcpy(w->bytes + *at, &rel, sizeof(rel));
		*at += sizeof(rel);
	}
}

static void make(struct world *w, uint64_t seed)
{
	size_t at = 0;

	memset(w, 0, sizeof(*w));
	cr_assert(ptc_segment_user_init(&w->user));
	w->seed = seed;
	while (at < CODE - 8)
		put_insn(w, &at);
	w->file = ptc_codefiles_add_bytes(&w->files, "code", w->bytes, sizeof(w->bytes));
	cr_assert(w->file);
	cr_assert(ptc_addrspace_map(&w->as, BASE, CODE, 0, w->file));
}

static void end(struct world *w)
{
	ptc_segment_user_release(&w->user);
	ptc_addrspace_release(&w->as);
	ptc_codefiles_release(&w->files);
}

static size_t read_code(const void *as, uint64_t ip, uint8_t *out, size_t len)
{
	return ptc_addrspace_read(as, ip, out, len);
}

static struct ptc_segment_code *use_as(struct ptc_segment_user *u, const struct ptc_addrspace *as,
				       int32_t pid)
{
	struct ptc_segment_code *k = ptc_segment_codes_use(u, as, pid, true);

	cr_assert(k);
	cr_assert(ptc_segment_code_hand(u, k, &(struct ptc_fast_source){ read_code, as }));
	return k;
}

static struct ptc_segment_code *use(struct world *w, int32_t pid)
{
	return use_as(&w->user, &w->as, pid);
}

/* Uses the last hand. */
static enum ptc_fast_end build(struct ptc_fast_code *c, uint64_t ip)
{
	const uint32_t block = ptc_fast_code_find(c->hands, ip, PTC_MODE_64);

	cr_assert(block);
	return (enum ptc_fast_end)ptc_fast_code_get(c->hands, block)->end;
}

/* The built blocks, made with one hand, must equal those of @fresh, an empty cache. */
static void compare(struct ptc_fast_code *c, struct ptc_fast_code *fresh)
{
	uint32_t i;

	for (i = 1; i < c->hands->parts[PTC_FAST_LIST_BLOCKS].at; i++) {
		const struct ptc_fast_block *a = &c->blocks[i], *b;

		if (a->end == PTC_FAST_UNBUILT)
			continue;
		build(fresh, a->ip);
		b = &fresh->blocks[ptc_fast_code_find(fresh->hands, a->ip, PTC_MODE_64)];
		cr_assert(a->ninsns == b->ninsns && a->nrecs == b->nrecs && a->end == b->end &&
				  a->end_ip == b->end_ip && a->end_kind == b->end_kind &&
				  a->npushes == b->npushes,
			  "block at %lx", (unsigned long)a->ip);
		cr_assert(!memcmp(c->recs + a->recs, fresh->recs + b->recs,
				  a->nrecs * sizeof(*c->recs)));
	}
}

static void change(struct world *w)
{
	const uint64_t at = BASE + number(w, ROOM), len = 1 + number(w, number(w, 2) ? 8 : 6000);

	switch (number(w, 8)) {
	case 0:
		cr_assert(ptc_addrspace_map(&w->as, at, len, 0, NULL));
		break;
	case 1:
	case 2:
		cr_assert(ptc_addrspace_map(&w->as, at, len, number(w, CODE / 2), w->file));
		break;
	case 3:
		if (!number(w, 20))
			ptc_addrspace_clear(&w->as);
		cr_assert(ptc_addrspace_map(&w->as, BASE, CODE, 0, w->file));
		break;
	default:
		cr_assert(ptc_addrspace_patch(&w->as, at, w->bytes + number(w, 100),
					      len < 64 ? len : 64));
	}
}

Test(code_cache, after_any_changes_it_is_what_would_be_found_out_anew)
{
	struct ptc_fast_code fresh;
	struct ptc_segment_code *k;
	struct world w;
	uint64_t i, j;

	make(&w, 1);
	for (i = 0; i < FEWER(400, 150); i++) {
		for (j = number(&w, 2UL * PTC_CHANGES); i && j > 0; j = j > 3 ? 0 : j - 1)
			change(&w);
		for (j = 0; i % 50 == 7 && j <= PTC_CHANGES; j++) /* more than the history has */
			change(&w);
		k = use(&w, 7);
		cr_assert(ptc_fast_code_init(&fresh));
		cr_assert(ptc_fast_hand_new(&fresh, &(struct ptc_fast_source){ read_code, &w.as }));
		compare(&k->code, &fresh);
		ptc_fast_code_release(&fresh);
		for (j = 0; j < 100; j++)
			build(&k->code, BASE + number(&w, ROOM));
	}
	end(&w);
}

Test(code_cache, what_did_not_change_is_not_found_out_again)
{
	struct ptc_segment_code *k;
	struct world w;
	uint64_t built;

	make(&w, 2);
	memset(w.bytes, 0x90, sizeof(w.bytes));
	w.bytes[20] = w.bytes[4096 + 20] = 0xc3;
	k = use(&w, 7);
	build(&k->code, BASE);
	build(&k->code, BASE + 4096);
	built = ptc_fast_code_built(&k->code);
	cr_assert(ptc_addrspace_patch(&w.as, BASE + 21, w.bytes, 100));
	cr_assert(ptc_addrspace_map(&w.as, BASE + CODE, 4096, 0, w.file));
	k = use(&w, 7);
	build(&k->code, BASE);
	build(&k->code, BASE + 4096);
	cr_assert_eq(ptc_fast_code_built(&k->code), built);
	cr_assert(ptc_addrspace_patch(&w.as, BASE + 20, w.bytes, 1));
	k = use(&w, 7);
	build(&k->code, BASE);
	build(&k->code, BASE + 4096);
	cr_assert_eq(ptc_fast_code_built(&k->code), built + 1);
	end(&w);
}

Test(code_cache, code_that_was_missing_is_looked_for_when_something_is_mapped_there)
{
	struct ptc_segment_code *k;
	struct world w;

	make(&w, 3);
	memset(w.bytes, 0x90, sizeof(w.bytes));
	w.bytes[4] = 0xc3;
	k = use(&w, 7);
	cr_assert_eq(build(&k->code, BASE + CODE - 3), PTC_FAST_BAD);
	cr_assert(ptc_addrspace_map(&w.as, BASE + CODE, 100, 0, w.file));
	k = use(&w, 7);
	cr_assert_eq(build(&k->code, BASE + CODE - 3), PTC_FAST_RET);
	end(&w);
}

Test(code_cache, each_process_has_its_own_and_the_oldest_goes)
{
	struct ptc_segment_code *first;
	struct world w;
	uint64_t built;
	int32_t pid;

	make(&w, 4);
	first = use(&w, 1);
	build(&first->code, BASE);
	built = ptc_fast_code_built(&first->code);
	for (pid = 2; pid <= PTC_SEGMENT_CODES; pid++)
		cr_assert_neq(use(&w, pid), first);
	cr_assert_eq(use(&w, 1), first);
	cr_assert_eq(ptc_fast_code_built(&first->code), built);
	(void)use(&w, 100); /* the cache of 2 is freed */
	cr_assert_eq(w.user.codes->n, PTC_SEGMENT_CODES);
	cr_assert_eq(ptc_fast_code_built(&use(&w, 1)->code), built);
	cr_assert_eq(use(&w, 3)->pid, 3);
	cr_assert_eq(w.user.codes->n, PTC_SEGMENT_CODES);
	end(&w);
}

/* Changes the code of @as. */
static void patch(struct world *w, struct ptc_addrspace *as, uint64_t at)
{
	cr_assert(ptc_addrspace_patch(as, BASE + at, w->bytes + 100, 1));
}

static void make_states(struct world *w, uint64_t seed, uint64_t *states)
{
	make(w, seed);
	memset(w->bytes, 0x90, sizeof(w->bytes));
	w->bytes[20] = w->bytes[4096 + 20] = w->bytes[100] = 0xc3;
	w->as.states = states;
	patch(w, &w->as, 200);
	cr_assert(w->as.state);
}

Test(code_cache, those_of_one_state_have_the_same_and_nobody_takes_from_it)
{
	struct ptc_addrspace view = { .version = 0 };
	struct ptc_segment_user other;
	struct ptc_segment_code *k;
	uint64_t states = 0, built;
	struct world w;

	make_states(&w, 5, &states);
	ptc_segment_user_join(&other, &w.user);
	ptc_addrspace_copy(&view, &w.as);
	k = use(&w, 7);
	cr_assert(k->code.shared);
	build(&k->code, BASE);
	built = ptc_fast_code_built(&k->code);
	cr_assert_eq(use_as(&other, &view, 7), k);
	cr_assert_neq(k->hands[other.number], k->hands[w.user.number]);

	/*
	 * One user is ahead: the cache of the other stays as it is until the other gets there, too.
	 */
	patch(&w, &w.as, 4096 + 20);
	cr_assert_neq(use(&w, 7), k);
	cr_assert_eq(use_as(&other, &view, 7), k);
	cr_assert_eq(ptc_fast_code_built(&k->code), built);
	cr_assert_eq(build(&k->code, BASE + 4096), PTC_FAST_RET);
	ptc_addrspace_copy(&view, &w.as);
	cr_assert_eq(use_as(&other, &view, 7), use(&w, 7));

	/* The first cache has no user any more: the user that is ahead now takes and adapts it. */
	patch(&w, &w.as, 21);
	cr_assert_eq(use(&w, 7), k);
	cr_assert_eq(ptc_fast_code_built(&k->code), built + 1);
	ptc_addrspace_release(&view);
	ptc_segment_user_release(&other);
	end(&w);
}

Test(code_cache, what_a_piece_was_made_with_is_known_until_the_next_one)
{
	struct ptc_addrspace view = { .version = 0 };
	struct ptc_segment_code *k;
	uint64_t states = 0;
	struct world w;

	make_states(&w, 6, &states);
	ptc_addrspace_copy(&view, &w.as);
	patch(&w, &view, 300);
	cr_assert(ptc_segment_codes_know(&w.user, &w.as, 7, 0, 1), "nobody knows");
	k = use(&w, 7);
	build(&k->code, BASE);
	cr_assert(ptc_segment_codes_know(&w.user, &w.as, 7, BASE, BASE + 1));
	cr_assert_not(ptc_segment_codes_know(&w.user, &w.as, 7, BASE + 64, BASE + 65));
	/* Another turn in the same piece, and back. */
	cr_assert_neq(ptc_segment_codes_use(&w.user, &view, 8, false), k);
	cr_assert_eq(ptc_segment_codes_use(&w.user, &w.as, 7, false), k);
	cr_assert_eq(w.user.nheld, 2);
	cr_assert(ptc_segment_codes_know(&w.user, &w.as, 7, BASE, BASE + 1));
	/* The next piece belongs only to the other process. */
	cr_assert_neq(use_as(&w.user, &view, 8), k);
	cr_assert(ptc_segment_codes_know(&w.user, &w.as, 7, BASE + 64, BASE + 65), "nobody knows");
	ptc_addrspace_release(&view);
	end(&w);
}

Test(code_cache, a_full_one_is_left_by_all_and_begun_anew)
{
	struct ptc_addrspace view = { .version = 0 };
	struct ptc_segment_user other;
	struct ptc_segment_code *k, *next;
	uint64_t states = 0;
	struct world w;

	make_states(&w, 7, &states);
	ptc_segment_user_join(&other, &w.user);
	ptc_addrspace_copy(&view, &w.as);
	k = use(&w, 7);
	build(&k->code, BASE);
	*ptc_fast_tip(k->hands[w.user.number]->tips, BASE) = 1;
	cr_assert_eq(use_as(&other, &view, 7), k);
	k->code.full = true;
	next = use(&w, 7);
	cr_assert_neq(next, k, "somebody has it");
	cr_assert_gt(k->code.used[PTC_FAST_LIST_BLOCKS], 1);
	cr_assert_eq(use_as(&other, &view, 7), next);
	next->code.full = true;
	cr_assert_eq(use(&w, 7), k, "nobody has it");
	cr_assert_eq(k->code.used[PTC_FAST_LIST_BLOCKS], 1);
	cr_assert_eq(*ptc_fast_tip(k->hands[w.user.number]->tips, BASE), PTC_FAST_NONE);
	ptc_segment_user_release(&w.user);
	ptc_segment_user_release(&other);
	ptc_addrspace_release(&view);
	end(&w);
}
