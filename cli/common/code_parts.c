/* SPDX-License-Identifier: MIT */
#include "cli/common/code_parts.h"

#include <string.h>

static void lock(const struct ptc_code_parts *p)
{
	if (p->lock)
		(void)pthread_mutex_lock(p->lock);
}

static void unlock(const struct ptc_code_parts *p)
{
	if (p->lock)
		(void)pthread_mutex_unlock(p->lock);
}

uint64_t ptc_code_parts_state(struct ptc_code_parts *p, const struct ptc_decode *d,
			      const struct ptc_item *it)
{
	if (!p->known || p->pid != it->pid) {
		lock(p);
		p->state = ptc_decode_code_state(d, it);
		unlock(p);
		p->pid = it->pid;
		p->known = true;
	}
	return p->state;
}

const struct ptc_code_part *ptc_code_parts_at(struct ptc_code_parts *p, struct ptc_decode *d,
					      const struct ptc_item *it, uint64_t ip)
{
	const uint64_t state = ptc_code_parts_state(p, d, it);
	struct ptc_code_part *part = p->parts;

	if (p->state_of_parts != state) {
		p->state_of_parts = state;
		memset(p->parts, 0, sizeof(p->parts));
	}
	for (; part < p->parts + PTC_CODE_PARTS; part++)
		if (ptc_is_in_part(part, ip))
			return part;
	part = &p->parts[p->next++ % PTC_CODE_PARTS];
	lock(p);
	ptc_decode_code_part(d, it, ip, part);
	unlock(p);
	return part;
}
