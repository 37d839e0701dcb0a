/* SPDX-License-Identifier: MIT */
/* Description: packets and code become branches, instructions and gaps. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replayed.h"

static const struct pt_how plain;

Test(replay, every_kind_of_transfer_is_listed_with_the_class_of_its_instruction)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "T");	     /* 1000 je */
	pt_tnt(&b, "T");	     /* 1025 ret, compressed */
	pt_ip(&b, PT_TIP, 0x100e);   /* 100b jmp *%rax */
	pt_ip16(&b, PT_TIP, 0x1010); /* 100e call *%rax */
	pt_tnt(&b, "N");	     /* 1010 je */
	pt_tnt(&b, "N");	     /* 1012 loop */
	pt_ip(&b, PT_TIP, 0x1018);   /* 1016 syscall, with the kernel traced */
	pt_ip(&b, PT_TIP, 0x1019);   /* 1018 int3 */
	pt_ip(&b, PT_TIP, 0x101b);   /* 1019 int */
	pt_ip(&b, PT_TIP, 0x101d);   /* 101b iret */
	pt_ip(&b, PT_TIP, 0x1020);   /* 101d sysret */
	pt_ip(&b, PT_TIP, 0x1016);   /* 1020 lret */
	pt_ip_none(&b, PT_PGD);	     /* 1016 syscall */
	replay_expect(&b, plain,
		      "0 1000 start\n"
		      "1000 1003 jcc\n"
		      "1003 1006 jmp\n"
		      "1006 1024 call\n"
		      "1025 100b ret\n"
		      "100b 100e ijmp\n"
		      "100e 1010 icall\n"
		      "1016 1018 syscall\n"
		      "1018 1019 int\n"
		      "1019 101b int\n"
		      "101b 101d iret\n"
		      "101d 1020 sysret\n"
		      "1020 1016 far\n"
		      "1016 0 syscall\n");
}

Test(replay, instructions_are_listed_one_by_one_and_a_rep_once)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x100e);
	pt_ip(&b, PT_TIP, 0x1010);
	pt_tnt(&b, "TN"); /* je +0, loop */
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, (struct pt_how){ .insns = true }, "100e\n1010\n1012\n1014\n1016\n");
}

Test(replay, a_jcc_to_the_next_instruction_is_never_listed)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1010);
	pt_tnt(&b, "TT"); /* je +0 taken, loop taken */
	pt_ip(&b, PT_TIP, 0x1010);
	pt_tnt(&b, "NN");
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain, "0 1010 start\n1012 100e jcc\n100e 1010 icall\n1016 0 syscall\n");
}

Test(replay, the_bytes_of_the_instruction_come_when_asked_for)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1003);
	pt_tnt(&b, "T");
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, (struct pt_how){ .bytes = true },
		      "0 1003 start\n"
		      "1003 1006 jmp eb01\n"
		      "1006 1024 call e819000000\n"
		      "1025 100b ret c3\n"
		      "100b 0 ijmp ffe0\n");
}

Test(replay, coming_back_is_a_start_and_going_a_line_with_the_reason)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1014);
	pt_ip(&b, PT_FUP, 0x1014); /* an interrupt in the middle of rep movsb */
	pt_ip_none(&b, PT_PGD);
	pt_enable(&b, 0x1014);
	pt_ip_none(&b, PT_PGD); /* syscall */
	pt_enable(&b, 0x1000);
	pt_ip(&b, PT_FUP, 0x1000); /* a signal: its handler, in traced code */
	pt_ip(&b, PT_TIP, 0x1024);
	pt_ip(&b, PT_TIP, 0x1003);
	pt_ip(&b, PT_FUP, 0x1006); /* at once after a jump */
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain,
		      "0 1014 start\n"
		      "1014 0 async\n"
		      "0 1014 start\n"
		      "1016 0 syscall\n"
		      "0 1000 start\n"
		      "1000 1024 async\n"
		      "1025 1003 ret\n"
		      "1003 1006 jmp\n"
		      "1006 0 async\n");
}

Test(replay, running_out_of_a_filter_is_an_exit_whether_by_a_branch_or_not)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1000);
	pt_ip(&b, PT_PGD, 0x1003); /* instead of a TNT bit: the je was taken */
	pt_enable(&b, 0x1003);
	pt_ip(&b, PT_PGD, 0x1024); /* jmp, call */
	pt_enable(&b, 0x1002);
	pt_ip(&b, PT_PGD, 0x1003); /* a nop */
	pt_enable(&b, 0x1000);
	pt_ip(&b, PT_PGD, 0x1002); /* the je was not taken */
	pt_enable(&b, 0x1014);
	pt_ip(&b, PT_FUP, 0x1014);
	pt_ip(&b, PT_PGD, 0x1024); /* interrupted */
	replay_expect(&b, plain,
		      "0 1000 start\n1000 1003 jcc\n"
		      "0 1003 start\n1003 1006 jmp\n1006 1024 call\n"
		      "0 1002 start\n1003 1003 async\n"
		      "0 1000 start\n1002 1002 async\n"
		      "0 1014 start\n1014 1024 async\n");
}

Test(replay, an_interrupted_rep_retires_once)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1014);
	pt_ip(&b, PT_FUP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	pt_enable(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, (struct pt_how){ .insns = true }, "1014\n1016\n");
}

Test(replay, a_transaction_that_aborts_is_asynchronous)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1002);
	pt_mode_tsx(&b, true, false);
	pt_ip(&b, PT_FUP, 0x1003);
	pt_mode_tsx(&b, false, true);
	pt_ip(&b, PT_FUP, 0x1006);
	pt_ip(&b, PT_TIP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain, "0 1002 start\n1003 1006 jmp\n1006 1014 async\n1016 0 syscall\n");
}

Test(replay, returns_of_a_recursion_deeper_than_the_stack_are_not_compressed)
{
	enum { DEPTH = 70, STACK = 64 };
	struct ptc_buf b = PTC_BUF_INIT;
	char *want;
	size_t len;
	FILE *f = open_memstream(&want, &len);
	int i;

	pt_psb_off(&b);
	pt_enable(&b, 0x102f);
	fprintf(f, "0 102f start\n");
	for (i = 0; i < DEPTH; i++) {
		pt_tnt(&b, "N");
		fprintf(f, "1033 102f call\n");
	}
	pt_tnt(&b, "T");
	fprintf(f, "1031 1038 jcc\n");
	for (i = 0; i < DEPTH; i++) {
		if (i < STACK)
			pt_tnt(&b, "T");
		else
			pt_ip(&b, PT_TIP, 0x1038);
		fprintf(f, "1038 1038 ret\n");
	}
	pt_ip_none(&b, PT_PGD);
	fprintf(f, "1038 0 ret\n");
	fclose(f);
	replay_expect(&b, plain, want);
	free(want);
}

Test(replay, tracing_that_was_on_before_the_trace_begins_has_no_start)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain, "1016 0 syscall\n");
}

Test(replay, a_psb_in_the_middle_changes_nothing)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "N");
	pt_psb_on(&b, 0x1003);
	pt_ip(&b, PT_TIP, 0x100b); /* the PSB clears the stack of returns */
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain, "1003 1006 jmp\n1006 1024 call\n1025 100b ret\n100b 0 ijmp\n");
}

Test(replay, an_overflow_is_a_gap_whether_it_ends_inside_or_outside_traced_code)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t first, second;
	char want[256];

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x100b);
	first = b.len;
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "N");
	second = b.len;
	pt_ovf(&b);
	pt_enable(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	snprintf(want, sizeof(want),
		 "1003 1006 jmp\n1006 1024 call\n1025 100b ret\ngap %zx 0 overflow\n"
		 "1016 0 syscall\n"
		 "0 1000 start\ngap %zx 0 overflow\n0 1014 start\n1016 0 syscall\n",
		 first, second);
	replay_expect(&b, plain, want);
}

Test(replay, a_loop_that_needs_no_trace_ends)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t at;
	char want[128];

	/* The trace ends inside it: no error. */
	pt_psb_on(&b, 0x1026);
	replay_expect(&b, plain, "");
	/* Interrupted: its iterations are unknown, but it was reached and left. */
	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_on(&b, 0x1026);
	pt_ip(&b, PT_FUP, 0x1026);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, plain, "1026 0 async\n");
	/* The trace contradicts it. */
	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_on(&b, 0x1028);
	at = b.len;
	pt_ip(&b, PT_TIP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	snprintf(want, sizeof(want), "gap %zx 0 desync\n1016 0 syscall\n", at);
	cr_assert(strstr(pt_replay(&b, &(struct pt_how){ .psb = false }), want));
	ptc_buf_release(&b);
}

Test(replay, a_time_is_that_of_the_last_packet_that_led_here)
{
	const struct ptc_time_conv conv = { .shift = 1, .mult = 4, .zero = 1000 };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb(&b);
	pt_tsc(&b, 10);
	pt_psbend(&b);
	pt_tsc(&b, 20);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "T");
	pt_tsc(&b, 30);
	pt_ip(&b, PT_TIP, 0x100b);
	pt_ip_none(&b, PT_PGD);
	pt_tsc(&b, 40);
	pt_enable(&b, 0x1014);
	replay_expect(&b, (struct pt_how){ .conv = &conv },
		      "@1040 0 1000 start\n"
		      "@1040 1000 1003 jcc\n"
		      "@1040 1003 1006 jmp\n"
		      "@1040 1006 1024 call\n"
		      "@1040 1025 100b ret\n"
		      "@1060 100b 0 ijmp\n"
		      "@1080 0 1014 start\n");
}

Test(replay, what_the_aux_records_say_comes_at_its_place)
{
	static const struct ptc_mark marks[] = { { 27, PTC_GAP_PARTIAL, 0 },
						 { 28, PTC_GAP_TRUNCATED, 0 } };
	struct pt_how how = { .marks = marks, .nmarks = 2 };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1010); /* 27 bytes */
	cr_assert_eq(b.len, 27);
	pt_tnt(&b, "TN");
	pt_ip_none(&b, PT_PGD);
	cr_assert_str_eq(pt_replay(&b, &how),
			 "gap 1b 0 partial\ngap 1c 0 truncated\n1016 0 syscall\n");
	cr_assert_eq(how.stats.gaps[PTC_GAP_PARTIAL], 1);
	cr_assert_eq(how.stats.gaps[PTC_GAP_TRUNCATED], 1);
	cr_assert_eq(how.stats.branches, 1);
	cr_assert_eq(how.stats.insns, 4);
	ptc_buf_release(&b);
}

/* Returns the next line of *text that is no gap, and moves *text on. NULL: none. */
static const char *next_line(const char **text, size_t *len)
{
	const char *line;

	do {
		line = *text;
		*len = strcspn(line, "\n");
		*text += *len + (line[*len] == '\n');
	} while (!strncmp(line, "gap", 3));
	return *len ? line : NULL;
}

static void expect_beginning(const char *got, const char *whole)
{
	const char *line, *want;
	size_t len, want_len;

	while ((line = next_line(&got, &len)) != NULL) {
		want = next_line(&whole, &want_len);
		cr_assert(want && len == want_len && !memcmp(line, want, len), "%.*s", (int)len,
			  line);
	}
}

Test(replay, any_cut_of_a_stream_ends_and_tells_no_more_than_the_whole)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char *whole;
	size_t n;
	int mode;

	pt_psb(&b);
	pt_tsc(&b, 99);
	pt_psbend(&b);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "TT");
	pt_ip(&b, PT_TIP, 0x100e);
	pt_ip16(&b, PT_TIP, 0x1010);
	pt_tnt(&b, "NN");
	pt_ip_none(&b, PT_PGD);
	pt_psb_off(&b);
	pt_ovf(&b);
	pt_enable(&b, 0x1014);
	pt_ip(&b, PT_FUP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	for (mode = 0; mode < 4; mode++) {
		struct pt_how how = { .psb = mode & 1, .insns = mode & 2, .max_steps = 999 };

		whole = strdup(pt_replay(&b, &how));
		cr_assert(strlen(whole) > 30);
		for (n = (size_t)mode % PT_CUT_STEP; n <= b.len; n += PT_CUT_STEP) {
			const char *got = pt_replay_bytes(b.bytes, n, &how);

			/*
			 * Instructions run on to the next need of trace: past an exit that was cut
			 * off.
			 */
			if (!how.insns)
				expect_beginning(got, whole);
		}
		free(whole);
	}
	ptc_buf_release(&b);
}

/*
 * Calls until the stack is deep, and back. Timing packets are between some TNT packets. pt_replay()
 * compares the result with that of single steps.
 */
Test(replay, times_between_full_tnt_packets_come_when_their_bits_are_used)
{
	const struct ptc_time_conv conv = { .shift = 1, .mult = 4, .zero = 1000 };
	const struct ptc_mark marks[] = { { 60, PTC_GAP_PARTIAL, 0 }, { 90, PTC_GAP_PARTIAL, 0 } };
	struct pt_how how = { .conv = &conv, .marks = marks, .nmarks = 2 };
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text;
	int i;

	pt_psb_off(&b);
	pt_tsc(&b, 1);
	pt_enable(&b, 0x102f);
	for (i = 0; i < 60; i++) {
		pt_tnt(&b, "NNNNNN");
		if (i % 7 == 3 || i % 11 == 5)
			pt_tsc(&b, 100 + (uint64_t)i);
	}
	pt_tnt(&b, "TT");
	for (i = 0; i < 10; i++) {
		pt_tnt(&b, "TTTTTT");
		if (i % 3 == 1)
			pt_tsc(&b, 1000 + (uint64_t)i);
	}
	pt_ip_none(&b, PT_PGD);
	text = pt_replay(&b, &how);
	/* The first time is behind the fourth packet, and applies from the fifth on. */
	cr_assert(strstr(text, "@1002 1033 102f call\n@1206 1033 102f call\n"), "%s", text);
	cr_assert_eq(how.stats.gaps[PTC_GAP_PARTIAL], 2);
	ptc_buf_release(&b);
}

/*
 * A PSB bounds the time in front of it, also in a row of blocks. pt_replay() compares with single
 * steps.
 */
Test(replay, a_psb_between_full_tnt_packets_bounds_the_time)
{
	const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 0 };
	struct pt_how how = { .conv = &conv };
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text;
	uint64_t i;

	pt_psb_off(&b);
	pt_enable(&b, 0x102f);
	for (i = 1; i < 20; i++) {
		pt_tnt(&b, "NNNNNN NNNNNN NNNNNN");
		if (i == 7)
			pt_tsc(&b, 5000); /* wrong */
		pt_tnt(&b, "NNNNNN NNNNNN");
		pt_psb(&b);
		pt_tsc(&b, 100 * i);
		pt_ip(&b, PT_FUP, 0x102f);
		pt_psbend(&b);
		pt_tsc(&b, 100 * i + 50);
	}
	pt_tnt(&b, "NNNNNN NNNNNN");
	text = pt_replay(&b, &how);
	cr_assert(strstr(text, "@650 1033 102f call\n@700 1033 102f call\n"), "%s", text);
	cr_assert_not(strstr(text, "@5000 "), "%s", text);
	ptc_buf_release(&b);
}

/* The TSC packet is invalid: a PSB begins in it, and the apparent TNT behind it ends that. */
Test(replay, a_psb_in_a_packet_ends_a_row_of_blocks)
{
	struct pt_how how = { 0 };
	struct ptc_buf b = PTC_BUF_INIT;
	const char *text;
	int i;

	pt_psb_off(&b);
	pt_enable(&b, 0x102f);
	for (i = 0; i < 5; i++)
		pt_tnt(&b, "NNNNNN");
	ptc_buf_u8(&b, 0x19);
	pt_psb_on(&b, 0x100b);
	pt_ip(&b, PT_TIP, 0x100b);
	pt_ip_none(&b, PT_PGD);
	text = pt_replay(&b, &how);
	cr_assert(strstr(text, "gap 21 0 desync\n"), "%s", text);
	cr_assert(strstr(text, "100b 100b ijmp\n100b 0 ijmp\n"), "%s", text);
	ptc_buf_release(&b);
}

/*
 * libipt treats some damage differently if the code is in its cache. pt_replay() decodes everything
 * both ways, and compares.
 */
Test(replay, an_address_that_is_missing_is_an_error_also_in_code_that_ran_before)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x100b);
	pt_ip(&b, PT_TIP, 0x100b); /* jmp *%rax, to itself */
	pt_ip(&b, PT_TIP, 0x100b);
	pt_ip_none(&b, PT_TIP);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD); /* syscall */
	replay_expect(
		&b, plain,
		PT_BY_LIBIPT("0 100b start\n100b 100b ijmp\n100b 100b ijmp\ngap 29 1 desync\n1016 "
			     "0 syscall\n",
			     "0 100b start\n100b 100b ijmp\n100b 100b ijmp\ngap 29 9 badpacket\n"));
}

Test(replay, an_address_that_a_return_misses_is_an_error_also_in_code_that_ran_before)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1024);
	pt_ip(&b, PT_TIP, 0x1024); /* ret */
	pt_ip_none(&b, PT_TIP);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD); /* syscall */
	replay_expect(&b, plain, "0 1024 start\n1025 1024 ret\ngap 22 1 desync\n1016 0 syscall\n");
}

Test(replay, behind_a_psb_that_tells_no_mode_nothing_is_decoded_by_the_mode_of_before)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1025);
	pt_ip(&b, PT_TIP, 0x1025); /* ret */
	ptc_buf_u8(&b, 0xd9);	   /* no packet */
	pt_psb(&b);
	pt_ip(&b, PT_FUP, 0x1025); /* without a mode */
	pt_psbend(&b);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD); /* syscall */
	pt_psb_on(&b, 0x1025);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD); /* syscall */
	replay_expect(&b, (struct pt_how){ .psb = true },
		      "gap 1b 29 badpacket\n1025 1016 ret\n1016 0 syscall\n");
}

Test(replay, what_no_packet_says_is_not_listed_where_the_trace_ends)
{
	struct pt_how insns = { .insns = true };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x100b);
	pt_ip(&b, PT_TIP, 0x1003); /* a jmp, a call and a return come next */
	cr_assert_str_eq(pt_replay(&b, &insns), "100b\n");
	replay_expect(&b, (struct pt_how){ .psb = false }, "100b 1003 ijmp\n");
	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T");
	replay_expect(&b, (struct pt_how){ .psb = false }, "1000 1003 jcc\n");
	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_on(&b, 0x1003);
	replay_expect(&b, (struct pt_how){ .psb = false }, "");
}

Test(replay, the_branch_in_front_of_an_overflow_is_listed_if_a_packet_told_of_it)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T"); /* the code behind it may have run, or not */
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x100e);
	pt_ip(&b, PT_TIP, 0x1000);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1006);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, (struct pt_how){ .psb = false },
		      "1000 1003 jcc\ngap 1c 0 overflow\n100e 1000 icall\ngap 2c 0 overflow\n"
		      "gap 35 0 overflow\n1016 0 syscall\n");
}
