/* SPDX-License-Identifier: MIT */
/*
 * Description: the frames of a Python thread are found and read in the memory of CPython. Damaged
 * memory gives fewer frames, and no reading beyond the memory.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/message_collect.h"
#include "arch/python_lines.h"
#include "arch/python_stack.h"
#include "base/cursor.h"
#include "lib_memory.h"
#include "ptcap/crash.h"

enum {
	PAGE = 4096,
	VARIABLES = 0x100000, /* with _PyRuntime */
	RUNTIME = VARIABLES + 0x48,
	MAIN = RUNTIME + 0x100,
	THREAD = 0x200000,
	OTHER_THREAD = THREAD + 0x400,
	CFRAME = 0x300000,
	FRAMES = 0x400000,
	FRAME = 80,
	CODES = 0x500000,
	CODE = 512,
	NAMES = 0x600000,
	NAME = 256,
	TABLE = 0x700000,
	CODE_TYPE = 0x800000,
	STR_TYPE = 0x800100,
	FS_BASE = 0x30001740,
	FIRST_LINE = 10,
};

/* Adds @len zero bytes, which the caller may change. */
static uint8_t *add(struct mm_memory *m, uint64_t addr, size_t len)
{
	uint8_t *zeros = calloc(1, len);

	cr_assert_not_null(zeros);
	mm_add(m, addr, zeros, len);
	free(zeros);
	return m->parts[m->n - 1].bytes;
}

static void put(uint8_t *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
}

static void put_name(uint8_t *to, const struct ptc_python_layout *l, const char *name)
{
	size_t i;

	put(to + 8, STR_TYPE);
	put(to + 16, strlen(name));
	put(to + 32, 1 << 2 | 1 << 5 | 1 << 6);
	for (i = 0; name[i]; i++) /* without the NUL: nothing reads it */
		to[l->ascii + i] = (uint8_t)name[i];
}

/* Lines 10 (2 units), 12 (1 unit), none (1 unit), 9 (8 units). */
static const uint8_t table[] = {
	0x80 | 1,	    0x11,			  /* short form */
	0x80 | 12 << 3 | 0, 0x01, 0x02,			  /* two lines further */
	0x80 | 15 << 3 | 0,				  /* no line */
	0x80 | 14 << 3 | 7, 0x07, 0x00, 0x01, 0x41, 0x01, /* three lines back */
};

/* Describe the layout of 3.12 as 3.13 describes its own. */
static void put_description(uint8_t *to, const struct ptc_python_layout *l)
{
	put(to, UINT64_C(0x7970677562656478)); /* "xdebugpy" */
	put(to + 8, 0x030d00f0);
	put(to + 40, l->head);
	put(to + 64, l->interp_next);
	put(to + 72, l->threads);
	put(to + 168, l->next);
	put(to + 176, l->interp);
	put(to + 184, l->current);
	put(to + 192, l->id);
	put(to + 232, l->frame_previous);
	put(to + 240, l->frame_code);
	put(to + 248, l->frame_instr);
	put(to + 264, l->frame_owner);
	put(to + 280, l->file);
	put(to + 296, l->qualname);
	put(to + 304, l->linetable);
	put(to + 312, l->first_line);
	put(to + 344, l->code);
}

static struct ptc_python_layout layout_of(unsigned int minor)
{
	const struct ptc_memory_view none = { NULL, NULL };
	struct ptc_python_layout l;

	cr_assert(ptc_python_layout(&none, minor < 13 ? minor : 12, 0, &l));
	if (minor == 13) {
		l.head = 632;
		l.cframe = 0;
		l.current = 72;
	}
	return l;
}

/* A process of version 3.@minor with frames "inner", "outer" and "<module>" of "x.py". */
static struct mm_memory process(unsigned int minor)
{
	static const char *const names[] = { "inner", "A.outer", "<module>" };
	const struct ptc_python_layout l = layout_of(minor);
	struct mm_memory m = { .n = 0 };
	uint8_t *at;
	size_t i;

	at = add(&m, VARIABLES, PAGE);
	if (minor == 13)
		put_description(at + (RUNTIME - VARIABLES), &l);
	put(at + (RUNTIME - VARIABLES) + l.head, MAIN);
	put(at + (RUNTIME - VARIABLES) + l.head + 8, MAIN);
	put(at + (RUNTIME - VARIABLES) + l.head + 16, 1);
	put(at + (MAIN - VARIABLES) + l.threads, OTHER_THREAD);
	at = add(&m, THREAD, 0x800);
	for (i = 0; i < 2; i++, at += OTHER_THREAD - THREAD) {
		put(at + l.next, i ? THREAD : 0);
		put(at + l.interp, MAIN);
		put(at + l.id, FS_BASE + i * PAGE);
		put(at + (l.cframe ? l.cframe : l.current), l.cframe ? CFRAME : FRAMES);
	}
	at = add(&m, CFRAME, 16);
	put(at + (l.cframe ? l.current : 0), FRAMES);
	at = add(&m, FRAMES, sizeof(names) / sizeof(names[0]) * FRAME);
	for (i = 0; i < 3; i++, at += FRAME) {
		put(at + l.frame_code, CODES + i * CODE);
		put(at + l.frame_instr, CODES + i * CODE + l.code + 4 * i);
		put(at + l.frame_previous, i < 2 ? FRAMES + (i + 1) * FRAME : 0);
		at[l.frame_owner] = 0;
	}
	at = add(&m, CODES, 2 * CODE + l.code);
	for (i = 0; i < 3; i++, at += CODE) {
		const uint32_t first = FIRST_LINE;

		put(at + 8, CODE_TYPE);
		put(at + 16, 12);
		put(at + l.qualname, NAMES + i * NAME);
		put(at + l.file, NAMES + 3 * NAME);
		put(at + l.linetable, TABLE);
		memcpy(at + l.first_line, &first, sizeof(first));
	}
	at = add(&m, NAMES, 3 * NAME + l.ascii + 4);
	for (i = 0; i < 3; i++)
		put_name(at + i * NAME, &l, names[i]);
	put_name(at + (size_t)3 * NAME, &l, "x.py");
	at = add(&m, TABLE, 32 + sizeof(table));
	put(at + 16, sizeof(table));
	memcpy(at + 32, table, sizeof(table));
	return m;
}

/* Returns the number of frames, as capturing and showing find them. */
static size_t walk(struct mm_memory *m, unsigned int minor, struct ptc_python_frame *ret,
		   size_t most, bool *ret_cut)
{
	const struct ptc_memory_view v = mm_view(m);
	struct ptc_python_layout l;
	struct ptc_python_stack s;
	uint64_t runtime, thread;
	size_t n = 0;

	*ret_cut = false;
	if (!ptc_python_find_runtime(&v, minor, VARIABLES, VARIABLES + PAGE, &runtime) ||
	    !ptc_python_layout(&v, minor, runtime, &l) ||
	    !ptc_python_find_thread(&v, &l, runtime, FS_BASE, &thread))
		return 0;
	cr_assert(runtime == RUNTIME && thread == THREAD);
	ptc_python_stack_start(&s, &v, &l, thread);
	while (n < most && ptc_python_stack_next(&s, &ret[n]))
		n++;
	*ret_cut = s.cut;
	return n;
}

Test(python_stack, the_version_is_that_of_the_files_name)
{
	cr_assert_eq(ptc_python_version("/usr/bin/python3.11"), 11);
	cr_assert_eq(ptc_python_version("/usr/lib/libpython3.12.so.1.0"), 12);
	cr_assert_eq(ptc_python_version("/opt/python3.13d (deleted)"), 13);
	cr_assert_eq(ptc_python_version("/usr/bin/python3.10"), 0);
	cr_assert_eq(ptc_python_version("/usr/bin/python3.14"), 0);
	cr_assert_eq(ptc_python_version("/usr/bin/python3.1"), 0);
	cr_assert_eq(ptc_python_version("/usr/bin/python3.111"), 0);
	cr_assert_eq(ptc_python_version("/usr/bin/python3"), 0);
	cr_assert_eq(ptc_python_version("/python3.11/libc.so.6"), 0);
	cr_assert_eq(ptc_python_version(""), 0);
}

Test(python_stack, the_frames_of_each_version_are_read)
{
	struct ptc_python_frame f[8];
	unsigned int minor;
	bool is_cut;

	for (minor = 11; minor <= 13; minor++) {
		struct mm_memory m = process(minor);

		cr_assert_eq(walk(&m, minor, f, 8, &is_cut), 3, "3.%u", minor);
		cr_assert_not(is_cut);
		cr_assert_str_eq(f[0].function, "inner");
		cr_assert_str_eq(f[1].function, "A.outer");
		cr_assert_str_eq(f[2].function, "<module>");
		cr_assert_str_eq(f[2].file, "x.py");
		cr_assert(f[0].line == 10 && f[1].line == 12 && f[2].line == 9);
		mm_release(&m);
	}
}

Test(python_stack, memory_that_is_cut_gives_fewer_frames)
{
	struct ptc_python_frame f[8];
	unsigned int minor;
	size_t i, len, n;
	bool is_cut;

	for (minor = 11; minor <= 13; minor++)
		for (i = 0; i < 7; i++) {
			struct mm_memory m = process(minor);

			for (len = m.parts[i].len; len--;) {
				mm_cut(&m, i, len);
				n = walk(&m, minor, f, 8, &is_cut);
				cr_assert(n <= 3);
			}
			cr_assert(i == 6 || (i == 2 && minor == 13) || n == 0, "part %zu", i);
			mm_release(&m);
		}
}

Test(python_stack, a_cycle_of_frames_ends)
{
	const struct ptc_python_layout l = layout_of(11);
	struct ptc_python_frame *f = calloc(512, sizeof(*f));
	struct mm_memory m = process(11);
	size_t n, to;
	bool is_cut;

	cr_assert_not_null(f);
	for (to = 0; to < 3; to++) {
		put(m.parts[3].bytes + (size_t)2 * FRAME + l.frame_previous, FRAMES + to * FRAME);
		n = walk(&m, 11, f, 512, &is_cut);
		cr_assert(is_cut && n >= 3 && n < 12, "%zu frames", n);
	}
	mm_release(&m);
	free(f);
}

Test(python_stack, a_long_stack_is_cut)
{
	enum { DEEP = 1000 };
	const struct ptc_python_layout l = layout_of(12);
	struct ptc_python_frame *f = calloc(DEEP, sizeof(*f));
	struct mm_memory m = process(12);
	bool is_cut;
	uint8_t *at;
	size_t i;

	cr_assert_not_null(f);
	free(m.parts[3].bytes);
	m.parts[3].bytes = NULL;
	m.parts[3].len = 0;
	at = add(&m, FRAMES, (size_t)DEEP * FRAME);
	for (i = 0; i < DEEP; i++, at += FRAME) {
		put(at + l.frame_code, CODES);
		put(at + l.frame_instr, CODES + l.code);
		put(at + l.frame_previous, i + 1 < DEEP ? FRAMES + (i + 1) * FRAME : 0);
	}
	cr_assert_eq(walk(&m, 12, f, DEEP, &is_cut), PTC_PYTHON_FRAMES);
	cr_assert(is_cut);
	at = m.parts[m.n - 1].bytes; /* frames of the interpreter are not shown, but counted */
	for (i = 0; i < DEEP; i++)
		at[i * FRAME + l.frame_owner] = 3;
	cr_assert_eq(walk(&m, 12, f, DEEP, &is_cut), 0);
	cr_assert(is_cut);
	mm_release(&m);
	free(f);
}

/* Sets a word of part @part, and walks. */
static size_t walk_damaged(unsigned int minor, size_t part, size_t at, uint64_t word)
{
	struct mm_memory m = process(minor);
	struct ptc_python_frame f[8];
	bool is_cut;
	size_t n;

	put(m.parts[part].bytes + at, word);
	n = walk(&m, minor, f, 8, &is_cut);
	mm_release(&m);
	return n;
}

Test(python_stack, hostile_words_give_no_wrong_frames)
{
	static const uint64_t words[] = { 0,	      1,	  UINT64_MAX, INT64_MAX,
					  1ULL << 63, 0xfffffff8, MAIN,	      FRAMES };
	unsigned int minor;
	size_t part, at, i;

	for (minor = 11; minor <= 13; minor++)
		for (part = 0; part < 7; part++) {
			struct mm_memory m = process(minor);
			const size_t len = m.parts[part].len;

			mm_release(&m);
			for (at = 0; at + 8 <= len && at < 1024; at += 8)
				for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
					cr_assert(walk_damaged(minor, part, at, words[i]) <= 8);
		}
	/* the second function: another type of its code, a name that is too long or has no kind */
	cr_assert_eq(walk_damaged(11, 4, CODE + 8, STR_TYPE), 1);
	cr_assert_eq(walk_damaged(11, 5, NAME + 8, CODE_TYPE), 1);
	cr_assert_eq(walk_damaged(11, 5, NAME + 16, UINT64_MAX), 1);
	cr_assert_eq(walk_damaged(11, 5, NAME + 32, 3 << 2 | 1 << 5), 1);
	cr_assert_eq(walk_damaged(11, 5, NAME + 32, 1 << 2), 1);
	/* a description of 3.13: another version, free threading, an offset that is too large */
	cr_assert_eq(walk_damaged(13, 0, RUNTIME - VARIABLES + 8, 0x030e00f0), 0);
	cr_assert_eq(walk_damaged(13, 0, RUNTIME - VARIABLES + 16, 1), 0);
	cr_assert_eq(walk_damaged(13, 0, RUNTIME - VARIABLES + 344, 257), 0);
	cr_assert_eq(walk_damaged(13, 0, RUNTIME - VARIABLES + 344, 8), 0);
	cr_assert_eq(walk_damaged(13, 0, RUNTIME - VARIABLES + 264, 80), 0);
}

Test(python_stack, names_of_all_kinds_become_utf8)
{
	static const uint32_t text[] = { 'a', 0xe9, 0x20ac, 0x1f40d, 0xd800, 0x1b };
	static const char *const want[] = { NULL, "a\xc3\xa9", "a\xc3\xa9\xe2\x82\xac", NULL,
					    "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d??" };
	static const size_t counts[] = { 0, 2, 3, 0, 6 };
	const struct ptc_python_layout l = layout_of(12);
	struct ptc_python_frame f[8];
	size_t kind, i;
	bool is_cut;

	for (kind = 1; kind <= 4; kind *= 2) {
		struct mm_memory m = process(12);
		uint8_t *name = m.parts[5].bytes;

		put(name + 16, counts[kind]);
		put(name + 32, kind << 2 | 1 << 5);
		for (i = 0; i < counts[kind]; i++)
			memcpy(name + l.compact + i * kind, &text[i], kind);
		cr_assert_eq(walk(&m, 12, f, 8, &is_cut), 3);
		cr_assert_str_eq(f[0].function, want[kind]);
		mm_release(&m);
	}
}

Test(python_stack, lines_of_code_units)
{
	static const uint32_t want[] = { 10, 10, 12, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0 };
	struct mm_memory m = process(11);
	const struct ptc_memory_view v = mm_view(&m);
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		cr_assert_eq(ptc_python_line(&v, TABLE, FIRST_LINE, i), want[i], "unit %zu", i);
	cr_assert_eq(ptc_python_line(&v, TABLE, 1, 5), 0); /* above line 1 */
	put(m.parts[6].bytes + 16, UINT64_MAX);
	cr_assert_eq(ptc_python_line(&v, TABLE, FIRST_LINE, 0), 0);
	mm_release(&m);
}

Test(python_stack, a_number_without_an_end_gives_no_line)
{
	static const uint8_t tables[][8] = {
		{ 0x80 | 13 << 3, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x02 },
		{ 0x80 | 13 << 3, 0x40, 0x80 | 1, 0x11 }, /* the next entry begins */
	};
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct mm_memory m = process(11);
		const struct ptc_memory_view v = mm_view(&m);

		memcpy(m.parts[6].bytes + 32, tables[i], sizeof(tables[i]));
		cr_assert_eq(ptc_python_line(&v, TABLE, FIRST_LINE, 0), 0, "table %zu", i);
		mm_release(&m);
	}
}

Test(python_stack, a_table_that_is_cut_gives_no_wrong_line)
{
	enum { UNITS = 14, SIZE = 16, BYTES = 32 };
	uint32_t want[UNITS], got;
	size_t i, len, right;

	for (len = sizeof(table) + 1; len--;) {
		struct mm_memory m = process(11);
		const struct ptc_memory_view v = mm_view(&m);

		right = 0;
		mm_cut(&m, 6, BYTES + len);
		put(m.parts[6].bytes + SIZE, len);
		for (i = 0; i < UNITS; i++) {
			got = ptc_python_line(&v, TABLE, FIRST_LINE, i);
			if (len == sizeof(table))
				want[i] = got;
			cr_assert(got == want[i] || !got, "%zu bytes, unit %zu", len, i);
			right += got != 0;
		}
		cr_assert(len ? right <= 11 : !right);
		put(m.parts[6].bytes + SIZE, sizeof(table)); /* more than the memory has */
		if (len < sizeof(table))
			cr_assert_eq(ptc_python_line(&v, TABLE, FIRST_LINE, 0), 0);
		mm_release(&m);
	}
}

Test(python_stack, frames_without_the_memory_of_their_thread_are_cut)
{
	unsigned int minor;

	for (minor = 11; minor <= 13; minor++) {
		const struct ptc_python_layout l = layout_of(minor);
		struct mm_memory none = { .n = 0 };
		const struct ptc_memory_view v = mm_view(&none);
		struct ptc_python_frame frame;
		struct ptc_python_stack s;

		ptc_python_stack_start(&s, &v, &l, THREAD);
		cr_assert_not(ptc_python_stack_next(&s, &frame));
		cr_assert(s.cut);
	}
}

Test(python_stack, frames_of_one_thread_after_the_other_are_collected)
{
	struct ptc_message_search *s = calloc(1, sizeof(*s));
	struct ptc_message_found *f = calloc(1, sizeof(*f));
	struct mm_memory m = process(12);
	struct ptc_message_python python;
	size_t i;

	cr_assert(s && f);
	s->view = mm_view(&m);
	s->aborts = true; /* messages are not collected */
	cr_assert_not(ptc_message_find_python(s, &python));
	ptc_message_add_map(s, VARIABLES, VARIABLES + PAGE, PROT_READ | PROT_WRITE, "/python3.12");
	cr_assert(ptc_message_find_python(s, &python));
	cr_assert(python.minor == 12 && python.runtime == RUNTIME);
	for (i = 0; i < 3; i++) {
		s->fs_base = FS_BASE + i * PAGE;
		ptc_message_collect_python(s, &python, f);
		cr_assert_eq(f->nroots, i < 2 ? 1 : 0);
		cr_assert(i == 2 || (f->roots[0].kind == PTC_CRASH_PYTHON_3_12 &&
				     f->roots[0].addr == (i ? OTHER_THREAD : THREAD)));
		cr_assert_eq(f->nranges != 0, i < 2);
	}
	mm_release(&m);
	free(s);
	free(f);
}

Test(python_stack, what_is_collected_is_enough_to_read_the_frames)
{
	struct ptc_message_search *s = calloc(1, sizeof(*s));
	struct ptc_message_found *f = calloc(1, sizeof(*f));
	struct mm_memory m = process(13), kept = { .n = 0 };
	const struct ptc_memory_view saved = mm_view(&kept);
	struct ptc_python_layout l;
	struct ptc_python_frame frame;
	struct ptc_python_stack stack;
	size_t i, n = 0;

	cr_assert(s && f);
	s->view = mm_view(&m);
	s->fs_base = FS_BASE;
	ptc_message_add_map(s, VARIABLES, VARIABLES + PAGE, PROT_READ | PROT_WRITE, "/python3.13");
	ptc_message_collect(s, f);
	cr_assert(f->nroots == 2 && f->roots[0].kind == PTC_CRASH_PYTHON_RUNTIME &&
		  f->roots[1].kind == PTC_CRASH_PYTHON_3_13 && f->roots[1].addr == THREAD);
	for (i = 0; i < f->nranges; i++)
		(void)mm_read(&m, f->ranges[i].addr,
			      add(&kept, f->ranges[i].addr, f->ranges[i].len), f->ranges[i].len);
	cr_assert(ptc_python_layout(&saved, 13, f->roots[0].addr, &l));
	ptc_python_stack_start(&stack, &saved, &l, THREAD);
	while (ptc_python_stack_next(&stack, &frame))
		n++;
	cr_assert(n == 3 && !stack.cut && frame.line == 9);
	put(m.parts[3].bytes + l.frame_code, 0); /* a reader must tell that frames are missing */
	ptc_message_collect(s, f);
	cr_assert_eq(f->nroots, 2);
	put(m.parts[1].bytes + l.current, 0); /* no function of Python */
	ptc_message_collect(s, f);
	cr_assert_eq(f->nroots, 0);
	put(m.parts[1].bytes + l.current, FRAMES);
	s->fs_base = FS_BASE + 1;
	ptc_message_collect(s, f);
	cr_assert_eq(f->nroots, 0);
	mm_release(&m);
	mm_release(&kept);
	free(s);
	free(f);
}

/* Returns the number of roots, if a mapping of @size bytes with the name of CPython comes first. */
static size_t roots_behind(uint64_t size)
{
	struct ptc_message_search *s = calloc(1, sizeof(*s));
	struct ptc_message_found *f = calloc(1, sizeof(*f));
	struct mm_memory m = process(11);
	size_t n;

	cr_assert(s && f);
	s->view = mm_view(&m);
	s->fs_base = FS_BASE;
	ptc_message_add_map(s, UINT64_C(1) << 40, (UINT64_C(1) << 40) + size,
			    PROT_READ | PROT_WRITE, "/python3.11");
	ptc_message_add_map(s, VARIABLES, VARIABLES + PAGE, PROT_READ | PROT_WRITE, "/python3.11");
	ptc_message_collect(s, f);
	n = f->nroots;
	mm_release(&m);
	free(s);
	free(f);
	return n;
}

Test(python_stack, the_search_for_an_interpreter_is_limited)
{
	const uint64_t limit = 8 << 20;

	cr_assert_eq(roots_behind(limit - PAGE), 1);
	cr_assert_eq(roots_behind(limit), 0);
	cr_assert_eq(roots_behind(UINT64_C(1) << 45), 0);
}
