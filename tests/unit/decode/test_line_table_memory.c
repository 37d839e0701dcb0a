/* SPDX-License-Identifier: MIT */
/* Description: the memory that a table of source lines takes in libdw is known from its bytes. */
#include <criterion/criterion.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "decode/symbols/line_table_memory.h"

enum { ROWS = 100, OPCODES = 13 };

static const struct ptc_cur none = { NULL, NULL };

/* Adds @b to the table, with its length in front. */
static void finish(struct ptc_buf *table, const struct ptc_buf *b)
{
	ptc_buf_le32(table, (uint32_t)b->len);
	ptc_buf_put(table, b->bytes, b->len);
}

static void begin(struct ptc_buf *b, uint16_t version)
{
	unsigned int i;

	ptc_buf_le16(b, version);
	if (version == 5)
		ptc_buf_le16(b, 8);
	ptc_buf_le32(b, 0); /* the length of the header: not used */
	for (i = 0; i < (version >= 4 ? 5u : 4u); i++)
		ptc_buf_u8(b, 1);
	ptc_buf_u8(b, OPCODES);
	for (i = 1; i < OPCODES; i++)
		ptc_buf_u8(b, i == DW_LNS_advance_pc || i == DW_LNS_advance_line);
}

/* Adds ROWS rows, among opcodes that make no row. */
static void put_program(struct ptc_buf *b)
{
	unsigned int i;

	for (i = 0; i < ROWS - 2; i++) {
		ptc_buf_u8(b, DW_LNS_advance_pc);
		ptc_buf_le16(b, 0x1ff); /* a number of two bytes; the first looks like an opcode */
		b->bytes[b->len - 2] = 0xff;
		ptc_buf_u8(b, OPCODES);
	}
	ptc_buf_u8(b, DW_LNS_copy);
	ptc_buf_u8(b, DW_LNS_fixed_advance_pc);
	ptc_buf_le16(b, 0x0101);
	ptc_buf_u8(b, 0);
	ptc_buf_u8(b, 1);
	ptc_buf_u8(b, DW_LNE_end_sequence);
}

/* Version @version: a folder name of @len bytes, and @files files in it, with names of one byte. */
static void make(struct ptc_buf *table, uint16_t version, size_t len, unsigned int files)
{
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int i;

	begin(&b, version);
	for (i = 0; i < len; i++)
		ptc_buf_u8(&b, 'd');
	ptc_buf_u8(&b, 0);
	ptc_buf_u8(&b, 0); /* no other folder */
	for (i = 0; i < files; i++) {
		ptc_buf_le16(&b, 'f');
		ptc_buf_u8(&b, 1);
		ptc_buf_le16(&b, 0);
	}
	ptc_buf_u8(&b, 0);
	put_program(&b);
	finish(table, &b);
	ptc_buf_release(&b);
}

static void make_newest(struct ptc_buf *table, unsigned int files)
{
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int i;

	begin(&b, 5);
	ptc_buf_u8(&b, 1);
	ptc_buf_u8(&b, DW_LNCT_path);
	ptc_buf_u8(&b, DW_FORM_line_strp);
	ptc_buf_u8(&b, 1);
	ptc_buf_le32(&b, 0);
	ptc_buf_u8(&b, 2);
	ptc_buf_u8(&b, DW_LNCT_path);
	ptc_buf_u8(&b, DW_FORM_line_strp);
	ptc_buf_u8(&b, DW_LNCT_directory_index);
	ptc_buf_u8(&b, DW_FORM_udata);
	ptc_buf_u8(&b, (uint8_t)files);
	for (i = 0; i < files; i++) {
		ptc_buf_le32(&b, 0);
		ptc_buf_u8(&b, 0);
	}
	put_program(&b);
	finish(table, &b);
	ptc_buf_release(&b);
}

static uint64_t cost_of(const struct ptc_buf *table, struct ptc_cur strings)
{
	const struct ptc_line_sections s = { ptc_cur_init(table->bytes, table->len), strings,
					     none };

	return ptc_linecost(&s, 0);
}

Test(line_table_memory, each_row_costs)
{
	struct ptc_buf table = PTC_BUF_INIT;
	uint16_t version;

	for (version = 2; version < 5; version++) {
		ptc_buf_reset(&table);
		make(&table, version, 1, 0);
		cr_assert_eq(cost_of(&table, none), 112UL * ROWS, "%u", version);
	}
	ptc_buf_release(&table);
}

Test(line_table_memory, each_file_has_the_name_of_its_folder)
{
	struct ptc_buf table = PTC_BUF_INIT;
	uint64_t n;

	make(&table, 4, 10000, 50);
	n = cost_of(&table, none);
	cr_assert(n > 50UL * 10000 && n < 50UL * 10200 + 112UL * ROWS, "%llu",
		  (unsigned long long)n);
	ptc_buf_release(&table);
}

Test(line_table_memory, strings_of_another_section_count_for_each_file)
{
	struct ptc_buf table = PTC_BUF_INIT;
	char *strings = malloc(10001);
	uint64_t n;

	memset(strings, 's', 10000);
	strings[10000] = '\0';
	make_newest(&table, 50);
	n = cost_of(&table, ptc_cur_init(strings, 10001));
	cr_assert(n > 100UL * 10000 && n < 100UL * 10200 + 112UL * ROWS, "%llu",
		  (unsigned long long)n);
	/* A string without an end is invalid. */
	cr_assert_eq(cost_of(&table, ptc_cur_init(strings, 10000)), UINT64_MAX);
	free(strings);
	ptc_buf_release(&table);
}

Test(line_table_memory, what_is_cut_is_read_to_its_end)
{
	struct ptc_buf table = PTC_BUF_INIT;
	static const char string[] = "s";
	size_t n, i;

	for (i = 0; i < 2; i++) {
		ptc_buf_reset(&table);
		if (i)
			make_newest(&table, 3);
		else
			make(&table, 4, 3, 3);
		for (n = 0; n < table.len; n++) {
			uint8_t *cut = malloc(n ? n : 1);
			struct ptc_line_sections s = { ptc_cur_init(cut, n),
						       ptc_cur_init(string, sizeof(string)), none };

			memcpy(cut, table.bytes, n);
			cr_assert_eq(ptc_linecost(&s, 0), UINT64_MAX, "%zu", n);
			if (n > 4) { /* all of a shorter table */
				const uint32_t len = (uint32_t)(n - 4);

				memcpy(cut, &len, sizeof(len));
				(void)ptc_linecost(&s, 0);
			}
			free(cut);
		}
		cr_assert_eq(cost_of(&table, none) == UINT64_MAX, i == 1);
	}
	ptc_buf_release(&table);
}

Test(line_table_memory, an_offset_outside_is_none)
{
	const struct ptc_line_sections s = { none, none, none };

	cr_assert_eq(ptc_linecost(&s, 0), UINT64_MAX);
	cr_assert_eq(ptc_linecost(&s, UINT64_MAX), UINT64_MAX);
}
