/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash_reason.h"

#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
	NULL_PAGES = 64 << 10, /* vm.mmap_min_addr: no process maps memory there */
	STACK_REACH = 1 << 20, /* how far a function's frame may be from its stack pointer */
	/* SI_KERNEL: a fault without an address, because the address is not canonical */
	FROM_KERNEL = 0x80,
	CANONICAL_BITS = 47,
};

static const char *const names[PTC_REASON_COUNT] = {
	[PTC_REASON_OTHER] = "other",
	[PTC_REASON_NULL_PAGE] = "null-page",
	[PTC_REASON_READ_ONLY] = "read-only",
	[PTC_REASON_STACK_OVERFLOW] = "stack-overflow",
	[PTC_REASON_UNMAPPED] = "unmapped",
	[PTC_REASON_PROTECTED] = "protected",
	[PTC_REASON_NON_CANONICAL] = "non-canonical",
	[PTC_REASON_BAD_JUMP] = "bad-jump",
	[PTC_REASON_NO_EXEC] = "not-executable",
	[PTC_REASON_DIVISION] = "division-by-zero",
	[PTC_REASON_QUOTIENT] = "division-overflow",
	[PTC_REASON_UD] = "undefined-instruction",
	[PTC_REASON_ILLEGAL] = "illegal-instruction",
	[PTC_REASON_BREAKPOINT] = "breakpoint",
	[PTC_REASON_BEYOND_FILE] = "beyond-file",
	[PTC_REASON_BUS] = "bus-error",
	[PTC_REASON_ABORT] = "abort",
	[PTC_REASON_SENT] = "sent",
};

const char *ptc_reason_name(enum ptc_crash_reason reason)
{
	return (unsigned int)reason < PTC_REASON_COUNT ? names[reason] : "?";
}

const char *ptc_access_name(enum ptc_crash_access access)
{
	static const char *const access_names[] = { NULL, "read", "write", "jump" };

	return (unsigned int)access <= PTC_ACCESS_EXEC ? access_names[access] : NULL;
}

/* --- accesses --- */

static bool is_canonical(uint64_t addr)
{
	const int64_t top = (int64_t)addr >> CANONICAL_BITS;

	return top == 0 || top == -1;
}

/* Returns the memory operand that contains @addr. If none does, returns the first one. */
static const struct ptc_operand *touched(const struct ptc_operands *ops, uint64_t addr)
{
	const struct ptc_operand *first = NULL;
	size_t i;

	for (i = 0; ops && i < ops->n; i++) {
		const struct ptc_operand *op = &ops->items[i];

		if (!op->memory)
			continue;
		if (op->addr <= addr && addr - op->addr < op->size)
			return op;
		first = first ? first : op;
	}
	return first;
}

static const struct ptc_operand *non_canonical(const struct ptc_operands *ops)
{
	size_t i;

	for (i = 0; ops && i < ops->n; i++)
		if (ops->items[i].memory && !is_canonical(ops->items[i].addr))
			return &ops->items[i];
	return NULL;
}

static void set_access(struct ptc_crash_why *w, const struct ptc_operand *op)
{
	if (!op)
		return;
	w->access = op->writes ? PTC_ACCESS_WRITE : PTC_ACCESS_READ;
	w->size = op->size;
}

/* Returns the stack that ends above @addr, if @addr is no accessible memory and @sp is near. */
static const struct ptc_crash_state_map *stack_above(const struct ptc_crash_state *d, uint64_t addr,
						     uint64_t sp)
{
	const struct ptc_crash_state_map *at = ptc_crash_state_map_at(d, addr);
	const struct ptc_crash_state_map *above = ptc_crash_state_map_above(d, addr);
	const uint64_t distance = addr < sp ? sp - addr : addr - sp;

	if ((at && at->map.prot & (PROT_READ | PROT_WRITE)) || distance > STACK_REACH)
		return NULL;
	if (!above || !(above->map.prot & PROT_WRITE) || above->map.start - addr > STACK_REACH ||
	    sp >= above->map.end)
		return NULL;
	return above;
}

static void of_access(struct ptc_crash_why *w, const struct ptc_crash_state *d,
		      const struct ptc_crash_thread *t)
{
	const struct ptc_crash_state_map *stack = stack_above(d, w->addr, t->regs[PTC_REG_RSP]);

	w->map = ptc_crash_state_map_at(d, w->addr);
	if (w->addr < NULL_PAGES) {
		w->reason = PTC_REASON_NULL_PAGE;
	} else if (stack) {
		w->reason = PTC_REASON_STACK_OVERFLOW;
		w->map = stack;
	} else if (!w->map) {
		w->reason = PTC_REASON_UNMAPPED;
	} else if (w->access == PTC_ACCESS_WRITE && w->map->map.prot & PROT_READ &&
		   !(w->map->map.prot & PROT_WRITE)) {
		w->reason = PTC_REASON_READ_ONLY;
	} else {
		w->reason = PTC_REASON_PROTECTED;
	}
}

static void of_jump(struct ptc_crash_why *w, const struct ptc_crash_state *d, uint64_t to)
{
	w->is_target = w->has_addr = true;
	w->access = PTC_ACCESS_EXEC;
	w->addr = to;
	w->size = 0;
	w->map = ptc_crash_state_map_at(d, to);
	w->reason = w->map ? PTC_REASON_NO_EXEC : PTC_REASON_BAD_JUMP;
}

/* A fault of the processor without an address: the address is not canonical. */
static void of_protection(struct ptc_crash_why *w, const struct ptc_crash_state *d,
			  const struct ptc_operands *ops)
{
	const struct ptc_operand *bad = non_canonical(ops);
	uint8_t bytes[8];
	size_t i;

	w->has_addr = false;
	if (bad) {
		w->reason = PTC_REASON_NON_CANONICAL;
		w->has_addr = true;
		w->addr = bad->addr;
		set_access(w, bad);
		return;
	}
	/* A return, or an indirect jump, to a non-canonical address: its operand is the target. */
	for (i = 0; ops && i < ops->n; i++) {
		const struct ptc_operand *op = &ops->items[i];
		uint64_t value = op->value;

		if (op->size != sizeof(bytes) || !op->reads)
			continue;
		if (op->memory &&
		    ptc_crash_state_memory(d, op->addr, bytes, sizeof(bytes)) != sizeof(bytes))
			continue;
		if (op->memory)
			value = ptc_le64(bytes);
		if (!is_canonical(value)) {
			of_jump(w, d, value);
			return;
		}
	}
}

static void of_segv(struct ptc_crash_why *w, const struct ptc_crash_state *d,
		    const struct ptc_crash_thread *t, const struct ptc_operands *ops)
{
	const uint64_t ip = t->regs[PTC_REG_RIP];
	const struct ptc_crash_state_map *code = ptc_crash_state_map_at(d, ip);

	if (d->signal.code == FROM_KERNEL) {
		of_protection(w, d, ops);
		return;
	}
	w->has_addr = true;
	w->addr = d->signal.addr;
	if (w->addr == ip || !code || !(code->map.prot & PROT_EXEC)) {
		of_jump(w, d, ip);
		return;
	}
	set_access(w, touched(ops, w->addr));
	of_access(w, d, t);
}

/* --- the other signals --- */

static void of_bus(struct ptc_crash_why *w, const struct ptc_crash_state *d,
		   const struct ptc_operands *ops)
{
	w->reason = PTC_REASON_BUS;
	w->has_addr = true;
	w->addr = d->signal.addr;
	w->map = ptc_crash_state_map_at(d, w->addr);
	set_access(w, touched(ops, w->addr));
	if (d->signal.code == BUS_ADRERR && w->map && w->map->name[0] == '/')
		w->reason = PTC_REASON_BEYOND_FILE;
}

/* Division by zero and overflow are one exception. The divisor distinguishes them. */
static void of_fpe(struct ptc_crash_why *w, const struct ptc_crash_state *d,
		   const struct ptc_operands *ops)
{
	const struct ptc_operand *op = ops && ops->n ? &ops->items[0] : NULL;
	uint8_t bytes[8] = { 0 };
	uint64_t divisor;

	if (d->signal.code != FPE_INTDIV)
		return;
	w->reason = PTC_REASON_DIVISION;
	if (!op || !ops->divides || op->size > sizeof(bytes))
		return;
	divisor = op->value;
	if (op->memory) {
		if (ptc_crash_state_memory(d, op->addr, bytes, op->size) != op->size)
			return;
		divisor = ptc_le64(bytes);
	}
	if (divisor)
		w->reason = PTC_REASON_QUOTIENT;
}

static bool was_sent(const struct ptc_crash_state *d)
{
	return d->signal.code == SI_USER || d->signal.code == SI_QUEUE ||
	       d->signal.code == SI_TKILL;
}

struct ptc_crash_why ptc_reason_find(const struct ptc_crash_state *d,
				     const struct ptc_crash_thread *t,
				     const struct ptc_operands *ops)
{
	struct ptc_crash_why w = { .reason = PTC_REASON_OTHER };

	if (was_sent(d)) {
		w.reason = d->signal.signo == SIGABRT && d->signal.sender == d->signal.pid ?
				   PTC_REASON_ABORT :
				   PTC_REASON_SENT;
		return w;
	}
	switch (d->signal.signo) {
	case SIGSEGV:
		of_segv(&w, d, t, ops);
		break;
	case SIGBUS:
		of_bus(&w, d, ops);
		break;
	case SIGFPE:
		of_fpe(&w, d, ops);
		break;
	case SIGILL:
		w.reason = ops && ops->undefined ? PTC_REASON_UD : PTC_REASON_ILLEGAL;
		break;
	case SIGTRAP:
		w.reason = PTC_REASON_BREAKPOINT;
		break;
	default:
		break;
	}
	return w;
}
