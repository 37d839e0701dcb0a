/* SPDX-License-Identifier: MIT */
/* Checks of a running process: `ptcap doctor -p`. */
#ifndef PTC_CAPTURE_DOCTOR_TARGET_H
#define PTC_CAPTURE_DOCTOR_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/doctor/check.h"
#include "capture/doctor/facts.h"
#include "ptcap/error.h"

enum { PTC_TARGET_FILES_MAX = 512, PTC_TARGET_COMM = 64 };

/* Facts about the process. Zeroed: empty. */
struct ptc_target {
	pid_t pid;
	char comm[PTC_TARGET_COMM]; /* untrusted */
	uint32_t uid;		    /* effective */
	size_t threads;
	pid_t tracer; /* 0: none */
	bool kernel;  /* a kernel thread: it maps nothing */
	bool other_root;
	int maps;   /* errno of reading /proc/PID/maps */
	int attach; /* errno of opening /proc/PID/mem: the right to ptrace it, without an effect */
	int event;  /* errno of perf_event_open */
	struct ptc_doctor_file *files; /* owned, with the names; each name once */
	size_t nfiles;
	bool more_files; /* than PTC_TARGET_FILES_MAX */
};

/* Reads the facts. The process runs on undisturbed. PTC_E_NOT_EXIST: there is no such process. */
int ptc_target_read(struct ptc_target *t, pid_t pid, struct ptc_err *err);
void ptc_target_release(struct ptc_target *t);

typedef void (*ptc_target_judge)(const struct ptc_target *t, const struct ptc_facts *f,
				 struct ptc_check *c);

void ptc_judge_target(const struct ptc_target *t, const struct ptc_facts *f, struct ptc_check *c);
void ptc_judge_target_ptrace(const struct ptc_target *t, const struct ptc_facts *f,
			     struct ptc_check *c);
void ptc_judge_target_events(const struct ptc_target *t, const struct ptc_facts *f,
			     struct ptc_check *c);
void ptc_judge_target_files(const struct ptc_target *t, const struct ptc_facts *f,
			    struct ptc_check *c);

#endif
