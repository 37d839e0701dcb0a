/* SPDX-License-Identifier: MIT */
/*
 * Description: which instructions are listed as branches, and what changes of control by the kernel
 * look like.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "capture/soft/insn_to_packets.h"

struct bench {
	struct ptc_flow flow;
	char text[4096]; /* expected branches: "from to kind;" */
};

static void drop(void *ctx, const uint8_t *bytes, size_t len)
{
	(void)ctx;
	(void)bytes;
	(void)len;
}

static void note(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	struct bench *b = ctx;
	const size_t n = strlen(b->text);

	(void)tid;
	(void)snprintf(b->text + n, sizeof(b->text) - n, "%llx %llx %s;", (unsigned long long)from,
		       (unsigned long long)to, ptc_kind_name(kind));
}

static void open_bench(struct bench *b)
{
	const struct ptc_enc_opts opts = { .psb_period = 2048, .mtc_freq = 3, .tsc_per_ctc = 125 };
	struct ptc_err err;

	memset(b, 0, sizeof(*b));
	cr_assert_eq(ptc_enc_new(&opts, drop, NULL, &b->flow.enc, &err), 0);
	b->flow.truth = note;
	b->flow.truth_ctx = b;
	ptc_enc_begin(b->flow.enc, 1);
}

static void run(struct bench *b, const char *code, size_t len, uint64_t ip, uint64_t to)
{
	struct ptc_insn insn;

	cr_assert_eq(ptc_insn_decode(PTC_MODE_64, (const uint8_t *)code, len, ip, &insn),
		     PTC_INSN_OK);
	ptc_flow_retire(&b->flow, &insn, ip, to, false, 1);
}

#define RUN(b, code, ip, to) run(b, code, sizeof(code) - 1, ip, to)

Test(insn_to_packets, taken_branches_are_listed_and_others_are_not)
{
	struct bench b;

	open_bench(&b);
	RUN(&b, "\x90", 0x1000, 0x1001);     /* nop */
	RUN(&b, "\x75\x10", 0x1001, 0x1003); /* jne, not taken */
	RUN(&b, "\x75\x10", 0x1003, 0x1015); /* jne, taken */
	RUN(&b, "\x75\x00", 0x1015, 0x1017); /* jne +0: outcome is ambiguous */
	RUN(&b, "\xeb\x00", 0x1017, 0x1019); /* jmp +0 is listed */
	RUN(&b, "\xff\xe0", 0x1019, 0x2000); /* jmp *rax */
	RUN(&b, "\xe8\x00\x00\x00\x00", 0x2000, 0x2005);
	RUN(&b, "\xff\xd0", 0x2005, 0x3000); /* call *rax */
	RUN(&b, "\xc3", 0x3000, 0x2007);
	RUN(&b, "\x0f\x05", 0x2007, 0x2009); /* syscall */
	RUN(&b, "\xcc", 0x2009, 0x200a);     /* int3 */
	cr_assert_str_eq(b.text, "0 1000 start;1003 1015 jcc;1017 1019 jmp;1019 2000 ijmp;"
				 "2000 2005 call;2005 3000 icall;3000 2007 ret;2007 0 syscall;"
				 "0 2009 start;2009 0 int;");
	cr_assert_eq(b.flow.insns, 11);
	cr_assert_eq(b.flow.transfers, 10);
	ptc_enc_free(b.flow.enc);
}

Test(insn_to_packets, a_fault_on_the_first_instruction_was_an_entry_and_a_signal_before_it_was_not)
{
	struct bench b;

	open_bench(&b);
	ptc_flow_async(&b.flow, 0x1000, false, 1);
	cr_assert_str_eq(b.text, "");
	ptc_flow_async(&b.flow, 0x1000, true, 1);
	cr_assert_str_eq(b.text, "0 1000 start;1000 0 async;");
	ptc_enc_free(b.flow.enc);
}

Test(insn_to_packets, a_move_by_the_kernel_is_an_exit_where_the_instruction_led)
{
	struct bench b;

	open_bench(&b);
	RUN(&b, "\x90", 0x1000, 0x9000);     /* nop, but runs on elsewhere: rseq abort */
	RUN(&b, "\xeb\x10", 0x9000, 0x9999); /* jmp, same case */
	cr_assert_str_eq(b.text,
			 "0 1000 start;1001 0 async;0 9000 start;9000 9012 jmp;9012 0 async;");
	cr_assert_eq(b.flow.odd, 2);
	ptc_enc_free(b.flow.enc);
}
