/* SPDX-License-Identifier: MIT */
/* The recordings of the seeds, of process SR_PID. Each is to be released. */
#ifndef PTC_TESTS_FUZZ_SEEDRECORDINGS_H
#define PTC_TESTS_FUZZ_SEEDRECORDINGS_H

#include <stdbool.h>

#include "lib_perfdata.h"

enum { SR_PID = 7, SR_CODE_ID = 7 /* of /bin/a's build-id: CMakeLists.txt has it, too */ };

#define SR_KERNEL 0xffffffffa1000000ull
#define SR_MODULE 0xffffffffc0000000ull

/* Packets of @insns instructions of pt_code. */
void sr_walk(struct ptc_buf *b, uint64_t seed, bool timed, unsigned int insns);

/* One thread in /bin/a, its trace in two pieces; @has_id: its build-id is known. */
void sr_plain(struct pd *p, bool has_id);
/* Two CPUs, two processes that take turns, one of them forked. */
void sr_crowd(struct pd *p);
/* Code of a jitdump, and some that the recording has. */
void sr_jit(struct pd *p);
/* The kernel, a module, and a BPF program. */
void sr_kernel(struct pd *p);
/* Code of a file that is gone, and the state of the process that died in it. */
void sr_crash(struct pd *p);
/* /bin/a as sf_go makes it. */
void sr_go(struct pd *p);

#endif
