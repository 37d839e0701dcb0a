/* SPDX-License-Identifier: MIT */
#include "capture/host/vdso_record.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/host/maps.h"

enum { POKE_MAX = 2048 };

/* The vdso of this process, valid until the process ends; empty: not found. */
static struct ptc_cur own;
static pthread_once_t found = PTHREAD_ONCE_INIT;

/*
 * Called once: the recording of a build has thousands of processes, each with its own vdso mapping.
 */
static void find_own_vdso(void)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_err ignored;
	size_t i;

	if (ptc_maps_read(&maps, "/proc", getpid(), &ignored))
		maps.n = 0;
	for (i = 0; i < maps.n; i++) {
		const struct ptc_map *m = &maps.items[i];

		if (!strcmp(ptc_map_name(&maps, m), "[vdso]"))
			own = ptc_cur_init((const uint8_t *)(uintptr_t)m->start,
					   (size_t)(m->end - m->start));
	}
	ptc_maps_release(&maps);
}

void ptc_ownvdso_put(struct ptc_buf *b, const struct ptc_sb *mmap2, uint64_t sample_type)
{
	const uint64_t addr = mmap2->u.mmap.addr, len = mmap2->u.mmap.len;
	uint64_t at;

	if (mmap2->type != PERF_RECORD_MMAP2 || strcmp(mmap2->u.mmap.filename, "[vdso]") != 0 ||
	    addr <= UINT32_MAX)
		return;
	(void)pthread_once(&found, find_own_vdso);
	if (len != ptc_cur_left(&own)) /* not found here, or a different vdso */
		return;
	for (at = 0; at < len; at += POKE_MAX) {
		struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
				     .misc = PERF_RECORD_MISC_USER,
				     .id = mmap2->id };
		const uint64_t n = len - at < POKE_MAX ? len - at : POKE_MAX;

		sb.u.poke.addr = addr + at;
		sb.u.poke.new_bytes = ptc_cur_init(own.pos + at, (size_t)n);
		ptc_sb_put(b, &sb, sample_type);
	}
}
