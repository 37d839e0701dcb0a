/* SPDX-License-Identifier: MIT */
#include "arch/python_stack.h"

#include <string.h>

#include "arch/python_lines.h"
#include "base/cursor.h"

enum {
	WORD = 8,
	TYPE = 8,  /* offset of the type in each object */
	SIZE = 16, /* offset of the number of code units in a code object */
	UNIT = 2,  /* bytes */
	/* of a string: offsets in the object, and parts of the state */
	LENGTH = 16,
	STATE = 32,
	STRING = 40,
	KIND_SHIFT = 2,
	KIND_MASK = 7,
	COMPACT = 1 << 5,
	ASCII = 1 << 6,
	STRING_MAX = 1 << 20, /* characters */
	KINDS = 4,	      /* bytes of the largest characters */
	UTF8 = 4,
	CODE_UNITS_MAX = 1 << 26,
	LINES_MAX = 1 << 30,
	/* enum _frameowner: a frame of the interpreter itself */
	OF_C_STACK = 3,
	STRUCTURES = 2 * PTC_PYTHON_FRAMES, /* limit of the frames that are read */
};

/* --- strings --- */

/* Puts a character as UTF-8. Returns its bytes. Others than characters become a question mark. */
static size_t put_character(uint32_t c, char ret[UTF8])
{
	if (c < ' ' || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		ret[0] = (char)(0xc0 | c >> 6);
		ret[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		ret[0] = (char)(0xe0 | c >> 12);
		ret[1] = (char)(0x80 | (c >> 6 & 0x3f));
		ret[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	ret[0] = (char)(0xf0 | c >> 18);
	ret[1] = (char)(0x80 | (c >> 12 & 0x3f));
	ret[2] = (char)(0x80 | (c >> 6 & 0x3f));
	ret[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void put_characters(const uint8_t *bytes, size_t n, size_t kind, char ret[PTC_PYTHON_NAME])
{
	size_t i, len, to = 0;
	char utf8[UTF8];
	uint32_t c;

	for (i = 0; i < n; i++, bytes += kind) {
		c = kind == 1 ? bytes[0] : kind == 2 ? ptc_le16(bytes) : ptc_le32(bytes);
		len = put_character(c, utf8);
		if (len >= PTC_PYTHON_NAME - to)
			break;
		memcpy(ret + to, utf8, len);
		to += len;
	}
	ret[to] = '\0';
}

/* Reads the string object at @addr. All strings have the same type. */
static bool read_name(struct ptc_python_stack *s, uint64_t addr, char ret[PTC_PYTHON_NAME])
{
	uint8_t head[STRING], bytes[PTC_PYTHON_NAME * KINDS];
	uint32_t state, kind;
	uint64_t length;
	size_t n;

	if (!ptc_is_user_address(addr) || addr % WORD ||
	    !ptc_view_read(s->view, addr, head, sizeof(head)))
		return false;
	length = ptc_le64(head + LENGTH);
	state = ptc_le32(head + STATE);
	kind = state >> KIND_SHIFT & KIND_MASK;
	if (!length || length > STRING_MAX || !(state & COMPACT) ||
	    (kind != 1 && kind != 2 && kind != 4) || (state & ASCII && kind != 1))
		return false;
	if (s->str_type && s->str_type != ptc_le64(head + TYPE))
		return false;
	s->str_type = ptc_le64(head + TYPE);
	n = length < PTC_PYTHON_NAME ? (size_t)length : PTC_PYTHON_NAME;
	addr += state & ASCII ? s->layout->ascii : s->layout->compact;
	if (!ptc_view_read(s->view, addr, bytes, n * kind))
		return false;
	put_characters(bytes, n, kind, ret);
	return true;
}

/* --- frames --- */

static uint64_t word_of(const uint8_t *bytes, uint32_t off)
{
	return ptc_le64(bytes + off);
}

/* Returns the line of the instruction at @insn. A function that has not begun has its first line.
 */
static uint32_t line_of(const struct ptc_python_stack *s, uint64_t addr, const uint8_t *code,
			uint64_t insn)
{
	const struct ptc_python_layout *l = s->layout;
	const uint32_t first = ptc_le32(code + l->first_line);
	const uint64_t from = addr + l->code, units = ptc_le64(code + SIZE);

	if (!first || first > LINES_MAX || units > CODE_UNITS_MAX)
		return 0;
	if (insn < from)
		return from - insn <= UNIT ? first : 0;
	if ((insn - from) / UNIT >= units)
		return 0;
	return ptc_python_line(s->view, word_of(code, l->linetable), first, (insn - from) / UNIT);
}

static bool read_code(struct ptc_python_stack *s, uint64_t addr, uint64_t insn,
		      struct ptc_python_frame *ret)
{
	uint8_t code[PTC_PYTHON_CODE] = { 0 };

	if (!ptc_is_user_address(addr) || addr % WORD ||
	    !ptc_view_read(s->view, addr, code, s->layout->code))
		return false;
	if (s->code_type && s->code_type != ptc_le64(code + TYPE))
		return false;
	s->code_type = ptc_le64(code + TYPE);
	if (!read_name(s, word_of(code, s->layout->qualname), ret->function) ||
	    !read_name(s, word_of(code, s->layout->file), ret->file))
		return false;
	ret->line = line_of(s, addr, code, insn);
	return true;
}

void ptc_python_stack_start(struct ptc_python_stack *s, const struct ptc_memory_view *v,
			    const struct ptc_python_layout *l, uint64_t thread)
{
	uint64_t at = thread;

	*s = (struct ptc_python_stack){ .view = v, .layout = l };
	if (l->cframe != PTC_PYTHON_NO_CFRAME && !ptc_view_word(v, thread + l->cframe, &at)) {
		s->cut = true;
		return;
	}
	s->cut = !ptc_view_word(v, at + l->current, &s->next);
}

/* Ends the stack: a frame is missing. */
static bool cut_here(struct ptc_python_stack *s)
{
	s->next = 0;
	s->cut = true;
	return false;
}

/* Goes on to frame @next. The mark moves at each power of two, so that each cycle meets it. */
static void go_on(struct ptc_python_stack *s, uint64_t at, uint64_t next)
{
	s->read++;
	if (!(s->read & (s->read - 1)))
		s->mark = at;
	s->next = next;
	if (next && next == s->mark)
		(void)cut_here(s);
}

bool ptc_python_stack_next(struct ptc_python_stack *s, struct ptc_python_frame *ret)
{
	const struct ptc_python_layout *l = s->layout;
	uint8_t frame[PTC_PYTHON_FRAME];
	uint64_t at;

	while (s->next) {
		at = s->next;
		if (s->n == PTC_PYTHON_FRAMES || s->read == STRUCTURES ||
		    !ptc_is_user_address(at) || at % WORD ||
		    !ptc_view_read(s->view, at, frame, sizeof(frame)))
			return cut_here(s);
		go_on(s, at, word_of(frame, l->frame_previous));
		if (frame[l->frame_owner] == OF_C_STACK)
			continue;
		if (!read_code(s, word_of(frame, l->frame_code), word_of(frame, l->frame_instr),
			       ret))
			return cut_here(s);
		s->n++;
		return true;
	}
	return false;
}
