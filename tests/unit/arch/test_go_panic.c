/* SPDX-License-Identifier: MIT */
/*
 * Description: the goroutine that panicked is found without a layout, and its panic is read with
 * one. Damaged memory gives no panic, and no reading beyond the memory.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/go_panic.h"
#include "lib_memory.h"

enum {
	FS_BASE = 0x30000,
	G = 0x40000,
	G0 = 0x41000,
	M = 0x42000,
	STACK = 0x50000, /* of the goroutine */
	SP = STACK + 0x100,
	PANIC = STACK + 0x200,
	STACK_END = STACK + 0x400,
	OWN_STACK = 0x60000, /* of the thread */
	TYPE = 0x70000,
	VALUE = 0x71000,
	TEXT = 0x72000,
	GOID = 152,
	G_SIZE = 512,
};

/* As Go 1.19. */
static const struct ptc_go_layout layout = {
	.g_panic = 32,
	.g_goid = GOID,
	.panic_arg = 8,
	.panic_goexit = 50,
	.type_tflag = 20,
	.type_kind = 23,
	.type_str = 40,
};

static void put_g(struct mm_memory *m, uint64_t at, uint64_t stack, uint64_t panic, uint64_t sp)
{
	uint64_t g[G_SIZE / 8] = { stack, stack + 0x400, stack + 0x380, stack + 0x380, panic };

	g[6] = M;
	g[7] = sp;
	g[8] = 0x1234;
	g[9] = at;
	g[GOID / 8] = 17;
	mm_words(m, at, g, G_SIZE / 8);
}

/* A goroutine that panicked with a value of type @kind. Parts: g, g0, m, stack, type, value, text.
 */
static struct mm_memory panicked_with(uint8_t kind, const void *value, size_t len)
{
	uint64_t m[64] = { G0, 1, 2, G0, 0, G };
	uint64_t stack[0x400 / 8] = { 0 };
	uint8_t type[48] = { 0 };
	struct mm_memory ret = { .n = 0 };

	type[20] = 7;
	type[23] = kind | 1 << 5;
	type[40] = 0x44;
	type[41] = 0x33;
	stack[(PANIC - STACK) / 8] = SP;
	stack[(PANIC - STACK) / 8 + 1] = TYPE;
	stack[(PANIC - STACK) / 8 + 2] = VALUE;
	put_g(&ret, G, STACK, PANIC, SP);
	put_g(&ret, G0, OWN_STACK, 0, OWN_STACK + 0x300);
	mm_words(&ret, M, m, 64);
	mm_words(&ret, STACK, stack, 0x400 / 8);
	mm_add(&ret, TYPE, type, sizeof(type));
	mm_add(&ret, VALUE, value, len);
	mm_add(&ret, TEXT, "boom!", 5);
	return ret;
}

static const uint64_t string[] = { TEXT, 4 };

Test(go_panic, the_running_goroutine_is_found_by_a_register_or_the_threads_variables)
{
	struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
	const uint64_t tls[8] = { 3, M, 0, 0, 0, 0, G, 0 };
	const struct ptc_memory_view v = mm_view(&m);
	uint64_t at = 0;

	cr_assert(ptc_go_panic_find(&v, G, 0, &at));
	cr_assert_eq(at, G);
	cr_assert_not(ptc_go_panic_find(&v, 0, FS_BASE, &at));
	mm_words(&m, FS_BASE - sizeof(tls), tls, 8);
	at = 0;
	cr_assert(ptc_go_panic_find(&v, 0, FS_BASE, &at));
	cr_assert_eq(at, G);
	mm_release(&m);
}

Test(go_panic, the_threads_own_stack_leads_to_its_goroutine)
{
	struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
	const struct ptc_memory_view v = mm_view(&m);
	uint64_t at = 0;

	cr_assert(ptc_go_panic_find(&v, G0, 0, &at));
	cr_assert_eq(at, G);
	mm_release(&m);
}

Test(go_panic, a_goroutine_without_a_panic_is_none)
{
	static const struct {
		size_t word;
		uint64_t value;
	} odd[] = {
		{ 0, STACK_END },  /* a stack that ends before its start */
		{ 1, UINT64_MAX }, /* or nowhere */
		{ 4, 0 },	   /* no panic */
		{ 4, STACK_END },  /* behind the stack */
		{ 4, STACK - 8 },  /* below the stack */
		{ 4, PANIC + 1 },  /* no address of a structure */
		{ 9, G + 8 },	   /* another address than its own */
	};
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
		const struct ptc_memory_view v = mm_view(&m);
		uint64_t at;

		memcpy(m.parts[0].bytes + odd[i].word * 8, &odd[i].value, 8);
		cr_assert_not(ptc_go_panic_find(&v, G, FS_BASE, &at), "%zu", i);
		cr_assert_not(ptc_go_panic_find(&v, G0, FS_BASE, &at), "%zu", i);
		mm_release(&m);
	}
}

Test(go_panic, the_value_is_read_by_its_kind)
{
	static const double number = 1.5;
	double got;
	struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
	struct ptc_memory_view v = mm_view(&m);
	struct ptc_go_panic p;
	uint64_t none = 0;

	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	cr_assert(p.goroutine == 17 && p.kind == PTC_GO_STRING && p.name == 0x3344 && p.star);
	cr_assert_str_eq(p.text, "boom");
	cr_assert_not(p.text_cut);
	memcpy(m.parts[3].bytes + PANIC - STACK + 8, &none, 8);
	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	cr_assert_eq(p.kind, PTC_GO_NIL);
	m.parts[3].bytes[PANIC - STACK + 50] = 1; /* runtime.Goexit() */
	cr_assert_not(ptc_go_panic_read(&v, &layout, G, &p));
	mm_release(&m);

	m = panicked_with(PTC_GO_FLOAT64, &number, sizeof(number));
	v = mm_view(&m);
	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	memcpy(&got, p.value, sizeof(got));
	cr_assert(p.kind == PTC_GO_FLOAT64 && got == number);
	mm_release(&m);
	m = panicked_with(25, "", 0); /* a structure */
	v = mm_view(&m);
	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	cr_assert(p.kind == 25 && p.addr == VALUE && !p.text[0]);
	mm_release(&m);
}

Test(go_panic, a_long_string_and_one_with_a_nul_are_cut)
{
	char text[PTC_GO_TEXT + 1];
	const uint64_t of_long[] = { TEXT + 0x100, sizeof(text) }, of_nul[] = { TEXT, 5 };
	struct mm_memory m = panicked_with(PTC_GO_STRING, of_long, sizeof(of_long));
	struct ptc_memory_view v = mm_view(&m);
	struct ptc_go_panic p;

	memset(text, 'x', sizeof(text));
	mm_add(&m, TEXT + 0x100, text, sizeof(text));
	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	cr_assert(p.text_cut && strlen(p.text) == PTC_GO_TEXT - 1);
	memcpy(m.parts[5].bytes, of_nul, sizeof(of_nul));
	m.parts[6].bytes[2] = '\0';
	cr_assert(ptc_go_panic_read(&v, &layout, G, &p));
	cr_assert(p.text_cut && !strcmp(p.text, "bo"));
	mm_release(&m);
}

Test(go_panic, a_layout_that_cannot_be_is_refused)
{
	struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_go_layout odd = layout;
	struct ptc_go_panic p;

	odd.type_str = UINT64_MAX;
	cr_assert_not(ptc_go_panic_read(&v, &odd, G, &p));
	mm_release(&m);
}

Test(go_panic, what_is_touched_is_all_that_the_reader_needs)
{
	struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));
	const struct ptc_memory_view v = mm_view(&m);

	m.reads = 0;
	ptc_go_panic_touch(&v, G);
	cr_assert(m.reads > 5 && m.reads < 40, "%zu", m.reads);
	mm_release(&m);
}

Test(go_panic, a_panic_whose_memory_is_cut_anywhere_is_the_same_or_none)
{
	size_t i, len;

	for (i = 0; i < 7; i++) {
		struct mm_memory m = panicked_with(PTC_GO_STRING, string, sizeof(string));

		for (len = m.parts[i].len; len-- > 0;) {
			const struct ptc_memory_view v = mm_view(&m);
			struct ptc_go_panic p;
			uint64_t at;

			mm_cut(&m, i, len);
			ptc_go_panic_touch(&v, G);
			if (!ptc_go_panic_find(&v, G0, FS_BASE, &at) ||
			    !ptc_go_panic_read(&v, &layout, at, &p))
				continue;
			cr_assert_str_eq(p.text, "boom");
		}
		mm_release(&m);
	}
}

Test(go_panic, the_search_in_memory_of_equal_words_ends)
{
	uint64_t words[4096];
	struct mm_memory m = { .n = 0 };
	const struct ptc_memory_view v = mm_view(&m);
	uint64_t at;
	size_t i;

	for (i = 0; i < 4096; i++)
		words[i] = G;
	mm_words(&m, G, words, 4096);
	cr_assert_not(ptc_go_panic_find(&v, G, G + 0x1000, &at));
	words[0] = G - 0x1000;
	memcpy(m.parts[0].bytes, words, 8);
	(void)ptc_go_panic_find(&v, G, G + 0x1000, &at);
	cr_assert_lt(m.reads, 100000);
	cr_assert_not(ptc_go_panic_find(&v, UINT64_MAX - 7, 8, &at));
	ptc_go_panic_touch(&v, G);
	mm_release(&m);
}
