/* SPDX-License-Identifier: MIT */
#include "arch/python_layout.h"

#include <string.h>

#include "base/cursor.h"

enum {
	WORD = 8,
	STEP = 4096,
	OFFSET_MAX = 1 << 16,
	INTERPRETERS_MAX = 64,
	THREADS_MAX = 4096,
	DESCRIPTION = 352, /* bytes of a struct _Py_DebugOffsets that are used */
	MINOR = 16,	   /* bits of a version below its minor version */
	HEADS = 3 * WORD,  /* the first interpreter, the main one, and the next ID */
	IDS_MAX = 1 << 20,
};

static const char cookie[WORD] = { 'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y' };

static const struct ptc_python_layout layouts[] = {
	{
		.head = 40,
		.threads = 16,
		.next = 8,
		.interp = 16,
		.id = 152,
		.cframe = 56,
		.current = 8,
		.frame_code = 32,
		.frame_instr = 56,
		.frame_previous = 48,
		.frame_owner = 69,
		.qualname = 128,
		.file = 112,
		.linetable = 136,
		.first_line = 72,
		.code = 184,
		.ascii = 48,
		.compact = 72,
	},
	{
		.head = 40,
		.threads = 72,
		.next = 8,
		.interp = 16,
		.id = 136,
		.cframe = 56,
		.current = 0,
		.frame_code = 0,
		.frame_instr = 56,
		.frame_previous = 8,
		.frame_owner = 70,
		.qualname = 128,
		.file = 112,
		.linetable = 136,
		.first_line = 68,
		.code = 192,
		.ascii = 40,
		.compact = 56,
	},
};

unsigned int ptc_python_version(const char *name)
{
	const char *slash = strrchr(name, '/'), *at = slash ? slash + 1 : name;
	unsigned int minor = 0;
	size_t i;

	at += strncmp(at, "lib", 3) ? 0 : 3;
	if (strncmp(at, "python3.", 8) != 0)
		return 0;
	for (i = 8; i < 10 && at[i] >= '0' && at[i] <= '9'; i++)
		minor = minor * 10 + (unsigned int)(at[i] - '0');
	if (at[i] >= '0' && at[i] <= '9')
		return 0;
	return minor >= PTC_PYTHON_OLDEST && minor <= PTC_PYTHON_DESCRIBED ? minor : 0;
}

/* --- the description in memory --- */

/* Takes the offset at byte @at of the description. False: it is not below @limit. */
static bool take_offset(const uint8_t *bytes, size_t at, uint32_t limit, uint32_t *ret)
{
	const uint64_t offset = ptc_le64(bytes + at);

	*ret = (uint32_t)offset;
	return offset < limit;
}

/* A build for free threading has other objects, and is refused. */
static bool read_description(const struct ptc_memory_view *v, uint64_t runtime,
			     struct ptc_python_layout *ret)
{
	const struct {
		size_t at;
		uint32_t limit, *to;
	} fields[] = {
		{ 40, OFFSET_MAX, &ret->head },
		{ 64, OFFSET_MAX, &ret->interp_next },
		{ 72, OFFSET_MAX, &ret->threads },
		{ 168, OFFSET_MAX, &ret->next },
		{ 176, OFFSET_MAX, &ret->interp },
		{ 184, OFFSET_MAX, &ret->current },
		{ 192, OFFSET_MAX, &ret->id },
		{ 232, PTC_PYTHON_FRAME - WORD, &ret->frame_previous },
		{ 240, PTC_PYTHON_FRAME - WORD, &ret->frame_code },
		{ 248, PTC_PYTHON_FRAME - WORD, &ret->frame_instr },
		{ 264, PTC_PYTHON_FRAME - WORD, &ret->frame_owner },
		{ 280, PTC_PYTHON_CODE - WORD, &ret->file },
		{ 296, PTC_PYTHON_CODE - WORD, &ret->qualname },
		{ 304, PTC_PYTHON_CODE - WORD, &ret->linetable },
		{ 312, PTC_PYTHON_CODE - WORD, &ret->first_line },
		{ 344, PTC_PYTHON_CODE, &ret->code },
	};
	uint8_t bytes[DESCRIPTION];
	size_t i;

	*ret = layouts[1];
	ret->cframe = PTC_PYTHON_NO_CFRAME;
	if (!ptc_view_read(v, runtime, bytes, sizeof(bytes)) ||
	    memcmp(bytes, cookie, sizeof(cookie)) != 0 ||
	    ptc_le64(bytes + WORD) >> MINOR != (3 << 8 | PTC_PYTHON_DESCRIBED) ||
	    ptc_le64(bytes + (size_t)2 * WORD)) /* free threading */
		return false;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!take_offset(bytes, fields[i].at, fields[i].limit, fields[i].to))
			return false;
	return true;
}

bool ptc_python_layout(const struct ptc_memory_view *v, unsigned int minor, uint64_t runtime,
		       struct ptc_python_layout *ret)
{
	if (minor == PTC_PYTHON_DESCRIBED)
		return read_description(v, runtime, ret);
	if (minor < PTC_PYTHON_OLDEST || minor > PTC_PYTHON_DESCRIBED)
		return false;
	*ret = layouts[minor - PTC_PYTHON_OLDEST];
	return true;
}

/* --- finding --- */

/*
 * Are these words a list of interpreters: the first, the main one, and the next ID? The main
 * interpreter is a part of _PyRuntime.
 */
static bool may_be_heads(const uint8_t *words, uint64_t addr, uint64_t to)
{
	const uint64_t first = ptc_le64(words), main = ptc_le64(words + WORD);
	const uint64_t ids = ptc_le64(words + (size_t)2 * WORD);

	return ptc_is_user_address(first) && first % WORD == 0 && main > addr && main < to &&
	       main % WORD == 0 && ids && ids <= IDS_MAX;
}

/* Does the main interpreter have a thread that belongs to that interpreter? */
static bool has_thread(const struct ptc_memory_view *v, const struct ptc_python_layout *l,
		       uint64_t interpreter)
{
	uint64_t thread, of;

	return ptc_view_word(v, interpreter + l->threads, &thread) && ptc_is_user_address(thread) &&
	       ptc_view_word(v, thread + l->interp, &of) && of == interpreter;
}

static bool is_runtime(const struct ptc_memory_view *v, unsigned int minor, const uint8_t *words,
		       uint64_t addr, uint64_t to, uint64_t *ret)
{
	struct ptc_python_layout l;

	*ret = addr;
	if (minor == PTC_PYTHON_DESCRIBED)
		return !memcmp(words, cookie, sizeof(cookie)) &&
		       ptc_python_layout(v, minor, addr, &l);
	if (!may_be_heads(words, addr, to) || !ptc_python_layout(v, minor, addr, &l))
		return false;
	*ret = addr - l.head;
	return has_thread(v, &l, ptc_le64(words + WORD));
}

bool ptc_python_find_runtime(const struct ptc_memory_view *v, unsigned int minor, uint64_t from,
			     uint64_t to, uint64_t *ret)
{
	uint8_t bytes[STEP + HEADS];
	uint64_t at, found;
	size_t n, i;

	for (at = from; at < to; at += STEP) {
		n = v->read(v->ctx, at, bytes, sizeof(bytes));
		for (i = 0; i < STEP && i + HEADS <= n; i += WORD)
			if (is_runtime(v, minor, bytes + i, at + i, to, &found)) {
				*ret = found;
				return true;
			}
	}
	return false;
}

/* Searches the threads of one interpreter. @left: how many may be read. */
static bool find_in(const struct ptc_memory_view *v, const struct ptc_python_layout *l,
		    uint64_t interpreter, uint64_t fs_base, size_t *left, uint64_t *ret)
{
	uint64_t thread, of, id;

	if (!ptc_view_word(v, interpreter + l->threads, &thread))
		return false;
	for (; ptc_is_user_address(thread) && *left; (*left)--) {
		if (!ptc_view_word(v, thread + l->interp, &of) || of != interpreter ||
		    !ptc_view_word(v, thread + l->id, &id))
			return false;
		if (id == fs_base) {
			*ret = thread;
			return true;
		}
		if (!ptc_view_word(v, thread + l->next, &thread))
			return false;
	}
	return false;
}

bool ptc_python_find_thread(const struct ptc_memory_view *v, const struct ptc_python_layout *l,
			    uint64_t runtime, uint64_t fs_base, uint64_t *ret)
{
	size_t left = THREADS_MAX, i;
	uint64_t interpreter;

	if (!ptc_view_word(v, runtime + l->head, &interpreter))
		return false;
	for (i = 0; i < INTERPRETERS_MAX && left && ptc_is_user_address(interpreter); i++) {
		if (find_in(v, l, interpreter, fs_base, &left, ret))
			return true;
		if (!ptc_view_word(v, interpreter + l->interp_next, &interpreter))
			return false;
	}
	return false;
}
