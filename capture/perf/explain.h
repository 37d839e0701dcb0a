/* SPDX-License-Identifier: MIT */
/* The remedy for what perf_event_open and mmap of its rings refuse. */
#ifndef PTC_CAPTURE_PERF_EXPLAIN_H
#define PTC_CAPTURE_PERF_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

/* What the machine says of its limits: the texts depend on nothing else. */
struct ptc_limits {
	long paranoid;	  /* kernel.perf_event_paranoid */
	long mlock_kb;	  /* kernel.perf_event_mlock_kb: what each user may map for each CPU */
	long cpus;	  /* online */
	uint64_t memlock; /* RLIMIT_MEMLOCK, bytes */
	uint64_t files;	  /* RLIMIT_NOFILE, the hard one */
};

/* Those of this machine and process. */
void ptc_limits_read(struct ptc_limits *l);

/* What to do about @sys of perf_event_open; "": nothing is known. @fds: descriptors needed in all.
 */
void ptc_explain_open_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size);

/* The same for mmap of one of @rings rings; @bytes: of the mapping that failed. */
void ptc_explain_mmap_text(const struct ptc_limits *l, int sys, uint64_t bytes, size_t rings,
			   char *out, size_t size);

/*
 * perf_event_open failed with @sys for @what ("'intel_pt//u'"). @fds: the descriptors
 * that the recording needs in all.
 */
int ptc_explain_open(struct ptc_err *err, int sys, const char *what, size_t fds);

/* The same of an event with branch stacks, where the reason may be those. */
void ptc_explain_lbr_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size);
int ptc_explain_lbr(struct ptc_err *err, int sys, const char *what, size_t fds);

/* mmap of a ring of @bytes, one of @rings, failed with @sys. */
int ptc_explain_mmap(struct ptc_err *err, int sys, const char *what, uint64_t bytes, size_t rings);

#endif
