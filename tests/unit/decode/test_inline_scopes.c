/* SPDX-License-Identifier: MIT */
/* Description: inlined functions in debug information that is damaged, or made to be expensive. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/image/codefile.h"
#include "decode/symbols/srcline.h"
#include "lib_skip.h"

/* The file offset of the code is that of its address: see the linker's options. */
enum { CODE_OFF = 0x1000 };

/* Abbreviations: 1 unit, 2 function, 3 block, 4 inlined, 5 block with sibling, 6 name, 7 origin. */
static const char head[] =
	".globl _start\n"
	".file 1 \"a.c\"\n"
	".text\n"
	"_start: .loc 1 1\n"
	".rept 64; nop; .endr\n"
	".Lend: .section .debug_line,\"\",@progbits\n"
	".Lline: .section .debug_abbrev,\"\",@progbits\n"
	".Labbrev: .byte 1,0x11,1, 0x11,1, 0x12,7, 0x10,0x17, 0,0\n" /* unit: low, high, lines */
	".byte 2,0x2e,1, 3,8, 0x11,1, 0x12,7, 0,0\n"		     /* function: name, low, high */
	".byte 3,0x0b,1, 0,0\n"					     /* block */
	".byte 4,0x1d,1, 0x31,0x13, 0x11,1, 0x12,7, 0x58,0xb, 0x59,0xb, 0,0\n" /* inlined */
	".byte 5,0x0b,1, 1,0x13, 0,0\n"					       /* block: sibling */
	".byte 6,0x2e,0, 3,8, 0,0\n"					       /* function: name */
	".byte 7,0x2e,0, 0x31,0x13, 0,0, 0\n" /* function: its origin */
	".section .debug_info,\"\",@progbits\n"
	".Lunit: .long .Lstop - .Lstart\n"
	".Lstart: .short 4\n"
	".long .Labbrev\n"
	".byte 8, 1\n"
	".quad _start, .Lend - _start\n"
	".long .Lline\n";

static char dir[] = "/tmp/ptcap-scopes-XXXXXX";
static FILE *source;

static void begin(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
	source = fopen("p.s", "w");
	cr_assert_not_null(source);
	cr_assert_geq(fputs(head, source), 0);
}

static void put(const char *text)
{
	cr_assert_geq(fputs(text, source), 0);
}

static void put_times(size_t n, const char *text)
{
	while (n--)
		put(text);
}

#define OUTER ".byte 2; .asciz \"outer\"; .quad _start, .Lend - _start\n"
#define INLINED_OF(origin)                                                                         \
	".byte 4; .long " origin " - .Lunit; .quad _start, .Lend - _start; .byte 1, 7\n"
#define END ".byte 0\n"

static char innermost[64]; /* the function that find() has found, or "" */

/* Builds the program, and returns the number of functions at its first instruction. */
static size_t find(void)
{
	struct ptc_srclines lines = PTC_SRCLINES_INIT;
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_inline_frame frames[PTC_INLINE_MAX];
	struct ptc_codefile *file;
	struct ptc_err err;
	size_t n;
	int line;

	put(".Lstop:\n");
	cr_assert_eq(fclose(source), 0);
	if (system("gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000,-z,max-page-size=4096 "
		   "-o program p.s >log 2>&1") != 0)
		skip_without("gcc for this program");
	cr_assert_eq(ptc_codefiles_open(&files, "program", &file, &err), 0, "%s", err.msg);
	cr_assert_not_null(ptc_srcline_find(&lines, file, CODE_OFF, &line), "no lines");
	n = ptc_srcline_inlines(&lines, file, CODE_OFF, frames);
	(void)snprintf(innermost, sizeof(innermost), "%s",
		       n && frames[0].function ? frames[0].function : "");
	ptc_srclines_release(&lines);
	ptc_codefiles_release(&files);
	return n;
}

static void remove_dir(void)
{
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(unlink("p.s") | unlink("log"), 0);
	(void)unlink("program");
	cr_assert_eq(chdir("/") | rmdir(dir), 0);
}

TestSuite(inline_scopes, .init = begin, .fini = remove_dir);

Test(inline_scopes, inlined_functions_are_found)
{
	put(OUTER INLINED_OF(".Lf") INLINED_OF(".Lg") END END END);
	put(".Lf: .byte 6; .asciz \"f\"\n.Lg: .byte 6; .asciz \"g\"\n" END);
	cr_assert_eq(find(), 3);
	cr_assert_str_eq(innermost, "g");
}

Test(inline_scopes, an_inlined_function_without_a_function_around_it_is_left_out)
{
	put(INLINED_OF(".Lf") END ".Lf: .byte 6; .asciz \"f\"\n" END);
	cr_assert_eq(find(), 0);
}

Test(inline_scopes, more_functions_than_the_limit_are_left_out)
{
	put(OUTER);
	put_times(PTC_INLINE_MAX - 2, INLINED_OF(".Lf"));
	put(INLINED_OF(".Lg"));
	put_times(40, INLINED_OF(".Lf"));
	put_times(PTC_INLINE_MAX - 1 + 40, END);
	put(END ".Lf: .byte 6; .asciz \"f\"\n.Lg: .byte 6; .asciz \"g\"\n" END);
	cr_assert_eq(find(), PTC_INLINE_MAX);
	cr_assert_str_eq(innermost, "g");
}

Test(inline_scopes, a_deep_tree_has_no_functions)
{
	put(OUTER);
	put_times(300, ".byte 3\n");
	put(INLINED_OF(".Lf") END);
	put_times(300, END);
	put(END ".Lf: .byte 6; .asciz \"f\"\n" END);
	cr_assert_eq(find(), 0);
}

Test(inline_scopes, siblings_in_a_circle_end)
{
	put(OUTER ".Lfirst: .byte 5; .long .Lsecond - .Lunit\n" END);
	put(".Lsecond: .byte 5; .long .Lfirst - .Lunit\n" END END END);
	cr_assert_eq(find(), 0);
}

Test(inline_scopes, origins_in_a_circle_end)
{
	put(OUTER INLINED_OF(".Lf") END END);
	put(".Lf: .byte 7; .long .Lg - .Lunit\n.Lg: .byte 7; .long .Lf - .Lunit\n" END);
	cr_assert_eq(find(), 2);
	cr_assert_str_eq(innermost, "");
}

Test(inline_scopes, an_origin_outside_of_the_unit_is_no_name)
{
	put(OUTER ".byte 4; .long 0x7fffffff; .quad _start, .Lend - _start; .byte 1, 7\n" END END);
	put(END);
	cr_assert_eq(find(), 2);
	cr_assert_str_eq(innermost, "");
}

/* Without DW_AT_sibling, libdw passes the tail of the tree once for each block around it. */
Test(inline_scopes, a_tree_that_takes_long_to_walk_has_no_functions)
{
	put(OUTER INLINED_OF(".Lf") END);
	put_times(200, ".byte 3\n");
	put(".rept 1 << 19; .byte 6, 0; .endr\n");
	put_times(200, END);
	put(END ".Lf: .byte 6; .asciz \"f\"\n" END);
	cr_assert_eq(find(), 0);
}
