/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/cpumap.h"

static bool get_mask(struct ptc_cur *c, struct ptc_cpu_map *m)
{
	uint16_t n;

	if (!ptc_cur_le16(c, &n) || !ptc_cur_le16(c, &m->word_size) ||
	    (m->word_size != 4 && m->word_size != 8))
		return false;
	/* The 64-bit form is a struct with a hole, so its words begin 4 bytes later. */
	return (m->word_size == 4 || ptc_cur_skip(c, 4)) &&
	       ptc_cur_sub(c, (size_t)n * m->word_size, &m->mask);
}

static bool get_range(struct ptc_cur *c, struct ptc_cpu_map *m)
{
	uint8_t any;

	if (!ptc_cur_u8(c, &any) || !ptc_cur_skip(c, 1) || !ptc_cur_le16(c, &m->first) ||
	    !ptc_cur_le16(c, &m->last))
		return false;
	m->any = any != 0;
	return m->first <= m->last;
}

bool ptc_cpu_map_parse(struct ptc_cur *c, struct ptc_cpu_map *ret)
{
	struct ptc_cpu_map m = { 0 };
	struct ptc_cur pos = *c;
	uint16_t n;
	bool ok;

	if (!ptc_cur_le16(&pos, &m.type))
		return false;
	switch (m.type) {
	case PTC_CPU_MAP_CPUS:
		ok = ptc_cur_le16(&pos, &n) && ptc_cur_sub(&pos, (size_t)n * 2, &m.cpus);
		break;
	case PTC_CPU_MAP_MASK:
		ok = get_mask(&pos, &m);
		break;
	case PTC_CPU_MAP_RANGE:
		ok = get_range(&pos, &m);
		break;
	default:
		ok = false;
		break;
	}
	if (!ok)
		return false;
	*c = pos;
	*ret = m;
	return true;
}

static bool next_listed(struct ptc_cpu_map *m, int32_t *ret)
{
	const size_t off = (size_t)m->at * 2;
	uint16_t cpu;

	if (off >= ptc_cur_left(&m->cpus))
		return false;
	cpu = ptc_le16(m->cpus.pos + off);
	*ret = cpu == UINT16_MAX ? -1 : cpu;
	m->at++;
	return true;
}

/* Little endian: bit n of the mask is bit n % 8 of byte n / 8, for either word size. */
static bool next_in_mask(struct ptc_cpu_map *m, int32_t *ret)
{
	const size_t len = ptc_cur_left(&m->mask);

	for (; m->at / 8 < len; m->at++) {
		if (!(m->mask.pos[m->at / 8] >> m->at % 8 & 1))
			continue;
		*ret = (int32_t)m->at++;
		return true;
	}
	return false;
}

static bool next_in_range(struct ptc_cpu_map *m, int32_t *ret)
{
	const int32_t cpu = m->first + (int32_t)m->at - m->any;

	if (cpu > m->last)
		return false;
	*ret = m->any && !m->at ? -1 : cpu;
	m->at++;
	return true;
}

bool ptc_cpu_map_next(struct ptc_cpu_map *m, int32_t *ret)
{
	switch (m->type) {
	case PTC_CPU_MAP_CPUS:
		return next_listed(m, ret);
	case PTC_CPU_MAP_MASK:
		return next_in_mask(m, ret);
	default:
		return next_in_range(m, ret);
	}
}

static void put_words(struct ptc_buf *b, size_t size, struct ptc_cur words)
{
	const size_t len = ptc_cur_left(&words);

	if (!size || len % size || len / size > UINT16_MAX) {
		b->failed = true;
		return;
	}
	ptc_buf_le16(b, (uint16_t)(len / size));
	if (size > 2) {
		ptc_buf_le16(b, (uint16_t)size);
		ptc_buf_zero(b, size - 4);
	}
	ptc_buf_put(b, words.pos, len);
}

void ptc_cpu_map_put(struct ptc_buf *b, const struct ptc_cpu_map *m)
{
	ptc_buf_le16(b, m->type);
	switch (m->type) {
	case PTC_CPU_MAP_CPUS:
		put_words(b, 2, m->cpus);
		break;
	case PTC_CPU_MAP_MASK:
		put_words(b, m->word_size == 4 || m->word_size == 8 ? m->word_size : 0, m->mask);
		break;
	default:
		ptc_buf_u8(b, m->any);
		ptc_buf_u8(b, 0);
		ptc_buf_le16(b, m->first);
		ptc_buf_le16(b, m->last);
		break;
	}
}
