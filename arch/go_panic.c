/* SPDX-License-Identifier: MIT */
#include "arch/go_panic.h"

#include <string.h>

#include "base/cursor.h"

enum {
	WORD = 8,
	G_WORDS = 32,	   /* of runtime.g: stack, _panic, m and sched are in these */
	G_BYTES = 512,	   /* the goroutine's number is in these */
	G_PANIC_FIRST = 4, /* words of runtime.g that may be _panic: behind the stack's limits */
	G_PANIC_END = 6,
	M_IN_G_FIRST = 4, /* words of runtime.g that may be m */
	M_IN_G_END = 12,
	M_WORDS = 64,	  /* of runtime.m: g0, gsignal and curg are in these */
	PANIC_WORDS = 16, /* of runtime._panic */
	ARG_WORDS = 4,	  /* arg is in these */
	TYPE_BYTES = 48,
	TLS_WORDS = 8, /* below the thread pointer; runtime.tlsg is in these */
	STACK_KEPT = 24 << 10,
	STACK_STEP = 1024,
	KIND_MASK = 31,
	EXTRA_STAR = 2,
	USER = 47, /* bits of an address */
	LOWEST = 1 << 16,
	LAYOUT_MAX = 1 << 12,
};

#define STACK_MAX (UINT64_C(1) << 32)

static bool is_address(uint64_t addr)
{
	return addr >= LOWEST && addr >> USER == 0;
}

/* --- finding --- */

/* A goroutine, or the structure of a thread's own stack. */
struct goroutine {
	uint64_t words[G_WORDS];
	uint64_t sp; /* saved in sched */
};

static bool read_words(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret, size_t n)
{
	uint8_t bytes[M_WORDS * WORD];
	size_t i;

	if (!is_address(addr) || addr % WORD || !ptc_view_read(v, addr, bytes, n * WORD))
		return false;
	for (i = 0; i < n; i++)
		ret[i] = ptc_le64(bytes + i * WORD);
	return true;
}

static bool read_goroutine(const struct ptc_memory_view *v, uint64_t addr, struct goroutine *ret)
{
	const uint64_t *w = ret->words;
	size_t i;

	if (!read_words(v, addr, ret->words, G_WORDS) || !is_address(w[0]) || !is_address(w[1]) ||
	    w[0] >= w[1] || w[1] - w[0] > STACK_MAX)
		return false;
	for (i = G_PANIC_FIRST; i < G_WORDS; i++)
		if (w[i] == addr) { /* sched begins with sp, pc, g */
			ret->sp = w[i - 2];
			return true;
		}
	return false;
}

/* Returns true if a word that may be _panic is an address on the stack of @g. */
static bool may_panic(const struct goroutine *g)
{
	size_t i;

	for (i = G_PANIC_FIRST; i < G_PANIC_END; i++)
		if (g->words[i] >= g->words[0] && g->words[i] < g->words[1] &&
		    g->words[i] % WORD == 0)
			return true;
	return false;
}

/*
 * Find the goroutine that the thread runs, or runs on behalf of. @g: a structure of the thread, of
 * its own stack or its signal stack. Word @at of both structures is the address of the thread,
 * runtime.m, which has the addresses of all of them.
 */
static bool find_current(const struct ptc_memory_view *v, uint64_t g, const uint64_t *words,
			 size_t at, uint64_t *ret)
{
	uint64_t m[M_WORDS];
	struct goroutine other;
	bool has_g = false;
	size_t i;

	if (!read_words(v, words[at], m, M_WORDS))
		return false;
	for (i = 0; i < M_WORDS; i++)
		has_g |= m[i] == g;
	for (i = 0; has_g && i < M_WORDS; i++)
		if (m[i] != g && read_goroutine(v, m[i], &other) && other.words[at] == words[at] &&
		    may_panic(&other)) {
			*ret = m[i];
			return true;
		}
	return false;
}

static bool find_from(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret)
{
	uint64_t words[M_IN_G_END];
	struct goroutine g;
	bool found = false;
	size_t i;

	if (read_goroutine(v, addr, &g) && may_panic(&g)) {
		*ret = addr;
		return true;
	}
	if (!read_words(v, addr, words, M_IN_G_END))
		return false;
	for (i = M_IN_G_FIRST; i < M_IN_G_END && !found; i++)
		found = find_current(v, addr, words, i, ret);
	return found;
}

bool ptc_go_panic_find(const struct ptc_memory_view *v, uint64_t g, uint64_t fs_base, uint64_t *ret)
{
	uint64_t tls[TLS_WORDS];
	size_t i;

	if (find_from(v, g, ret))
		return true;
	if (!read_words(v, fs_base - sizeof(tls), tls, TLS_WORDS))
		return false;
	for (i = TLS_WORDS; i; i--)
		if (tls[i - 1] != g && find_from(v, tls[i - 1], ret))
			return true;
	return false;
}

/* --- keeping --- */

/* Reads @len bytes at @addr, up to unreadable memory. */
static void touch(const struct ptc_memory_view *v, uint64_t addr, uint64_t len)
{
	uint8_t bytes[STACK_STEP];
	size_t n;

	while (len && is_address(addr)) {
		n = len < sizeof(bytes) ? (size_t)len : sizeof(bytes);
		if (v->read(v->ctx, addr, bytes, n) < n)
			return;
		addr += n;
		len -= n;
	}
}

/* Reads the value at @addr. It may be a string: an address and a length. */
static void touch_value(const struct ptc_memory_view *v, uint64_t addr)
{
	uint64_t words[2];

	if (read_words(v, addr, words, 2))
		touch(v, words[0], words[1] < PTC_GO_TEXT ? words[1] : PTC_GO_TEXT);
	else
		touch(v, addr, PTC_GO_VALUE / 2);
}

static void touch_panic(const struct ptc_memory_view *v, uint64_t addr)
{
	uint64_t words[PANIC_WORDS];
	size_t i;

	if (!read_words(v, addr, words, PANIC_WORDS))
		return;
	for (i = 0; i + 1 < ARG_WORDS; i++) {
		touch(v, words[i], TYPE_BYTES);
		touch_value(v, words[i + 1]);
	}
}

void ptc_go_panic_touch(const struct ptc_memory_view *v, uint64_t g)
{
	struct goroutine read;
	uint64_t left;
	size_t i;

	if (!read_goroutine(v, g, &read))
		return;
	touch(v, g, G_BYTES);
	for (i = G_PANIC_FIRST; i < G_PANIC_END; i++)
		if (read.words[i] >= read.words[0] && read.words[i] < read.words[1])
			touch_panic(v, read.words[i]);
	/* The stack of a goroutine whose thread is elsewhere. */
	if (read.sp < read.words[0] || read.sp >= read.words[1] || read.sp % WORD)
		return;
	left = read.words[1] - read.sp;
	touch(v, read.sp, left < STACK_KEPT ? left : STACK_KEPT);
}

/* --- reading --- */

static bool is_layout(const struct ptc_go_layout *l)
{
	return l->g_panic < LAYOUT_MAX && l->g_goid < LAYOUT_MAX && l->panic_arg < LAYOUT_MAX &&
	       l->panic_goexit < LAYOUT_MAX && l->type_tflag < LAYOUT_MAX &&
	       l->type_kind < LAYOUT_MAX && l->type_str < LAYOUT_MAX;
}

/* Bytes of a number, or 0: another kind. */
static size_t size_of(uint64_t kind)
{
	static const uint8_t sizes[] = {
		[PTC_GO_BOOL] = 1,	  [PTC_GO_INT] = 8,	[PTC_GO_INT8] = 1,
		[PTC_GO_INT16] = 2,	  [PTC_GO_INT32] = 4,	[PTC_GO_INT64] = 8,
		[PTC_GO_UINT] = 8,	  [PTC_GO_UINT8] = 1,	[PTC_GO_UINT16] = 2,
		[PTC_GO_UINT32] = 4,	  [PTC_GO_UINT64] = 8,	[PTC_GO_UINTPTR] = 8,
		[PTC_GO_FLOAT32] = 4,	  [PTC_GO_FLOAT64] = 8, [PTC_GO_COMPLEX64] = 8,
		[PTC_GO_COMPLEX128] = 16,
	};

	return kind < sizeof(sizes) ? sizes[kind] : 0;
}

static bool read_type(const struct ptc_memory_view *v, const struct ptc_go_layout *l, uint64_t addr,
		      struct ptc_go_panic *ret)
{
	uint8_t tflag, kind, name[4];

	if (!is_address(addr) || !ptc_view_read(v, addr + l->type_tflag, &tflag, 1) ||
	    !ptc_view_read(v, addr + l->type_kind, &kind, 1) ||
	    !ptc_view_read(v, addr + l->type_str, name, sizeof(name)))
		return false;
	ret->kind = kind & KIND_MASK;
	ret->star = (tflag & EXTRA_STAR) != 0;
	ret->name = ptc_le32(name);
	return ret->kind != PTC_GO_NIL;
}

/* Go prints a string as it is. Here the text ends at a NUL. */
static bool read_text(const struct ptc_memory_view *v, uint64_t addr, struct ptc_go_panic *ret)
{
	uint64_t words[2], n;

	if (!read_words(v, addr, words, 2))
		return false;
	n = words[1] < sizeof(ret->text) ? words[1] : sizeof(ret->text) - 1;
	ret->text_cut = n < words[1];
	if (n && (!is_address(words[0]) || !ptc_view_read(v, words[0], ret->text, (size_t)n)))
		return false;
	ret->text_cut |= strlen(ret->text) < n;
	return true;
}

bool ptc_go_panic_read(const struct ptc_memory_view *v, const struct ptc_go_layout *l, uint64_t g,
		       struct ptc_go_panic *ret)
{
	uint64_t panic, type;
	uint8_t goexit;

	*ret = (struct ptc_go_panic){ .goroutine = 0 };
	if (!is_layout(l) || !is_address(g) || !ptc_view_word(v, g + l->g_goid, &ret->goroutine) ||
	    !ptc_view_word(v, g + l->g_panic, &panic) || !is_address(panic) ||
	    !ptc_view_read(v, panic + l->panic_goexit, &goexit, 1) || goexit ||
	    !ptc_view_word(v, panic + l->panic_arg, &type) ||
	    !ptc_view_word(v, panic + l->panic_arg + WORD, &ret->addr))
		return false;
	if (!type)
		return true;
	if (!read_type(v, l, type, ret))
		return false;
	if (ret->kind == PTC_GO_STRING)
		return read_text(v, ret->addr, ret);
	return !size_of(ret->kind) || (is_address(ret->addr) &&
				       ptc_view_read(v, ret->addr, ret->value, size_of(ret->kind)));
}
