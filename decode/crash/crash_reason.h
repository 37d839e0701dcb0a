/* SPDX-License-Identifier: MIT */
/* Finds why a signal came: from the kernel's siginfo, the instruction and the mappings. */
#ifndef PTC_DECODE_CRASH_CRASH_REASON_H
#define PTC_DECODE_CRASH_CRASH_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/operand.h"
#include "decode/crash/crash_state.h"

enum ptc_crash_reason {
	PTC_REASON_OTHER,	   /* the signal itself is the whole reason */
	PTC_REASON_NULL_PAGE,	   /* an access near address 0 */
	PTC_REASON_READ_ONLY,	   /* a write to memory that is not writable */
	PTC_REASON_STACK_OVERFLOW, /* an access just below a stack */
	PTC_REASON_UNMAPPED,	   /* an access to an address where nothing is mapped */
	PTC_REASON_PROTECTED,	   /* an access that the mapping does not allow */
	PTC_REASON_NON_CANONICAL,  /* an address that the processor does not have */
	PTC_REASON_BAD_JUMP,	   /* a branch to an address where nothing is mapped */
	PTC_REASON_NO_EXEC,	   /* a branch to memory that is not executable */
	PTC_REASON_DIVISION,	   /* by zero */
	PTC_REASON_QUOTIENT,	   /* a division whose result does not fit */
	PTC_REASON_UD,		   /* ud2: compilers put it where code is unreachable */
	PTC_REASON_ILLEGAL,	   /* not an instruction, or not one of this processor */
	PTC_REASON_BREAKPOINT,	   /* int3 */
	PTC_REASON_BEYOND_FILE,	   /* a page of a mapping that is behind the end of the file */
	PTC_REASON_BUS,		   /* alignment, memory errors */
	PTC_REASON_ABORT,	   /* the program aborted itself */
	PTC_REASON_SENT,	   /* kill(2) or a similar call sent it */
	PTC_REASON_COUNT
};

enum ptc_crash_access { PTC_ACCESS_NONE, PTC_ACCESS_READ, PTC_ACCESS_WRITE, PTC_ACCESS_EXEC };

struct ptc_crash_why {
	enum ptc_crash_reason reason;
	enum ptc_crash_access access;
	bool has_addr;
	uint64_t addr;	/* address of the access, or branch target */
	uint32_t size;	/* bytes of the access; 0: not known */
	bool is_target; /* addr is a branch target */
	/* mapping at addr, or (STACK_OVERFLOW) the stack; or NULL */
	const struct ptc_crash_state_map *map;
};

/* Return "null-page" or "?" (out of range); and "read", "write", "jump" or NULL. */
const char *ptc_reason_name(enum ptc_crash_reason reason);
const char *ptc_access_name(enum ptc_crash_access access);

/*
 * Find why the signal came. @ops: operands of the instruction at the victim's ip. NULL: there is no
 * instruction, or it is not available.
 */
struct ptc_crash_why ptc_reason_find(const struct ptc_crash_state *d,
				     const struct ptc_crash_thread *t,
				     const struct ptc_operands *ops);

#endif
