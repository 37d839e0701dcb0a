/* SPDX-License-Identifier: MIT */
/*
 * Members of untrusted JSON objects. A missing member, or one with another type, is an error with
 * file, line and name. @o is a part of @l->json. Results are set on success only.
 */
#ifndef PTC_CLI_SUM_SUM_JSON_H
#define PTC_CLI_SUM_SUM_JSON_H

#include "cli/sum/sum_line.h"

/* Gets an integer that is not negative. */
int ptc_sum_json_count(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       uint64_t *ret, struct ptc_err *err);
/* The same for a member that may be null, which leaves *@ret unchanged. *@ret_known: not null. */
int ptc_sum_json_known(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       uint64_t *ret, bool *ret_known, struct ptc_err *err);
/* Gets a text, borrowed. */
int ptc_sum_json_text(const struct ptc_sum_line *l, const json_t *o, const char *key,
		      const char **ret, struct ptc_err *err);
/* The same for a member that may be missing or null: *@ret is NULL. */
int ptc_sum_json_maybe_text(const struct ptc_sum_line *l, const json_t *o, const char *key,
			    const char **ret, struct ptc_err *err);
/* Gets a number that is a text with 0x. */
int ptc_sum_json_hex(const struct ptc_sum_line *l, const json_t *o, const char *key, uint64_t *ret,
		     struct ptc_err *err);
/* Gets an object or array, borrowed. */
int ptc_sum_json_object(const struct ptc_sum_line *l, const json_t *o, const char *key,
			const json_t **ret, struct ptc_err *err);
int ptc_sum_json_array(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       const json_t **ret, struct ptc_err *err);

/* Returns the text of the member @key; "" if it is missing or no text. For telling objects apart.
 */
const char *ptc_sum_json_word(const json_t *o, const char *key);

/* Checks that "version" is 1. */
int ptc_sum_json_version(const struct ptc_sum_line *l, struct ptc_err *err);

#endif
