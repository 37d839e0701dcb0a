/* SPDX-License-Identifier: MIT */
#include "cli/sum/part_item.h"

#include <string.h>

#include "cli/sum/sum_json.h"

static bool number_of(const json_t *v, uint64_t *ret)
{
	const char *s = json_string_value(v);

	if (json_is_integer(v) && json_integer_value(v) >= -1) {
		*ret = (uint64_t)json_integer_value(v);
		return true;
	}
	if (!s || strncmp(s, "0x", 2) != 0)
		return false;
	s += 2;
	return ptc_sum_take_hex(&s, ret) && !*s;
}

int ptc_part_row_get(const struct ptc_sum_line *l, const json_t *row, size_t n, uint64_t *ret,
		     struct ptc_err *err)
{
	size_t i;
	bool ok = json_array_size(row) == n;

	for (i = 0; ok && i < n; i++)
		ok = number_of(json_array_get(row, i), &ret[i]);
	return ok ? 0 :
		    ptc_sum_fail(err, l,
				 "not a row of %zu numbers; the file is damaged, write it "
				 "again",
				 n);
}

static int place_get(const struct ptc_sum_line *l, const json_t *row, struct ptc_joined_place *ret,
		     struct ptc_err *err)
{
	uint64_t v[3];
	const int rc = ptc_part_row_get(l, row, 3, v, err);

	if (!rc)
		*ret = (struct ptc_joined_place){ v[0], v[2], (int64_t)v[1] };
	return rc;
}

static bool kind_of_name(const char *name, uint8_t *ret)
{
	int i;

	for (i = PTC_KIND_START; i < PTC_KIND_COUNT; i++) {
		if (strcmp(ptc_kind_name((enum ptc_kind)i), name) != 0)
			continue;
		*ret = (uint8_t)i;
		return true;
	}
	return false;
}

/* Gets a number that may be -1 and that has to fit @max. */
static int limited(const struct ptc_sum_line *l, const json_t *o, const char *key, uint64_t max,
		   uint64_t *ret, struct ptc_err *err)
{
	if (number_of(json_object_get(o, key), ret) && (*ret <= max || *ret == UINT64_MAX))
		return 0;
	return ptc_sum_fail(err, l,
			    "the member \"%s\" is missing or too large; the file is damaged, "
			    "write it again",
			    key);
}

static int branch_get(const struct ptc_sum_line *l, const json_t *o, struct ptc_joined_item *ret,
		      struct ptc_err *err)
{
	const json_t *from = json_object_get(o, "from"), *to = json_object_get(o, "to");
	const json_t *life = json_object_get(o, "life");
	uint64_t length;
	int rc = limited(l, o, "length", sizeof(ret->item.insn), &length, err);

	if (!rc && !kind_of_name(ptc_sum_json_word(o, "kind"), &ret->item.kind))
		rc = ptc_sum_fail(err, l,
				  "a branch of an unknown kind; use the ptcap that wrote "
				  "the file");
	if (!rc && from)
		rc = place_get(l, from, &ret->from, err);
	if (!rc && to)
		rc = place_get(l, to, &ret->to, err);
	if (!rc && life)
		rc = ptc_sum_json_hex(l, o, "life", &ret->life, err);
	if (rc)
		return rc;
	ret->item.insn_len = (uint8_t)length;
	ret->item.from = ret->from.ip;
	ret->item.to = ret->to.ip;
	if (to && !ret->to.ip && ret->item.kind != PTC_KIND_START)
		ret->item.flags = PTC_ITEM_TO_ZERO;
	return 0;
}

int ptc_part_item_get(const struct ptc_sum_line *l, const json_t *o, struct ptc_joined_item *ret,
		      struct ptc_err *err)
{
	static const struct ptc_joined_place unknown = { .function = -1 };
	uint64_t pid, tid, queue, time, insns;
	int rc;

	*ret = (struct ptc_joined_item){ .from = unknown, .to = unknown };
	rc = limited(l, o, "pid", INT32_MAX, &pid, err);
	if (!rc)
		rc = limited(l, o, "tid", INT32_MAX, &tid, err);
	if (!rc)
		rc = limited(l, o, "queue", UINT32_MAX, &queue, err);
	if (!rc)
		rc = limited(l, o, "time", UINT64_MAX, &time, err);
	if (!rc)
		rc = limited(l, o, "insns", UINT32_MAX, &insns, err);
	if (rc)
		return rc;
	ret->item = (struct ptc_item){ .type = json_object_get(o, "kind") ? PTC_ITEM_BRANCH :
									    PTC_ITEM_GAP,
				       .pid = (int32_t)pid,
				       .tid = (int32_t)tid,
				       .cpu = -1,
				       .queue = (uint32_t)queue,
				       .time = time,
				       .insns = (uint32_t)insns };
	rc = ptc_sum_json_maybe_text(l, o, "name", &ret->name, err);
	return rc || ret->item.type == PTC_ITEM_GAP ? rc : branch_get(l, o, ret, err);
}
