/* SPDX-License-Identifier: MIT */
/* Description: the kind of an instruction is read once as long as the code stays the same. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/items/insn_cache.h"

static struct ptc_insn_cache *new_kinds(void)
{
	struct ptc_insn_cache *k = calloc(1, sizeof(*k));

	cr_assert(k);
	ptc_insn_cache_init(k);
	return k;
}

enum { PAGE = 1 << PTC_INSN_CACHE_PAGE_BITS, SLOTS = 1 << 15 };

static const uint8_t ret[] = { 0xc3 }, jmp[] = { 0xeb, 0x00 };

static void expect(struct ptc_insn_cache *k, uint64_t ip, uint8_t kind, uint8_t len)
{
	const struct ptc_kind_len e = ptc_insn_cache_at(k, ip, PTC_MODE_64);

	cr_assert(e.kind == kind && e.len == len, "%llx", (unsigned long long)ip);
}

Test(insn_cache, what_was_read_is_known_until_the_code_changes)
{
	struct ptc_addrspace as = { .version = 0 }, other = { .version = 0 };
	struct ptc_insn_cache *k = new_kinds();

	cr_assert(ptc_addrspace_patch(&as, 0x1000, ret, sizeof(ret)));
	cr_assert(ptc_addrspace_patch(&other, 0x1000, jmp, sizeof(jmp)));
	ptc_insn_cache_set_code(k, &as);
	expect(k, 0x1000, PTC_KIND_RET, 1);
	expect(k, 0x1fff, PTC_KIND_NONE, 0);
	k->as = &other; /* without a call of ptc_insn_cache_set_code() */
	expect(k, 0x1000, PTC_KIND_RET, 1);
	ptc_insn_cache_set_code(k, &other);
	expect(k, 0x1000, PTC_KIND_JMP, 2);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	ptc_addrspace_release(&other);
	free(k);
}

Test(insn_cache, what_is_known_of_a_view_is_kept)
{
	struct ptc_addrspace as = { .view = 7 }, copy = { .view = 7 }, other = { .view = 8 };
	struct ptc_insn_cache *k = new_kinds();

	cr_assert(ptc_addrspace_patch(&as, 0x1000, ret, sizeof(ret)));
	cr_assert(ptc_addrspace_patch(&other, 0x1000, jmp, sizeof(jmp)));
	ptc_insn_cache_set_code(k, &as);
	expect(k, 0x1000, PTC_KIND_RET, 1);
	ptc_insn_cache_set_code(k, &copy);
	expect(k, 0x1000, PTC_KIND_RET, 1);
	ptc_insn_cache_set_code(k, &other);
	expect(k, 0x1000, PTC_KIND_JMP, 2);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	ptc_addrspace_release(&other);
	free(k);
}

Test(insn_cache, pages_that_want_one_slot_have_two)
{
	const uint64_t far = 0x1000 + (uint64_t)SLOTS * PAGE;
	struct ptc_addrspace as = { .version = 0 }, none = { .version = 0 };
	struct ptc_insn_cache *k = new_kinds();

	cr_assert(ptc_addrspace_patch(&as, 0x1000, ret, sizeof(ret)));
	cr_assert(ptc_addrspace_patch(&as, far, jmp, sizeof(jmp)));
	ptc_insn_cache_set_code(k, &as);
	expect(k, 0x1000, PTC_KIND_RET, 1);
	expect(k, far, PTC_KIND_JMP, 2);
	k->as = &none;
	expect(k, 0x1000, PTC_KIND_RET, 1);
	expect(k, far, PTC_KIND_JMP, 2);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	free(k);
}

Test(insn_cache, memory_is_bounded)
{
	struct ptc_addrspace as = { .version = 0 };
	struct ptc_insn_cache *k = new_kinds();
	size_t i;

	cr_assert(ptc_addrspace_patch(&as, 0x1000, ret, sizeof(ret)));
	ptc_insn_cache_set_code(k, &as);
	for (i = 0; i < 2 * PTC_INSN_CACHE_CHUNK * PTC_INSN_CACHE_CHUNKS + 1; i++)
		expect(k, 0x100000 + i * PAGE, PTC_KIND_NONE, 0);
	cr_assert_eq(k->npages, 1, "everything was forgotten twice");
	expect(k, 0x1000, PTC_KIND_RET, 1);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	free(k);
}

/* Each change of the code is a generation. Pages of the first generation must not come back. */
Test(insn_cache, generations_wrap)
{
	const size_t gens = 1 << PTC_INSN_CACHE_PAGE_BITS;
	struct ptc_addrspace as = { .version = 0 }, other = { .version = 0 };
	struct ptc_insn_cache *k = new_kinds();
	size_t i;

	cr_assert(ptc_addrspace_patch(&as, 0x1000, ret, sizeof(ret)));
	cr_assert(ptc_addrspace_patch(&other, 0x1000, jmp, sizeof(jmp)));
	ptc_insn_cache_set_code(k, &as);
	expect(k, 0x1000, PTC_KIND_RET, 1);
	for (i = 0; i < gens; i++) {
		ptc_insn_cache_set_code(k, &other);
		cr_assert(k->gen);
	}
	expect(k, 0x1000, PTC_KIND_JMP, 2);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	ptc_addrspace_release(&other);
	free(k);
}

/* A small table is replaced by a larger one: the known pages stay known. */
Test(insn_cache, known_pages_survive_a_larger_table)
{
	const size_t many = 200;
	struct ptc_addrspace as = { .version = 0 }, none = { .version = 0 };
	struct ptc_insn_cache *k = new_kinds();
	size_t few, i;

	for (i = 0; i < many; i++)
		cr_assert(ptc_addrspace_patch(&as, i * PAGE, i % 2 ? jmp : ret, i % 2 ? 2 : 1));
	ptc_insn_cache_set_code(k, &as);
	expect(k, 0, PTC_KIND_RET, 1);
	few = k->slot_mask + 1;
	for (i = 0; i < many; i++)
		expect(k, i * PAGE, i % 2 ? PTC_KIND_JMP : PTC_KIND_RET, i % 2 ? 2 : 1);
	cr_assert_gt(k->slot_mask + 1, few, "the table was not replaced");
	k->as = &none; /* if a place were read again, it would be unknown */
	for (i = 0; i < many; i++)
		expect(k, i * PAGE, i % 2 ? PTC_KIND_JMP : PTC_KIND_RET, i % 2 ? 2 : 1);
	cr_assert_eq(k->npages, many);
	ptc_insn_cache_release(k);
	ptc_addrspace_release(&as);
	free(k);
}
