/* SPDX-License-Identifier: MIT */
#include "capture/soft/quick_flow.h"

#include "capture/host/clock.h"
#include "capture/soft/lbr.h"

void ptc_flow_of(struct ptc_flow *f, int pid, int tid)
{
	f->tid = tid;
	if (f->lbr)
		ptc_lbr_switch(f->lbr, pid, tid);
}

static void transfer(struct ptc_flow *f, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	ptc_flow_note(f, from, to, kind);
	if (f->lbr)
		ptc_lbr_branch(f->lbr, from, to, kind, kind == PTC_KIND_ICALL);
}

static void start_trace_at(struct ptc_flow *f, uint64_t ip, uint64_t tsc)
{
	ptc_flow_restart_circles(f);
	ptc_enc_enter(f->enc, ip, tsc);
	transfer(f, 0, ip, PTC_KIND_START);
}

static void async(struct ptc_flow *f, uint64_t ip, uint64_t tsc)
{
	ptc_flow_restart_circles(f);
	ptc_enc_async_exit(f->enc, ip, tsc);
	transfer(f, ip, 0, PTC_KIND_ASYNC);
}

/*
 * Control is not at the instruction's target: the kernel moved the thread afterwards, for example
 * when it aborted a restartable sequence. Reports an asynchronous exit at @at, the instruction's
 * target.
 */
static void odd(struct ptc_flow *f, uint64_t at, uint64_t tsc)
{
	f->odd++;
	async(f, at, tsc);
}

/* Handles jmp and call. They make no packet: the decoder follows the code. */
static void direct(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		   uint64_t tsc)
{
	const uint64_t next = ip + insn->len;
	const bool frame = insn->kind == PTC_KIND_CALL && insn->target != next;

	ptc_flow_circle(f, insn->target);
	ptc_flow_note(f, ip, insn->target, insn->kind);
	if (f->lbr)
		ptc_lbr_branch(f->lbr, ip, insn->target, insn->kind, frame);
	if (frame)
		ptc_enc_push(f->enc, next);
	if (to != insn->target)
		odd(f, insn->target, tsc);
}

static void conditional(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
			bool taken, uint64_t tsc)
{
	const uint64_t next = ip + insn->len;

	if (insn->target != next)
		taken = to == insn->target;
	ptc_enc_cond(f->enc, taken);
	if (taken && insn->target != next)
		transfer(f, ip, insn->target, PTC_KIND_JCC);
	else if (taken && f->lbr) /* not a listed branch, but a processor's branch stack has it */
		ptc_lbr_branch(f->lbr, ip, next, PTC_KIND_JCC, false);
	if (to != insn->target && to != next)
		odd(f, next, tsc);
}

/*
 * Returns @tsc, but at least the last sample's time. A caller that rarely reads the clock may pass
 * an earlier time.
 */
static uint64_t not_before(const struct ptc_flow *f, uint64_t tsc)
{
	return tsc < f->tsc ? f->tsc : tsc;
}

void ptc_flow_line(struct ptc_flow *f, uint64_t ip, uint64_t n, uint64_t tsc)
{
	tsc = not_before(f, tsc);
	if (!ptc_enc_on(f->enc))
		start_trace_at(f, ip, tsc);
	else
		ptc_enc_step(f->enc, ip, tsc);
	if (!f->steps) { /* the last packet reported this position */
		f->steps = 1;
		f->mark = ip;
	}
	f->insns += n;
}

static void lead(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		 bool taken, uint64_t tsc)
{
	if (insn->kind != PTC_KIND_NONE && insn->kind != PTC_KIND_JMP &&
	    insn->kind != PTC_KIND_CALL)
		ptc_flow_restart_circles(f);
	switch ((enum ptc_kind)insn->kind) {
	case PTC_KIND_NONE:
		if (to != ip + insn->len)
			odd(f, ip + insn->len, tsc);
		break;
	case PTC_KIND_JCC:
		conditional(f, insn, ip, to, taken, tsc);
		break;
	case PTC_KIND_JMP:
	case PTC_KIND_CALL:
		direct(f, insn, ip, to, tsc);
		break;
	case PTC_KIND_ICALL:
		ptc_enc_indirect(f->enc, to);
		ptc_enc_push(f->enc, ip + insn->len);
		transfer(f, ip, to, PTC_KIND_ICALL);
		break;
	case PTC_KIND_RET:
		ptc_enc_ret(f->enc, to);
		transfer(f, ip, to, PTC_KIND_RET);
		break;
	case PTC_KIND_IJMP:
	case PTC_KIND_IRET:
	case PTC_KIND_FAR:
		ptc_enc_indirect(f->enc, to);
		transfer(f, ip, to, insn->kind);
		break;
	case PTC_KIND_SYSCALL:
	case PTC_KIND_SYSRET:
	case PTC_KIND_INT:
		ptc_enc_exit(f->enc, tsc);
		transfer(f, ip, 0, insn->kind);
		break;
	default:
		break;
	}
}

/*
 * Takes a sample if a counter overflows. Like a processor's interrupt it comes before @ip, and ends
 * the trace for a moment. In the kernel no sample is taken: it is delayed until the trace is on.
 */
static void take_due_sample(struct ptc_flow *f, uint64_t ip)
{
	if (!ptc_enc_on(f->enc) || !ptc_lbr_due(f->lbr, f->insns))
		return;
	f->tsc = ptc_rdtsc();
	async(f, ip, f->tsc);
	ptc_lbr_sample(f->lbr, ip, f->tsc);
}

void ptc_flow_lead(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		   bool taken, uint64_t tsc)
{
	lead(f, insn, ip, to, taken, not_before(f, tsc));
	if (!f->lbr)
		return;
	f->lbr->branches += insn->kind != PTC_KIND_NONE;
	take_due_sample(f, to);
}

void ptc_flow_retire(struct ptc_flow *f, const struct ptc_insn *insn, uint64_t ip, uint64_t to,
		     bool taken, uint64_t tsc)
{
	ptc_flow_line(f, ip, 1, tsc);
	ptc_flow_lead(f, insn, ip, to, taken, tsc);
}

void ptc_flow_async(struct ptc_flow *f, uint64_t ip, bool attempted, uint64_t tsc)
{
	tsc = not_before(f, tsc);
	if (!ptc_enc_on(f->enc)) {
		if (!attempted)
			return;
		start_trace_at(f, ip, tsc);
	}
	async(f, ip, tsc);
}
