/* SPDX-License-Identifier: MIT */
/* May this process trace a program that it starts? A seccomp filter or yama can forbid it. */
#ifndef PTC_CAPTURE_LIVE_PTRACE_PROBE_H
#define PTC_CAPTURE_LIVE_PTRACE_PROBE_H

/* Tries ptrace on a child process. Returns 0 if it works, else the errno of the refused call. */
int ptc_ptrace_probe(void);

#endif
