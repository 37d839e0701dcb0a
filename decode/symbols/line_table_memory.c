/* SPDX-License-Identifier: MIT */
#include "decode/symbols/line_table_memory.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
	ROW = 112, /* libdw has each row twice, and a pointer to it, while it sorts rows */
	FILE_COST = 96,
	FORMATS_MAX = 16,
};

/* Limits: a higher cost is not added up, and more string bytes are not looked at. */
static const uint64_t ENOUGH = (uint64_t)1 << 36, SCAN_MAX = (uint64_t)1 << 28;

struct table {
	const struct ptc_line_sections *s;
	struct ptc_cur c; /* the rest of the table */
	bool wide;	  /* offsets have 8 bytes */
	uint64_t cost;	  /* bytes */
	uint64_t scanned; /* bytes of strings */
	uint64_t longest; /* longest name of a folder */
	uint8_t opcode_base;
	uint8_t lengths[256]; /* operands of each standard opcode */
};

static bool take_uleb(struct ptc_cur *c, uint64_t *ret)
{
	unsigned int shift = 0;
	uint8_t byte;

	for (*ret = 0; ptc_cur_u8(c, &byte); shift += 7) {
		if (shift < 64)
			*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_offset(struct ptc_cur *c, bool wide, uint64_t *ret)
{
	uint32_t narrow;

	if (wide)
		return ptc_cur_le64(c, ret);
	if (!ptc_cur_le32(c, &narrow))
		return false;
	*ret = narrow;
	return true;
}

static bool take_string(struct table *t, struct ptc_cur *c, uint64_t *ret_len)
{
	const size_t left = ptc_cur_left(c), n = left ? strnlen((const char *)c->pos, left) : 0;

	t->scanned += n;
	*ret_len = n;
	return ptc_cur_skip(c, n + 1) && t->scanned < SCAN_MAX;
}

static bool string_at(struct table *t, struct ptc_cur section, uint64_t off, uint64_t *ret_len)
{
	return off <= ptc_cur_left(&section) && ptc_cur_skip(&section, (size_t)off) &&
	       take_string(t, &section, ret_len);
}

/* --- versions 2 to 4 --- */

static bool read_older_names(struct table *t)
{
	uint64_t n, ignored;
	int i;

	while (take_string(t, &t->c, &n) && n)
		t->longest = n > t->longest ? n : t->longest;
	while (take_string(t, &t->c, &n) && n) {
		t->cost += t->longest + n + FILE_COST;
		for (i = 0; i < 3; i++) /* folder, time, length */
			if (!take_uleb(&t->c, &ignored))
				return false;
		if (t->cost > ENOUGH)
			return false;
	}
	return !n && t->scanned < SCAN_MAX;
}

/* --- version 5 --- */

/* Take a value of form @form. *@ret_len: the length if it is a string, else 0. */
static bool take_form(struct table *t, uint64_t form, uint64_t *ret_len)
{
	uint64_t off, n;

	*ret_len = 0;
	switch (form) {
	case DW_FORM_string:
		return take_string(t, &t->c, ret_len);
	case DW_FORM_line_strp:
		return take_offset(&t->c, t->wide, &off) &&
		       string_at(t, t->s->line_strings, off, ret_len);
	case DW_FORM_strp:
		return take_offset(&t->c, t->wide, &off) &&
		       string_at(t, t->s->strings, off, ret_len);
	case DW_FORM_udata:
		return take_uleb(&t->c, &n);
	case DW_FORM_data1:
		return ptc_cur_skip(&t->c, 1);
	case DW_FORM_data2:
		return ptc_cur_skip(&t->c, 2);
	case DW_FORM_data4:
		return ptc_cur_skip(&t->c, 4);
	case DW_FORM_data8:
		return ptc_cur_skip(&t->c, 8);
	case DW_FORM_data16:
		return ptc_cur_skip(&t->c, 16);
	case DW_FORM_block:
		return take_uleb(&t->c, &n) && n <= ptc_cur_left(&t->c) &&
		       ptc_cur_skip(&t->c, (size_t)n);
	default:
		return false;
	}
}

/* Read formats and their entries: of the folders, or of the files. */
static bool read_entries(struct table *t, bool files)
{
	uint64_t kinds[FORMATS_MAX], forms[FORMATS_MAX], n, len;
	uint8_t nformats, k;

	if (!ptc_cur_u8(&t->c, &nformats) || nformats > FORMATS_MAX)
		return false;
	for (k = 0; k < nformats; k++)
		if (!take_uleb(&t->c, &kinds[k]) || !take_uleb(&t->c, &forms[k]))
			return false;
	if (!take_uleb(&t->c, &n) || (n && !nformats))
		return false;
	for (; n; n--) {
		t->cost += FILE_COST;
		for (k = 0; k < nformats; k++) {
			if (!take_form(t, forms[k], &len))
				return false;
			if (kinds[k] != DW_LNCT_path)
				continue;
			t->cost += files ? t->longest + len : 0;
			t->longest = !files && len > t->longest ? len : t->longest;
		}
		if (t->cost > ENOUGH)
			return false;
	}
	return true;
}

/* --- the program --- */

static bool take_extended(struct table *t)
{
	struct ptc_cur body;
	uint64_t n;
	uint8_t op;

	if (!take_uleb(&t->c, &n) || n > ptc_cur_left(&t->c) ||
	    !ptc_cur_sub(&t->c, (size_t)n, &body))
		return false;
	if (!ptc_cur_u8(&body, &op))
		return true;
	if (op == DW_LNE_end_sequence)
		t->cost += ROW;
	if (op == DW_LNE_define_file)
		t->cost += FILE_COST + t->longest + n;
	return true;
}

static void read_program(struct table *t)
{
	uint64_t ignored;
	uint8_t op, k;

	while (t->cost < ENOUGH && ptc_cur_u8(&t->c, &op)) {
		if (op >= t->opcode_base || op == DW_LNS_copy) {
			t->cost += ROW;
		} else if (!op) {
			if (!take_extended(t))
				return;
		} else if (op == DW_LNS_fixed_advance_pc) {
			if (!ptc_cur_skip(&t->c, 2))
				return;
		} else {
			for (k = 0; k < t->lengths[op]; k++)
				if (!take_uleb(&t->c, &ignored))
					return;
		}
	}
}

/* Read the header up to the names. Sets *@ret_version. */
static bool read_header(struct table *t, uint16_t *ret_version)
{
	uint64_t ignored;
	uint8_t k;

	if (!ptc_cur_le16(&t->c, ret_version) || *ret_version < 2 || *ret_version > 5 ||
	    (*ret_version == 5 && !ptc_cur_skip(&t->c, 2)) ||
	    !take_offset(&t->c, t->wide, &ignored) ||
	    !ptc_cur_skip(&t->c, *ret_version >= 4 ? 5 : 4) || !ptc_cur_u8(&t->c, &t->opcode_base))
		return false;
	for (k = 1; k < t->opcode_base; k++)
		if (!ptc_cur_u8(&t->c, &t->lengths[k]))
			return false;
	return true;
}

uint64_t ptc_linecost(const struct ptc_line_sections *s, uint64_t off)
{
	struct table t = { .s = s, .c = s->lines };
	struct ptc_cur all = s->lines;
	uint16_t version;
	uint32_t narrow;
	uint64_t n;
	bool ok;

	if (off > ptc_cur_left(&all) || !ptc_cur_skip(&all, (size_t)off) ||
	    !ptc_cur_le32(&all, &narrow))
		return UINT64_MAX;
	n = narrow;
	t.wide = narrow == UINT32_MAX;
	if ((t.wide && !ptc_cur_le64(&all, &n)) || n > ptc_cur_left(&all) ||
	    !ptc_cur_sub(&all, (size_t)n, &t.c) || !read_header(&t, &version))
		return UINT64_MAX;
	ok = version < 5 ? read_older_names(&t) : read_entries(&t, false) && read_entries(&t, true);
	if (!ok)
		return UINT64_MAX;
	read_program(&t);
	return t.cost;
}
