/* SPDX-License-Identifier: MIT */
#include "cli/sum/sum_json.h"

#include <string.h>

static int wrong_type(const struct ptc_sum_line *l, const char *key, const char *want,
		      struct ptc_err *err)
{
	return ptc_sum_fail(err, l,
			    "the member \"%s\" is missing or is not %s; write the file again with "
			    "this version of ptcap",
			    key, want);
}

int ptc_sum_json_count(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       uint64_t *ret, struct ptc_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return wrong_type(l, key, "a number from 0 to 2^63-1", err);
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

int ptc_sum_json_known(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       uint64_t *ret, bool *ret_known, struct ptc_err *err)
{
	*ret_known = !json_is_null(json_object_get(o, key));
	return *ret_known ? ptc_sum_json_count(l, o, key, ret, err) : 0;
}

int ptc_sum_json_text(const struct ptc_sum_line *l, const json_t *o, const char *key,
		      const char **ret, struct ptc_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_string(v))
		return wrong_type(l, key, "a text", err);
	*ret = json_string_value(v);
	return 0;
}

int ptc_sum_json_maybe_text(const struct ptc_sum_line *l, const json_t *o, const char *key,
			    const char **ret, struct ptc_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (v && !json_is_null(v))
		return ptc_sum_json_text(l, o, key, ret, err);
	*ret = NULL;
	return 0;
}

int ptc_sum_json_hex(const struct ptc_sum_line *l, const json_t *o, const char *key, uint64_t *ret,
		     struct ptc_err *err)
{
	const char *s = json_string_value(json_object_get(o, key));
	uint64_t v;

	if (!s || strncmp(s, "0x", 2) != 0)
		return wrong_type(l, key, "a text such as \"0x10\"", err);
	s += 2;
	if (!ptc_sum_take_hex(&s, &v) || *s)
		return wrong_type(l, key, "a text such as \"0x10\"", err);
	*ret = v;
	return 0;
}

int ptc_sum_json_object(const struct ptc_sum_line *l, const json_t *o, const char *key,
			const json_t **ret, struct ptc_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_object(v))
		return wrong_type(l, key, "an object", err);
	*ret = v;
	return 0;
}

int ptc_sum_json_array(const struct ptc_sum_line *l, const json_t *o, const char *key,
		       const json_t **ret, struct ptc_err *err)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_array(v))
		return wrong_type(l, key, "an array", err);
	*ret = v;
	return 0;
}

const char *ptc_sum_json_word(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

int ptc_sum_json_version(const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint64_t version = 0;
	const int rc = ptc_sum_json_count(l, l->json, "version", &version, err);

	if (rc || version == 1)
		return rc;
	return ptc_sum_fail(err, l,
			    "the version of the format is %llu, and this ptcap adds version 1; use "
			    "the ptcap that wrote the file",
			    (unsigned long long)version);
}
