/* SPDX-License-Identifier: MIT */
/* Options of commands that decode: --tid, --cpu and --time select a part. -j: threads. */
#ifndef PTC_CLI_COMMON_SELECTION_ARGS_H
#define PTC_CLI_COMMON_SELECTION_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"

/* A list of ids, from a text such as "1,2,5-7". */
struct ptc_id_list {
	struct ptc_id_range *ranges; /* owned */
	size_t n, cap;
};

/* Add the ids in @arg. Returns false if malformed, or if out of memory. */
bool ptc_id_list_parse(struct ptc_id_list *l, const char *arg);
void ptc_id_list_release(struct ptc_id_list *l);
/* ptc_id_list_parse for PTC_PARSED (cli/common/option_table.h). */
bool ptc_take_ids(const char *s, void *list);

/*
 * A time range: "A,B", "A,", ",B" in seconds of the recording's clock, or "10%-20%" of the trace.
 */
struct ptc_time_choice {
	bool percent;
	uint64_t from, to; /* ns, or thousandths of a percent; UINT64_MAX: to the end */
};

/* Parse @arg. Returns false if malformed, or if the end is before the start. */
bool ptc_time_choice_parse(const char *arg, struct ptc_time_choice *ret);

/* Restrict decoding to the time range. */
int ptc_time_choice_apply(const struct ptc_time_choice *c, struct ptc_decode *d,
			  struct ptc_err *err);

/* One of N parts of the trace; n 0: all of the trace. */
struct ptc_shard_choice {
	uint32_t i, n; /* 1 <= i <= n */
};

/* Parse "I/N", for PTC_PARSED. @ret: a struct ptc_shard_choice. */
bool ptc_take_shard(const char *s, void *ret);

/* --axis: instructions for software sources, else the time; the time; instructions. */
enum ptc_axis { PTC_AXIS_AUTO, PTC_AXIS_TIME, PTC_AXIS_INSNS };

/* Parse "time" or "insns", for PTC_PARSED. @ret: an enum ptc_axis. */
bool ptc_take_axis(const char *s, void *ret);

/* Returns the number of decoding threads if none is given: one for each CPU, up to 16. */
unsigned int ptc_default_jobs(void);

#endif
