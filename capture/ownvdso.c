/* SPDX-License-Identifier: MIT */
#include "capture/ownvdso.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/maps.h"

enum { POKE_MAX = 2048 };

/* Where it is here. False: nowhere, or elsewhere in another size. */
static bool find(uint64_t len, const uint8_t **ret)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_err ignored;
	bool found = false;
	size_t i;

	if (!ptc_maps_read(&maps, "/proc", getpid(), &ignored)) {
		for (i = 0; i < maps.n && !found; i++) {
			const struct ptc_map *m = &maps.items[i];

			if (strcmp(ptc_map_name(&maps, m), "[vdso]") != 0 ||
			    m->end - m->start != len)
				continue;
			*ret = (const uint8_t *)(uintptr_t)m->start;
			found = true;
		}
	}
	ptc_maps_release(&maps);
	return found;
}

void ptc_ownvdso_put(struct ptc_buf *b, const struct ptc_sb *mmap2, uint64_t sample_type)
{
	const uint64_t addr = mmap2->u.mmap.addr, len = mmap2->u.mmap.len;
	const uint8_t *bytes;
	uint64_t at;

	if (mmap2->type != PERF_RECORD_MMAP2 || strcmp(mmap2->u.mmap.filename, "[vdso]") != 0 ||
	    addr <= UINT32_MAX || !find(len, &bytes))
		return;
	for (at = 0; at < len; at += POKE_MAX) {
		struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE,
				     .misc = PERF_RECORD_MISC_USER,
				     .id = mmap2->id };
		const uint64_t n = len - at < POKE_MAX ? len - at : POKE_MAX;

		sb.u.poke.addr = addr + at;
		sb.u.poke.new_bytes = ptc_cur_init(bytes + at, (size_t)n);
		ptc_sb_put(b, &sb, sample_type);
	}
}
