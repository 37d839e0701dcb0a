/* SPDX-License-Identifier: MIT */
/* Contents of the records of `perf stat`, for the table of all user-space records in userrec.c. */
#ifndef PTC_AUXTRACE_RECORD_USERREC_STAT_H
#define PTC_AUXTRACE_RECORD_USERREC_STAT_H

#include "base/buf.h"
#include "ptcap/userrec.h"

/*
 * Each get function reads the contents of one kind of record from @c, and returns false if the
 * contents are malformed. Each put function appends the contents to @b.
 */
bool ptc_user_get_thread_map(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_thread_map(struct ptc_buf *b, const struct ptc_user *u);
bool ptc_user_get_cpu_map(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_cpu_map(struct ptc_buf *b, const struct ptc_user *u);
bool ptc_user_get_stat_config(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_stat_config(struct ptc_buf *b, const struct ptc_user *u);
bool ptc_user_get_stat(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_stat(struct ptc_buf *b, const struct ptc_user *u);
bool ptc_user_get_stat_round(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_stat_round(struct ptc_buf *b, const struct ptc_user *u);
bool ptc_user_get_event_update(struct ptc_cur *c, struct ptc_user *u);
void ptc_user_put_event_update(struct ptc_buf *b, const struct ptc_user *u);

#endif
