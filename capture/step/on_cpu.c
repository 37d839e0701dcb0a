/* SPDX-License-Identifier: MIT */
/*
 * The task on the CPU: takes and gives the CPU, and writes what the task executes to the trace.
 * Only this task has a trace.
 */
#include "capture/step/tracer.h"

enum { QUANTUM = 1000 }; /* instructions */

bool ptc_stop_enters_kernel(const struct ptc_insn *insn)
{
	return insn->kind == PTC_KIND_SYSCALL || insn->kind == PTC_KIND_INT;
}

void ptc_stop_retire(struct ptc_tracer *t, struct ptc_task *k, uint64_t to)
{
	bool taken = false;

	if (k->in_kernel || t->on_cpu != k)
		return;
	/*
	 * An unknown instruction gets the length that the thread advanced: it has no other effect
	 * on control.
	 */
	if (!k->insn.len && to > k->ip && to - k->ip <= PTC_INSN_MAX)
		k->insn.len = (uint8_t)(to - k->ip);
	if (k->insn.kind == PTC_KIND_JCC && k->insn.target == k->ip + k->insn.len)
		taken = ptc_insn_taken(&k->insn, k->before.eflags, k->before.rcx);
	ptc_flow_retire(t->flow, &k->insn, k->ip, to, taken, k->tsc);
}

void ptc_stop_async(struct ptc_tracer *t, struct ptc_task *k, bool attempted)
{
	k->rounds = false; /* a handler may run in between */
	if (t->on_cpu == k)
		ptc_flow_async(t->flow, k->ip, attempted, k->tsc);
}

void ptc_stop_restart(struct ptc_task *k)
{
	k->ip = k->restart_ip;
	k->restart_ip = 0;
	k->insn = *ptc_code_at(&k->mm->code, k->tid, k->ip);
	k->before.rax = k->regs.orig_rax;
}

void ptc_stop_blocked(struct ptc_tracer *t, struct ptc_task *k)
{
	if (k->restart_ip)
		ptc_stop_restart(k);
	ptc_stop_retire(t, k, k->ip + k->insn.len);
	k->in_kernel = true;
}

void ptc_stop_preempt(struct ptc_tracer *t, struct ptc_task *k)
{
	if (t->on_cpu == k)
		ptc_flow_async(t->flow, k->ip, false, ptc_rdtsc());
}

void ptc_tracer_speak_of(struct ptc_tracer *t, const struct ptc_task *k)
{
	t->rec->pid = k->pid;
	t->rec->tid = k->tid;
}

/* Returns true in a system call, or in one that is being restarted. */
static bool may_sleep(const struct ptc_task *k)
{
	return ptc_stop_enters_kernel(&k->insn) || (k->restart_ip && ptc_task_sleeps(k->tid));
}

void ptc_tracer_take_cpu(struct ptc_tracer *t)
{
	struct ptc_task *k = t->on_cpu;

	if (!k)
		return;
	if (k->state == PTC_TASK_RUNNING && !k->in_kernel && may_sleep(k))
		ptc_stop_blocked(t, k);
	ptc_stop_preempt(t, k);
	ptc_tracer_speak_of(t, k);
	ptc_records_switch(t->rec, true);
	t->on_cpu = NULL;
}

void ptc_tracer_give_cpu(struct ptc_tracer *t, struct ptc_task *k)
{
	if (t->on_cpu != k) {
		ptc_tracer_take_cpu(t);
		ptc_tracer_speak_of(t, k);
		if (!k->seen)
			ptc_records_itrace_start(t->rec);
		k->seen = true;
		ptc_records_switch(t->rec, false);
		ptc_flow_of(t->flow, k->pid, k->tid);
		t->on_cpu = k;
	}
	t->quantum_end = t->flow->insns + QUANTUM;
}
