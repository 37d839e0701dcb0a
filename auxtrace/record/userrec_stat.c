/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/userrec_stat.h"

#include <assert.h>
#include <string.h>

#include "auxtrace/record/cpumap.h"
#include "auxtrace/record/userrec_field.h"

/* Sizes of entries, in bytes. */
enum {
	THREAD_ENTRY = 8 + PTC_THREAD_COMM_MAX,
	STAT_ENTRY = 16,
};

bool ptc_user_get_thread_map(struct ptc_cur *c, struct ptc_user *u)
{
	return get_array(c, THREAD_ENTRY, &u->u.thread_map.n, &u->u.thread_map.entries);
}

void ptc_user_put_thread_map(struct ptc_buf *b, const struct ptc_user *u)
{
	put_array(b, THREAD_ENTRY, u->u.thread_map.entries);
}

bool ptc_user_get_cpu_map(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_cpu_map_parse(c, &u->u.cpu_map);
}

void ptc_user_put_cpu_map(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_cpu_map_put(b, &u->u.cpu_map);
}

bool ptc_user_get_stat_config(struct ptc_cur *c, struct ptc_user *u)
{
	return get_array(c, STAT_ENTRY, &u->u.stat_config.n, &u->u.stat_config.entries);
}

void ptc_user_put_stat_config(struct ptc_buf *b, const struct ptc_user *u)
{
	put_array(b, STAT_ENTRY, u->u.stat_config.entries);
}

bool ptc_user_get_stat(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_stat *s = &u->u.stat;

	return ptc_cur_le64(c, &s->id) && get_i32(c, &s->cpu) && get_i32(c, &s->thread) &&
	       ptc_cur_le64(c, &s->val) && ptc_cur_le64(c, &s->ena) && ptc_cur_le64(c, &s->run);
}

void ptc_user_put_stat(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_user_stat *s = &u->u.stat;

	ptc_buf_le64(b, s->id);
	ptc_buf_le32(b, (uint32_t)s->cpu);
	ptc_buf_le32(b, (uint32_t)s->thread);
	ptc_buf_le64(b, s->val);
	ptc_buf_le64(b, s->ena);
	ptc_buf_le64(b, s->run);
}

bool ptc_user_get_stat_round(struct ptc_cur *c, struct ptc_user *u)
{
	return ptc_cur_le64(c, &u->u.stat_round.type) && ptc_cur_le64(c, &u->u.stat_round.time);
}

void ptc_user_put_stat_round(struct ptc_buf *b, const struct ptc_user *u)
{
	ptc_buf_le64(b, u->u.stat_round.type);
	ptc_buf_le64(b, u->u.stat_round.time);
}

bool ptc_user_get_event_update(struct ptc_cur *c, struct ptc_user *u)
{
	struct ptc_user_event_update *e = &u->u.event_update;
	uint64_t bits;

	static_assert(sizeof(bits) == sizeof(e->scale), "a scale is an IEEE double");
	if (!ptc_cur_le64(c, &e->type) || !ptc_cur_le64(c, &e->id))
		return false;
	switch (e->type) {
	case PTC_UPDATE_UNIT:
	case PTC_UPDATE_NAME:
		return ptc_cur_str(c, &e->text);
	case PTC_UPDATE_SCALE:
		if (!ptc_cur_le64(c, &bits))
			return false;
		memcpy(&e->scale, &bits, sizeof(bits));
		return true;
	case PTC_UPDATE_CPUS:
		return ptc_cpu_map_parse(c, &e->cpus);
	default:
		return get_rest(c, &e->other);
	}
}

void ptc_user_put_event_update(struct ptc_buf *b, const struct ptc_user *u)
{
	const struct ptc_user_event_update *e = &u->u.event_update;
	uint64_t bits;

	ptc_buf_le64(b, e->type);
	ptc_buf_le64(b, e->id);
	switch (e->type) {
	case PTC_UPDATE_UNIT:
	case PTC_UPDATE_NAME:
		ptc_buf_put(b, e->text, strlen(e->text) + 1);
		break;
	case PTC_UPDATE_SCALE:
		memcpy(&bits, &e->scale, sizeof(bits));
		ptc_buf_le64(b, bits);
		break;
	case PTC_UPDATE_CPUS:
		ptc_cpu_map_put(b, &e->cpus);
		break;
	default:
		put_rest(b, e->other);
		break;
	}
}
