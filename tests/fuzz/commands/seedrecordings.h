/* SPDX-License-Identifier: MIT */
/* The recordings of the seeds, of process SR_PID. Caller releases each of them. */
#ifndef PTC_TESTS_FUZZ_SEEDRECORDINGS_H
#define PTC_TESTS_FUZZ_SEEDRECORDINGS_H

#include <stdbool.h>

#include "lib_perfdata.h"

enum { SR_PID = 7, SR_CODE_ID = 7 /* of /bin/a's build-id; also in CMakeLists.txt */ };

#define SR_KERNEL 0xffffffffa1000000ull
#define SR_MODULE 0xffffffffc0000000ull

/* Puts packets for @insns instructions of pt_code. */
void sr_walk(struct ptc_buf *b, uint64_t seed, bool timed, unsigned int insns);

/* One thread in /bin/a, its trace in two AUXTRACE records; @has_id: its build-id is known. */
void sr_plain(struct pd *p, bool has_id);
/* Two CPUs that switch between a process and its forked child. */
void sr_crowd(struct pd *p);
/* Code of a jitdump, and code stored in the recording. */
void sr_jit(struct pd *p);
/* The kernel, a module, and a BPF program. */
void sr_kernel(struct pd *p);
/* Code of a deleted file, and the state of the process that died in it. */
void sr_crash(struct pd *p);
/* /bin/a in the form that sf_go makes. */
void sr_go(struct pd *p);

#endif
