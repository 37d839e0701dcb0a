/* SPDX-License-Identifier: MIT */
/* Description: the text of --filter becomes address ranges in files and in the kernel. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/record/addr_filter.h"
#include "lib_elf.h"
#include "ptcap/locate.h"

static char dir[64], program[96], kallsyms[96];

static void make(void)
{
	static const uint8_t code[] = { 0x90, 0x90, 0xc3 };
	static const char names[] = "ffffffff81000000 T _text\n"
				    "ffffffff81000040 t twice\n"
				    "ffffffff81000060 D data\n"
				    "ffffffff81000080 T schedule\n"
				    "ffffffff810000c0 T twice\n"
				    "ffffffff81000100 t twice\n"
				    "ffffffffc0000010 t in_module\t[module]\n"
				    "ffffffffc0000040 t last\t[module]\n";
	struct ptc_buf b = PTC_BUF_INIT;

	le_folder(dir, sizeof(dir));
	le_program(&b, 0x400000, 0, code, sizeof(code));
	(void)snprintf(program, sizeof(program), "%s", le_write(dir, "prog", &b));
	ptc_buf_reset(&b);
	ptc_buf_put(&b, names, sizeof(names) - 1);
	(void)snprintf(kallsyms, sizeof(kallsyms), "%s", le_write(dir, "kallsyms", &b));
	ptc_buf_release(&b);
	cr_assert_eq(chdir(dir), 0);
}

static void away(void)
{
	le_folder_remove(dir);
}

TestSuite(addr_filter, .init = make, .fini = away);

/* Returns the parsed filters of @text, each as "ACTION ADDR/SIZE[@]". */
static const char *parsed(const char *text)
{
	static const char *const actions[] = { "filter", "start", "stop" };
	static char out[384];
	struct ptc_filter_list l = { NULL, 0, 0 };
	struct ptc_err err = { .msg = "" };
	size_t i, at = 0;

	if (ptc_addr_filters_parse(&l, text, kallsyms, &err)) {
		(void)snprintf(out, sizeof(out), "%d %s", (int)err.code, err.msg);
		ptc_addr_filters_release(&l);
		return out;
	}
	for (i = 0; i < l.n; i++) {
		const struct ptc_addr_filter *f = &l.items[i];

		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s %" PRIx64 "/%" PRIx64 "%s",
				       i ? ", " : "", actions[f->action], f->addr, f->size,
				       f->file ? "@" : "");
		if (f->file)
			cr_assert_str_eq(f->file, program);
	}
	ptc_addr_filters_release(&l);
	return out;
}

#define GIVES(text, want) cr_expect_str_eq(parsed(text), want, "%s: %s", text, parsed(text))
#define SAYS(text, word)  cr_expect(strstr(parsed(text), word), "%s: %s", text, parsed(text))

Test(addr_filter, numbers_are_taken_as_they_are)
{
	GIVES("filter 0x1000/0x20@prog", "filter 1000/20@");
	GIVES("  filter 4096 / 32 @ prog ", "filter 1000/20@");
	GIVES("stop 0x1000@prog", "stop 1000/0@");
	GIVES("start 0x1000 @ prog", "start 1000/0@");
	GIVES("tracestop 0x1000/1@prog", "stop 1000/1@");
	GIVES("stop 0x1000/1@prog", "stop 1000/1@");
	GIVES("filter 0xffffffff81000000/0x10", "filter ffffffff81000000/10");
}

Test(addr_filter, several_are_parted_by_blanks_or_commas)
{
	GIVES("filter 1/2@prog,tracestop 3/4@prog", "filter 1/2@, stop 3/4@");
	GIVES("filter 1/2@prog filter 3/4@prog", "filter 1/2@, filter 3/4@");
	GIVES("filter 1/2 , , filter schedule filter 3/4",
	      "filter 1/2, filter ffffffff81000080/40, filter 3/4");
}

Test(addr_filter, a_function_of_a_file_has_its_offset_and_its_size)
{
	struct ptc_extent start, text;
	struct ptc_err err;
	char want[64];

	cr_assert_eq(ptc_locate_function(program, "code_start", PTC_WHICH_ONLY, &start, &err), 0);
	cr_assert_eq(ptc_locate_function(program, "_text", PTC_WHICH_ONLY, &text, &err), 0);
	(void)snprintf(want, sizeof(want), "stop %" PRIx64 "/0@", start.start);
	GIVES("stop code_start @ prog", want);
	(void)snprintf(want, sizeof(want), "stop %" PRIx64 "/0@", text.start);
	GIVES("stop _text#1@prog", want);
	(void)snprintf(want, sizeof(want), "filter %" PRIx64 "/2@", start.start);
	GIVES("filter code_start / 2 @ prog", want);
}

Test(addr_filter, all_of_a_file_is_its_size)
{
	struct stat st;
	char want[64];

	cr_assert_eq(stat(program, &st), 0);
	(void)snprintf(want, sizeof(want), "filter 0/%llx@", (unsigned long long)st.st_size);
	GIVES("filter * @ prog", want);
	SAYS("start * @ prog", "only filter and tracestop take *");
}

Test(addr_filter, functions_of_the_kernel_reach_to_the_next)
{
	GIVES("filter schedule", "filter ffffffff81000080/40");
	GIVES("filter in_module", "filter ffffffffc0000010/30");
	GIVES("filter _text / schedule", "filter ffffffff81000000/c0");
	GIVES("stop schedule", "stop ffffffff81000080/0");
	GIVES("tracestop schedule", "stop ffffffff81000080/40");
	GIVES("filter *", "filter ffffffff81000000/3f001040");
	SAYS("filter schedule / _text", "is before the start");
	SAYS("filter data", "no function 'data' in the kernel");
}

Test(addr_filter, several_of_a_name_are_listed_and_chosen_from)
{
	SAYS("filter twice", "3 functions 'twice' in the kernel: #1 0xffffffff81000040, "
			     "#2 0xffffffff810000c0 (global), #3 0xffffffff81000100; write");
	GIVES("filter twice #2", "filter ffffffff810000c0/40");
	GIVES("filter twice #1 / twice#2", "filter ffffffff81000040/c0");
	GIVES("filter twice#g", "filter ffffffff810000c0/40");
	GIVES("filter twice #0", "filter ffffffff810000c0/40");
	SAYS("filter twice #4", "no function 'twice#4' in the kernel, which has only 3");
	SAYS("filter last#g", "no global function 'last'");
	SAYS("filter twice #x", "no number follows #");
}

Test(addr_filter, what_is_none_is_refused_with_the_place)
{
	static const char *const none[] = {
		"",
		" , ",
		"filter",
		"filter ",
		"filtr 1/2",
		"filter 1/",
		"filter 1/ @",
		"filter /2",
		"filter 1/2@",
		"filter 12x/2",
		"filter 1/2x",
		"filter #1",
		"filter 1/2@ ,",
		"1/2",
		"filter 99999999999999999999/1",
	};
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		SAYS(none[i], "invalid address filter '");
	SAYS("filter 1", "the size is not known");
	SAYS("filter schedule @ none", "cannot open 'none'");
	SAYS("filter nothing @ prog", "no function 'nothing' in '");
	SAYS("filter shcedule", "no function 'shcedule' in the kernel (did you mean 'schedule'?)");
	SAYS("filter root @ /etc/passwd", "not an ELF file");
}

Test(addr_filter, a_text_that_ends_anywhere_is_taken_or_refused)
{
	static const char text[] = "filter code_start / 2 @ prog,tracestop twice #2 / 0x40";
	size_t n;

	for (n = 0; n < sizeof(text); n++) {
		struct ptc_filter_list l = { NULL, 0, 0 };
		struct ptc_err err;
		char *exact = strndup(text, n);

		if (!ptc_addr_filters_parse(&l, exact, kallsyms, &err))
			cr_expect(l.n >= 1, "%s", exact);
		ptc_addr_filters_release(&l);
		free(exact);
	}
}

Test(addr_filter, a_kernel_that_shows_no_addresses_is_told)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 T schedule\n";
	struct ptc_filter_list l = { NULL, 0, 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	ptc_buf_put(&b, hidden, sizeof(hidden) - 1);
	cr_assert_eq(
		ptc_addr_filters_parse(&l, "filter schedule", le_write(dir, "hidden", &b), &err),
		PTC_E_PERM);
	cr_assert_not_null(strstr(err.msg, "kptr_restrict"));
	ptc_buf_release(&b);
}
