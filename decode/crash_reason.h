/* SPDX-License-Identifier: MIT */
/* Why a signal came: from what the kernel said, the instruction, and what was mapped. */
#ifndef PTC_DECODE_CRASH_REASON_H
#define PTC_DECODE_CRASH_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/operand.h"
#include "decode/dead.h"

enum ptc_crash_reason {
	PTC_REASON_OTHER,	   /* the signal says it all */
	PTC_REASON_NULL_PAGE,	   /* an access near address 0 */
	PTC_REASON_READ_ONLY,	   /* a write to what may not be written */
	PTC_REASON_STACK_OVERFLOW, /* an access just below a stack */
	PTC_REASON_UNMAPPED,	   /* an access to where nothing is */
	PTC_REASON_PROTECTED,	   /* an access that the mapping does not allow */
	PTC_REASON_NON_CANONICAL,  /* an address that the processor has not */
	PTC_REASON_BAD_JUMP,	   /* control went to where there is nothing */
	PTC_REASON_NO_EXEC,	   /* control went to what is no code */
	PTC_REASON_DIVISION,	   /* by zero */
	PTC_REASON_QUOTIENT,	   /* a division whose result does not fit */
	PTC_REASON_UD,		   /* ud2: where the compiler says that nobody comes */
	PTC_REASON_ILLEGAL,	   /* no instruction, or none of this processor */
	PTC_REASON_BREAKPOINT,	   /* int3 */
	PTC_REASON_BEYOND_FILE,	   /* a page of a mapping that is behind the file's end */
	PTC_REASON_BUS,		   /* alignment, memory errors */
	PTC_REASON_ABORT,	   /* the program itself gave up */
	PTC_REASON_SENT,	   /* somebody sent it */
	PTC_REASON_COUNT
};

enum ptc_crash_access { PTC_ACCESS_NONE, PTC_ACCESS_READ, PTC_ACCESS_WRITE, PTC_ACCESS_EXEC };

struct ptc_crash_why {
	enum ptc_crash_reason reason;
	enum ptc_crash_access access;
	bool has_addr;
	uint64_t addr;			/* that was touched, or jumped to */
	uint32_t size;			/* bytes of the access; 0: not known */
	bool is_target;			/* it is an address that control went to */
	const struct ptc_dead_map *map; /* what is there, or (STACK_OVERFLOW) the stack; or NULL */
};

/* "null-page"; "?" for what is none. "read", "write", "jump", or NULL. */
const char *ptc_reason_name(enum ptc_crash_reason reason);
const char *ptc_access_name(enum ptc_crash_access access);

/*
 * @ops is of the instruction that the victim's ip is at; NULL: there is none to be had, or it is
 * none.
 */
struct ptc_crash_why ptc_reason_find(const struct ptc_dead *d, const struct ptc_crash_thread *t,
				     const struct ptc_operands *ops);

#endif
