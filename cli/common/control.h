/* SPDX-License-Identifier: MIT */
/*
 * Commands during a recording, and their answers: perf's --control=fifo:CTL[,ACK] and fd:CTL[,ACK].
 * A command is a line. The answer is "ack" or "error".
 */
#ifndef PTC_CLI_COMMON_CONTROL_H
#define PTC_CLI_COMMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

enum { PTC_CONTROL_LINE = 64, PTC_CONTROL_WAITING = 64 };

enum ptc_control_command {
	PTC_CONTROL_NOTHING, /* no complete line yet, or already answered */
	PTC_CONTROL_SNAPSHOT,
	PTC_CONTROL_STOP,
	PTC_CONTROL_CLOSED, /* no writer is left: do not poll any more */
};

struct ptc_control {
	int fd, ack_fd; /* -1: none */
	bool ours;	/* the descriptors were opened here */
	char line[PTC_CONTROL_LINE];
	size_t len;
	/* Unanswered commands: the numbers of the awaited snapshots, and a stop. */
	uint64_t waiting[PTC_CONTROL_WAITING];
	size_t nwaiting;
	bool stop;
};

#define PTC_CONTROL_INIT                                                                           \
	{                                                                                          \
		.fd = -1, .ack_fd = -1                                                             \
	}

/* Open "fifo:CTL[,ACK]", "fd:CTL[,ACK]", or CTL[,ACK], which are FIFOs. */
int ptc_control_open(struct ptc_control *c, const char *text, struct ptc_err *err);
/* Answer all waiting commands and close. @ended: a stop is answered with "ack". */
void ptc_control_close(struct ptc_control *c, bool ended);

/* Read the next command. Each call returns at most one. */
enum ptc_control_command ptc_control_next(struct ptc_control *c);
/* Answer the last command when snapshot number @n is taken. */
void ptc_control_wait(struct ptc_control *c, uint64_t n);
/* Snapshots up to number @n are taken: answer their commands. */
void ptc_control_taken(struct ptc_control *c, uint64_t n);

#endif
