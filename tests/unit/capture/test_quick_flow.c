/* SPDX-License-Identifier: MIT */
/* Description: the inline steps give the same packets, branches and counts as the others. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/buf.h"
#include "capture/soft/quick_flow.h"

enum { STEPS = 200000, JUMP_LEN = 2 };

/* A flow, its packets, and its branches. */
struct side {
	struct ptc_flow flow;
	struct ptc_buf packets, branches;
	bool quick;
	size_t nquick;
};

static void keep(void *ctx, const uint8_t *bytes, size_t len)
{
	struct side *s = ctx;

	ptc_buf_put(&s->packets, bytes, len);
}

static void note(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	struct side *s = ctx;

	(void)tid;
	ptc_buf_le64(&s->branches, from);
	ptc_buf_le64(&s->branches, to);
	ptc_buf_u8(&s->branches, (uint8_t)kind);
}

static void open_side(struct side *s, bool quick)
{
	const struct ptc_enc_opts opts = { .psb_period = 2048, .mtc_freq = 3, .tsc_per_ctc = 125 };
	struct ptc_err err;

	*s = (struct side){ .quick = quick };
	cr_assert_eq(ptc_enc_new(&opts, keep, s, &s->flow.enc, &err), 0);
	s->flow.truth = note;
	s->flow.truth_ctx = s;
	ptc_enc_begin(s->flow.enc, 1);
}

/* @n instructions from @ip on, the last of which is @insn at @last, led to @to. */
static void step(struct side *s, uint64_t ip, uint64_t n, const struct ptc_insn *insn,
		 uint64_t last, uint64_t to, uint64_t tsc)
{
	bool done = false;

	if (s->quick && insn->kind == PTC_KIND_JCC)
		done = ptc_flow_quick_cond(&s->flow, n, last, to, to == insn->target, tsc);
	else if (s->quick && (insn->kind == PTC_KIND_JMP || insn->kind == PTC_KIND_CALL))
		done = ptc_flow_quick_direct(&s->flow, insn, ip, n, last, tsc);
	else if (s->quick && insn->kind == PTC_KIND_RET)
		done = ptc_flow_quick_ret(&s->flow, n, last, to, tsc);
	else if (s->quick && insn->kind == PTC_KIND_NONE)
		done = ptc_flow_quick_line(&s->flow, ip, n, tsc);
	s->nquick += done;
	if (done)
		return;
	ptc_flow_line(&s->flow, ip, n, tsc);
	ptc_flow_lead(&s->flow, insn, last, to, false, tsc);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 33;
}

static void close_side(struct side *s)
{
	ptc_enc_free(s->flow.enc);
	ptc_buf_release(&s->packets);
	ptc_buf_release(&s->branches);
}

Test(quick_flow, gives_the_same)
{
	static const enum ptc_kind kinds[] = { PTC_KIND_NONE, PTC_KIND_JCC,  PTC_KIND_JCC,
					       PTC_KIND_JCC,  PTC_KIND_JMP,  PTC_KIND_CALL,
					       PTC_KIND_RET,  PTC_KIND_IJMP, PTC_KIND_SYSCALL };
	struct side quick, slow;
	uint64_t seed = 1, ip = 0x1000, tsc = 1, ret = 0;
	int i;

	open_side(&quick, true);
	open_side(&slow, false);
	for (i = 0; i < STEPS; i++) {
		const uint64_t n = next_random(&seed) % 8 + 1, last = ip + (n - 1) * JUMP_LEN;
		struct ptc_insn insn = {
			.kind = (uint8_t)
				kinds[next_random(&seed) % (sizeof(kinds) / sizeof(kinds[0]))],
			.len = JUMP_LEN,
		};
		uint64_t to = last + JUMP_LEN;

		/* Direct jumps between few targets make circles. */
		insn.target = 0x1000 + next_random(&seed) % 16 * 0x100;
		if (insn.kind != PTC_KIND_NONE && insn.kind != PTC_KIND_SYSCALL &&
		    (insn.kind != PTC_KIND_JCC || next_random(&seed) % 2))
			to = insn.target;
		if (insn.kind == PTC_KIND_CALL)
			ret = last + JUMP_LEN;
		else if (insn.kind == PTC_KIND_RET && next_random(&seed) % 4)
			to = ret;
		tsc += next_random(&seed) % 100;
		step(&quick, ip, n, &insn, last, to, tsc);
		step(&slow, ip, n, &insn, last, to, tsc);
		ip = to;
	}
	ptc_enc_flush(quick.flow.enc);
	ptc_enc_flush(slow.flow.enc);
	cr_assert_gt(quick.nquick, STEPS / 10);
	cr_assert_eq(quick.flow.insns, slow.flow.insns);
	cr_assert_eq(quick.flow.transfers, slow.flow.transfers);
	cr_assert_eq(quick.flow.unshown, slow.flow.unshown);
	cr_assert_eq(quick.packets.len, slow.packets.len);
	cr_assert_arr_eq(quick.packets.bytes, slow.packets.bytes, slow.packets.len);
	cr_assert_eq(quick.branches.len, slow.branches.len);
	cr_assert_arr_eq(quick.branches.bytes, slow.branches.bytes, slow.branches.len);
	close_side(&quick);
	close_side(&slow);
}
