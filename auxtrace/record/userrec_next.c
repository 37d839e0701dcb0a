/* SPDX-License-Identifier: MIT */
/* Iteration over the entries of records that have lists. */
#include <string.h>

#include "auxtrace/record/userrec.h"

static bool get_i64(struct ptc_cur *c, int64_t *ret)
{
	uint64_t v;

	if (!ptc_cur_le64(c, &v))
		return false;
	*ret = (int64_t)v;
	return true;
}

static bool get_text(struct ptc_cur *c, size_t size, const char **ret)
{
	struct ptc_cur field;

	return ptc_cur_sub(c, size, &field) && ptc_cur_str(&field, ret);
}

bool ptc_id_index_next(struct ptc_user_id_index *x, struct ptc_id_index_entry *ret)
{
	struct ptc_id_index_entry e = { 0 };

	if (!ptc_cur_le64(&x->entries, &e.id) || !ptc_cur_le64(&x->entries, &e.idx) ||
	    !get_i64(&x->entries, &e.cpu) || !get_i64(&x->entries, &e.tid))
		return false;
	if (ptc_cur_left(&x->guests))
		(void)(get_i64(&x->guests, &e.machine_pid) && get_i64(&x->guests, &e.vcpu));
	x->n--;
	*ret = e;
	return true;
}

void ptc_id_index_put_entry(struct ptc_buf *b, const struct ptc_id_index_entry *e)
{
	ptc_buf_le64(b, e->id);
	ptc_buf_le64(b, e->idx);
	ptc_buf_le64(b, (uint64_t)e->cpu);
	ptc_buf_le64(b, (uint64_t)e->tid);
}

void ptc_id_index_put_guest(struct ptc_buf *b, const struct ptc_id_index_entry *e)
{
	ptc_buf_le64(b, (uint64_t)e->machine_pid);
	ptc_buf_le64(b, (uint64_t)e->vcpu);
}

bool ptc_thread_map_next(struct ptc_user_thread_map *m, struct ptc_thread_map_entry *ret)
{
	struct ptc_thread_map_entry e = { 0 };
	const uint8_t *comm;

	if (!get_i64(&m->entries, &e.tid) ||
	    !ptc_cur_bytes(&m->entries, PTC_THREAD_COMM_MAX, &comm))
		return false;
	memcpy(e.comm, comm, PTC_THREAD_COMM_MAX);
	m->n--;
	*ret = e;
	return true;
}

bool ptc_stat_config_next(struct ptc_user_stat_config *s, struct ptc_stat_config_entry *ret)
{
	struct ptc_stat_config_entry e;

	if (!ptc_cur_le64(&s->entries, &e.tag) || !ptc_cur_le64(&s->entries, &e.val))
		return false;
	s->n--;
	*ret = e;
	return true;
}

bool ptc_bpf_metadata_next(struct ptc_user_bpf_metadata *m, struct ptc_bpf_metadata_entry *ret)
{
	struct ptc_bpf_metadata_entry e;

	if (!get_text(&m->entries, PTC_BPF_KEY_MAX, &e.key) ||
	    !get_text(&m->entries, PTC_BPF_VALUE_MAX, &e.value))
		return false;
	m->n--;
	*ret = e;
	return true;
}
