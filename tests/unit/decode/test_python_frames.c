/* SPDX-License-Identifier: MIT */
/* Description: Python's frames are read for each thread of a saved state, within limits. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/crash/python_frames.h"

/* Memory of CPython 3.11: two frames of one function. */
enum {
	PAGE = 4096,
	AT = 0x100000,
	THREAD = 0,
	CFRAME = 0x100,
	FRAMES = 0x200,
	FRAME = 80,
	CODE = 0x300,
	NAME = 0x400,
	TID = 7,
};

struct saved {
	uint8_t bytes[PAGE];
	struct ptc_crash_state_piece piece;
	struct ptc_crash_message messages[2];
	struct ptc_crash_state state;
};

static void put(struct saved *s, size_t at, uint64_t word)
{
	memcpy(s->bytes + at, &word, sizeof(word));
}

/* Fills @s. Thread TID has memory, and the next thread has none. */
static void save(struct saved *s)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	put(s, THREAD + 56, AT + CFRAME);
	put(s, CFRAME + 8, AT + FRAMES);
	for (i = 0; i < 2; i++) {
		put(s, FRAMES + i * FRAME + 32, AT + CODE);
		put(s, FRAMES + i * FRAME + 48, i ? 0 : AT + FRAMES + FRAME);
	}
	put(s, CODE + 8, AT);
	put(s, CODE + 112, AT + NAME);
	put(s, CODE + 128, AT + NAME);
	put(s, NAME + 8, AT);
	put(s, NAME + 16, 4);
	put(s, NAME + 32, 1 << 2 | 1 << 5 | 1 << 6);
	memcpy(s->bytes + NAME + 48, "name", 4);
	s->piece = (struct ptc_crash_state_piece){ AT, ptc_cur_init(s->bytes, PAGE), NULL };
	s->messages[0] = (struct ptc_crash_message){ 1, TID, PTC_CRASH_PYTHON_3_11, AT };
	s->messages[1] =
		(struct ptc_crash_message){ 1, TID + 1, PTC_CRASH_PYTHON_3_11, (uint64_t)2 * AT };
	s->state.pieces = &s->piece;
	s->state.npieces = 1;
	s->state.python = s->messages;
	s->state.npython = 2;
}

static struct ptc_python_frames read_frames(const struct saved *s, uint64_t tid,
					    struct ptc_python_limits *limits)
{
	struct ptc_python_frames f = { .n = 0 };
	struct ptc_err err;

	cr_assert_eq(ptc_python_frames_read(&s->state, tid, limits, &f, &err), 0);
	return f;
}

Test(python_frames, each_thread_has_its_own)
{
	struct ptc_python_limits limits = PTC_PYTHON_LIMITS;
	struct saved s;
	struct ptc_python_frames f;

	save(&s);
	f = read_frames(&s, TID, &limits);
	cr_assert(f.n == 2 && !f.cut);
	cr_assert_str_eq(f.items[1].function, "name");
	cr_assert_str_eq(f.items[1].file, "name");
	free(f.items);
	f = read_frames(&s, TID + 1, &limits);
	cr_assert(!f.n && f.cut, "the memory is missing, and nothing tells it");
	f = read_frames(&s, TID + 2, &limits);
	cr_assert(!f.n && !f.cut);
	s.messages[0].what = PTC_CRASH_PYTHON_3_13; /* without its description */
	f = read_frames(&s, TID, &limits);
	cr_assert(!f.n && f.cut);
}

Test(python_frames, limits_are_for_all_threads_together)
{
	struct ptc_python_limits limits = { 1000, 3 };
	struct saved s;
	struct ptc_python_frames f;

	save(&s);
	f = read_frames(&s, TID, &limits);
	cr_assert(f.n == 2 && !f.cut && limits.frames == 1 && limits.looks < 1000);
	free(f.items);
	f = read_frames(&s, TID, &limits);
	cr_assert(f.n == 1 && f.cut && !limits.frames);
	free(f.items);
	limits = (struct ptc_python_limits){ 3, 100 }; /* not enough for one frame */
	f = read_frames(&s, TID, &limits);
	cr_assert(!f.n && f.cut && !limits.looks);
}

Test(python_frames, stacks_are_the_same_with_all_lines)
{
	struct ptc_python_frame x[2] = { { "f", "a", 1 }, { "g", "a", 2 } };
	struct ptc_python_frame y[2] = { { "f", "a", 1 }, { "g", "a", 2 } };
	struct ptc_python_frames a = { x, 2, 2, false }, b = { y, 2, 2, false };

	cr_assert(ptc_python_frames_are_same(&a, &b));
	y[1].line = 3;
	cr_assert_not(ptc_python_frames_are_same(&a, &b));
	b.n = 1;
	cr_assert_not(ptc_python_frames_are_same(&a, &b));
	a.n = 1;
	cr_assert(ptc_python_frames_are_same(&a, &b));
	b.cut = true;
	cr_assert_not(ptc_python_frames_are_same(&a, &b));
	b.cut = false;
	y[0].function[0] = 'h';
	cr_assert_not(ptc_python_frames_are_same(&a, &b));
}
