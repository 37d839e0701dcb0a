/* SPDX-License-Identifier: MIT */
/* Reasons for which a signal killed a process. */
#ifndef PTCAP_CRASH_REASON_H
#define PTCAP_CRASH_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_crash_state_map;

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

/* Lent by a report. A later version may have more members. */
struct ptc_crash_why {
	enum ptc_crash_reason reason;
	enum ptc_crash_access access;
	bool has_addr;
	uint64_t addr;	/* address of the access, or branch target */
	uint32_t size;	/* bytes of the access; 0: not known */
	bool is_target; /* addr is a branch target */
	/* mapping at addr, or (STACK_OVERFLOW) the stack; lent, or NULL */
	const struct ptc_crash_state_map *map;
};

/* Returns "null-page", "bad-jump", and so on; static; "?": @reason is out of range. */
PTC_API const char *ptc_reason_name(enum ptc_crash_reason reason);
/* Returns "read", "write" or "jump", static; NULL: there was no access. */
PTC_API const char *ptc_access_name(enum ptc_crash_access access);

#ifdef __cplusplus
}
#endif
#endif
