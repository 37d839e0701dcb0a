/* SPDX-License-Identifier: MIT */
/*
 * Description: Go's table is found in a program, wherever the linker has put it; truncated
 * anywhere; with wrong bytes.
 */
#include <criterion/criterion.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "decode/symbols/go_elf.h"
#include "decode/symbols/gopclntab.h"
#include "fewer.h"
#include "lib_gopcln.h"

/*
 * Form of the program. Without any flag it is like one that Go 1.20 links without
 * position-independent code.
 */
enum {
	NO_TEXT = 1,   /* the table does not say where code begins (Go 1.26) */
	RELOCATED = 2, /* only the relocations have addresses (GNU ld) */
	NO_CODE = 4,   /* the code segment ends too early */
	NO_NOTE = 8,
	FORMS = 4, /* combinations of the first two */
};

enum {
	TABLE = 0x500000, /* addresses */
	MODULE = 0x600000,
	DYNAMIC = 0x700000,
	TEXT_FIELD = 24, /* in the table */
	MINPC = 20 * 8,	 /* in moduledata */
	MAXPC = 21 * 8,
	TEXT = 22 * 8,
	SEGMENTS = 6,
	FIRST = 64 + SEGMENTS * 56, /* offset of the first segment's bytes */
};

struct segment {
	uint32_t type, flags;
	uint64_t addr;
	struct ptc_buf bytes;
};

static void put_rela(struct ptc_buf *b, uint64_t where, uint64_t what)
{
	ptc_buf_le64(b, where);
	ptc_buf_le64(b, R_X86_64_RELATIVE);
	ptc_buf_le64(b, what);
}

/* Writes an address to the bytes of @s, or to the relocations. */
static void put_address(struct segment *s, uint64_t at, uint64_t what, struct ptc_buf *rela)
{
	if (rela)
		put_rela(rela, s->addr + at, what);
	else
		ptc_buf_set_le64(&s->bytes, at, what);
}

static void fill(struct segment *s, unsigned int form)
{
	struct ptc_buf *note = &s[0].bytes, *dynamic = &s[4].bytes, *rela = &s[5].bytes;
	struct ptc_buf *to = form & RELOCATED ? rela : NULL;

	ptc_buf_le32(note, 4);
	ptc_buf_le32(note, 0);
	ptc_buf_le32(note, 4);
	ptc_buf_put(note, form & NO_NOTE ? "Oh\0" : "Go\0", 4);
	ptc_buf_zero(&s[1].bytes, form & NO_CODE ? GP_END - 1 : GP_END);
	gp_table(&s[2].bytes, GP_1_20);
	ptc_buf_set_le64(&s[2].bytes, TEXT_FIELD, 0);
	if (!(form & NO_TEXT))
		put_address(&s[2], TEXT_FIELD, GP_TEXT, to);
	ptc_buf_zero(&s[3].bytes, TEXT + 8);
	put_address(&s[3], 0, TABLE, to);
	put_address(&s[3], MINPC, GP_TEXT + GP_MAIN, to);
	put_address(&s[3], MAXPC, GP_TEXT + GP_END, to);
	put_address(&s[3], TEXT, GP_TEXT, to);
	ptc_buf_le64(dynamic, DT_RELA);
	ptc_buf_le64(dynamic, s[5].addr);
	ptc_buf_le64(dynamic, DT_RELASZ);
	ptc_buf_le64(dynamic, rela->len);
	ptc_buf_zero(dynamic, 16);
}

/* A program without section headers. */
static void put_program(struct ptc_buf *b, unsigned int form)
{
	struct segment s[SEGMENTS] = {
		{ PT_NOTE, PF_R, 0x400000, PTC_BUF_INIT },
		{ PT_LOAD, PF_R | PF_X, GP_TEXT, PTC_BUF_INIT },
		{ PT_LOAD, PF_R, TABLE, PTC_BUF_INIT },
		{ PT_LOAD, PF_R | PF_W, MODULE, PTC_BUF_INIT },
		{ PT_DYNAMIC, PF_R | PF_W, DYNAMIC, PTC_BUF_INIT },
		{ PT_LOAD, PF_R, 0x800000, PTC_BUF_INIT },
	};
	static const uint8_t ident[EI_NIDENT] = { 0x7f,	      'E',	   'L',	      'F',
						  ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	uint64_t off = FIRST;
	size_t i;

	fill(s, form);
	ptc_buf_put(b, ident, sizeof(ident));
	ptc_buf_le16(b, form & RELOCATED ? ET_DYN : ET_EXEC);
	ptc_buf_le16(b, EM_X86_64);
	ptc_buf_le32(b, EV_CURRENT);
	ptc_buf_le64(b, GP_TEXT);
	ptc_buf_le64(b, 64);
	ptc_buf_zero(b, 8 + 4);
	ptc_buf_le16(b, 64);
	ptc_buf_le16(b, 56);
	ptc_buf_le16(b, SEGMENTS);
	ptc_buf_zero(b, 6);
	for (i = 0; i < SEGMENTS; i++) {
		ptc_buf_le32(b, s[i].type);
		ptc_buf_le32(b, s[i].flags);
		ptc_buf_le64(b, off);
		ptc_buf_le64(b, s[i].addr);
		ptc_buf_le64(b, s[i].addr);
		ptc_buf_le64(b, s[i].bytes.len);
		ptc_buf_le64(b, s[i].bytes.len);
		ptc_buf_le64(b, 8);
		off += s[i].bytes.len;
	}
	for (i = 0; i < SEGMENTS; i++) {
		ptc_buf_put(b, s[i].bytes.bytes, s[i].bytes.len);
		ptc_buf_release(&s[i].bytes);
	}
}

/* Reads the first @len bytes, in an allocation of that size. */
static struct ptc_gopclntab *find(const struct ptc_buf *b, size_t len, bool *ret_unusable)
{
	char *bytes = malloc(len ? len : 1);
	struct ptc_gopclntab *t;
	Elf *elf;

	cr_assert_not_null(bytes);
	cr_assert_neq(elf_version(EV_CURRENT), EV_NONE);
	if (len)
		memcpy(bytes, b->bytes, len);
	elf = elf_memory(bytes, len);
	t = ptc_goelf_read(elf, len, ret_unusable);
	(void)elf_end(elf);
	free(bytes);
	return t;
}

static bool is_right(const struct ptc_gopclntab *t)
{
	struct ptc_go_func f;

	return t && ptc_gopclntab_func(t, 0, &f) && f.addr == GP_TEXT + GP_MAIN;
}

Test(go_elf, each_form_is_found_with_its_addresses)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_gopclntab *t;
	unsigned int form;
	bool unusable;

	for (form = 0; form < FORMS; form++) {
		ptc_buf_reset(&b);
		put_program(&b, form);
		t = find(&b, b.len, &unusable);
		cr_assert(is_right(t), "form %u", form);
		cr_assert_not(unusable);
		ptc_gopclntab_free(t);
	}
	ptc_buf_release(&b);
}

Test(go_elf, functions_where_no_code_is_make_a_table_unusable)
{
	struct ptc_buf b = PTC_BUF_INIT;
	bool unusable;

	put_program(&b, NO_CODE);
	cr_assert_null(find(&b, b.len, &unusable));
	cr_assert(unusable);
	ptc_buf_release(&b);
}

Test(go_elf, a_program_of_another_language_has_no_table)
{
	struct ptc_buf b = PTC_BUF_INIT;
	bool unusable = true;

	put_program(&b, NO_NOTE);
	cr_assert_null(find(&b, b.len, &unusable));
	cr_assert_not(unusable);
	ptc_buf_release(&b);
}

Test(go_elf, cut_anywhere_or_with_any_byte_changed_it_is_read_without_harm)
{
	static const uint8_t lies[] = { 0x01, 0x10, 0x80, 0xff };
	enum { STEP = FEWER(1, 3) };
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int form;
	bool unusable;
	size_t i, k;

	for (form = 0; form < FORMS; form++) {
		ptc_buf_reset(&b);
		put_program(&b, form);
		/* Each form begins at another byte. */
		for (i = form % STEP; i < b.len; i += STEP) {
			ptc_gopclntab_free(find(&b, i, &unusable));
			for (k = 0; k < sizeof(lies); k++) {
				b.bytes[i] ^= lies[k];
				ptc_gopclntab_free(find(&b, b.len, &unusable));
				b.bytes[i] ^= lies[k];
			}
		}
		/* Each byte has its old value again. */
		ptc_gopclntab_free(find(&b, b.len, &unusable));
		cr_assert_not(unusable);
	}
	ptc_buf_release(&b);
}
