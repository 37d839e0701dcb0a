/* SPDX-License-Identifier: MIT */
/* The classes of branches, as `ptcap decode` names them (doc/format.md). */
#ifndef PTCAP_KIND_H
#define PTCAP_KIND_H

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The class of the instruction at `from`. START and ASYNC are not instructions. */
enum ptc_kind {
	PTC_KIND_NONE = 0, /* not a branch */
	PTC_KIND_START,	   /* an entry into traced code: from is 0 */
	PTC_KIND_ASYNC,	   /* fault, interrupt, signal, TSX abort: from is the FUP's IP */
	PTC_KIND_JCC,	   /* jcc, loop, jrcxz */
	PTC_KIND_JMP,	   /* direct jump */
	PTC_KIND_IJMP,	   /* indirect near jump */
	PTC_KIND_CALL,	   /* direct call */
	PTC_KIND_ICALL,	   /* indirect near call */
	PTC_KIND_RET,	   /* near return */
	PTC_KIND_SYSCALL,  /* syscall, sysenter */
	PTC_KIND_SYSRET,   /* sysret, sysexit */
	PTC_KIND_INT,	   /* int n, int1, int3, into */
	PTC_KIND_IRET,
	PTC_KIND_FAR, /* other far branches: far jmp, call, ret; vmlaunch and similar */
	PTC_KIND_COUNT,
	PTC_KIND_MAX = 32 /* arrays have this size: later versions may have more kinds */
};

/* Returns the name of a kind: "jcc", "syscall", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_kind_name(enum ptc_kind kind);

#ifdef __cplusplus
}
#endif
#endif
