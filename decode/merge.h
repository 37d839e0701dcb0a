/* SPDX-License-Identifier: MIT */
/*
 * Items of all lanes leave in the order of their times, as soon as no lane can come up with an
 * earlier one; between them the places where a thread's trace of several CPUs cannot be joined.
 */
#ifndef PTC_DECODE_MERGE_H
#define PTC_DECODE_MERGE_H

struct ptc_decode;
struct ptc_err;
struct ptc_sink;

/* Hand over what nothing to come can be in front of. PTC_E_STOPPED: the sink said so. */
int ptc_merge_settled(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);
/* The same of all that is left, when no lane steps any more. */
int ptc_merge_rest(struct ptc_decode *d, const struct ptc_sink *sink, struct ptc_err *err);

#endif
