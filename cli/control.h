/* SPDX-License-Identifier: MIT */
/*
 * Commands that come while a recording is under way, and answers to them: perf's
 * --control=fifo:CTL[,ACK] and fd:CTL[,ACK]. A command is a line; the answer is "ack", or "error".
 */
#ifndef PTC_CLI_CONTROL_H
#define PTC_CLI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

enum { PTC_CONTROL_LINE = 64, PTC_CONTROL_WAITING = 64 };

enum ptc_control_command {
	PTC_CONTROL_NOTHING, /* no whole line yet, or one that was answered here */
	PTC_CONTROL_SNAPSHOT,
	PTC_CONTROL_STOP,
	PTC_CONTROL_CLOSED, /* nobody can write any more: it is not to be polled */
};

struct ptc_control {
	int fd, ack_fd; /* -1: none */
	bool ours;	/* opened here */
	char line[PTC_CONTROL_LINE];
	size_t len;
	/* What is to be answered: the numbers of the snapshots that are waited for; the end. */
	uint64_t waiting[PTC_CONTROL_WAITING];
	size_t nwaiting;
	bool stop;
};

#define PTC_CONTROL_INIT                                                                           \
	{                                                                                          \
		.fd = -1, .ack_fd = -1                                                             \
	}

/* "fifo:CTL[,ACK]", "fd:CTL[,ACK]", or CTL[,ACK], which are FIFOs. */
int ptc_control_open(struct ptc_control *c, const char *text, struct ptc_err *err);
/* Whoever still waits gets an answer: @ended, or not so. */
void ptc_control_close(struct ptc_control *c, bool ended);

/* There is something to read: the next command, one at a time. */
enum ptc_control_command ptc_control_next(struct ptc_control *c);
/* The command was a snapshot, which is the @n-th that is wanted. */
void ptc_control_wait(struct ptc_control *c, uint64_t n);
/* All up to the @n-th are there. */
void ptc_control_taken(struct ptc_control *c, uint64_t n);

#endif
