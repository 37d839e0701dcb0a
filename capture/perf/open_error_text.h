/* SPDX-License-Identifier: MIT */
/* Explains failures of perf_event_open and of mapping its rings, and suggests remedies. */
#ifndef PTC_CAPTURE_PERF_OPEN_ERROR_TEXT_H
#define PTC_CAPTURE_PERF_OPEN_ERROR_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

/* End of the messages of refused recordings. */
#define PTC_SEE_DOCTOR "; see `ptcap doctor`"

/* Limits of the machine. The texts depend on nothing else. */
struct ptc_limits {
	long paranoid;	  /* kernel.perf_event_paranoid */
	long mlock_kb;	  /* kernel.perf_event_mlock_kb: KiB that each user may map per CPU */
	long cpus;	  /* online */
	uint64_t memlock; /* RLIMIT_MEMLOCK, bytes */
	uint64_t files;	  /* RLIMIT_NOFILE, the hard limit */
};

/* Reads the limits of this machine and process. */
void ptc_limits_read(struct ptc_limits *l);

/*
 * Writes a remedy for error @sys of perf_event_open; "": unknown error. @fds: total number of
 * descriptors needed.
 */
void ptc_explain_open_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size);

/* Same for mmap of one of @rings rings. @bytes: size of the mapping that failed. */
void ptc_explain_mmap_text(const struct ptc_limits *l, int sys, uint64_t bytes, size_t rings,
			   char *out, size_t size);

/*
 * Builds the error for perf_event_open that failed with @sys. @what names the event
 * ("'intel_pt//u'"). @fds: total number of descriptors that the recording needs.
 */
int ptc_explain_open(struct ptc_err *err, int sys, const char *what, size_t fds);

/* Same for an event with branch stacks, which may be the reason. */
void ptc_explain_lbr_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size);
int ptc_explain_lbr(struct ptc_err *err, int sys, const char *what, size_t fds);

/* Builds the error for mmap of a ring of @bytes, one of @rings, that failed with @sys. */
int ptc_explain_mmap(struct ptc_err *err, int sys, const char *what, uint64_t bytes, size_t rings);

#endif
