/* SPDX-License-Identifier: MIT */
#include "decode/archive/reached_files.h"

#include <stdlib.h>

#include "base/grow.h"
#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/session/item_lookup.h"
#include "decode/sideband/process.h"
#include "ptcap/decode.h"

void ptc_reached_release(struct ptc_reached *r)
{
	free(r->files);
	free(r->pids);
	*r = (struct ptc_reached){ .d = NULL };
}

bool ptc_reached_has(const struct ptc_reached *r, const struct ptc_codefile *f)
{
	size_t i;

	for (i = 0; i < r->nfiles; i++)
		if (r->files[i].file == f)
			return true;
	return false;
}

static bool note_file(struct ptc_reached *r, const struct ptc_codefile *f)
{
	if (ptc_reached_has(r, f))
		return true;
	if (!ptc_grow(&r->files, &r->files_cap, r->nfiles + 1, sizeof(*r->files)))
		return false;
	r->files[r->nfiles++].file = f;
	return true;
}

static bool note_pid(struct ptc_reached *r, int32_t pid)
{
	size_t i;

	for (i = 0; i < r->npids; i++)
		if (r->pids[i] == pid)
			return true;
	if (pid <= 0)
		return true;
	if (!ptc_grow(&r->pids, &r->pids_cap, r->npids + 1, sizeof(*r->pids)))
		return false;
	r->pids[r->npids++] = pid;
	return true;
}

/* Note the process of @it, and the process from which its names came at a fork. */
static bool note_generated(struct ptc_reached *r, const struct ptc_item *it)
{
	const struct ptc_proc *p = ptc_decode_process(r->d, it->pid);

	return !p || (note_pid(r, p->pid) && note_pid(r, p->names_of));
}

static bool note_address(struct ptc_reached *r, const struct ptc_item *it, uint64_t ip,
			 struct ptc_reached_range *last)
{
	const struct ptc_addrspace *as = ptc_decode_addrspace(r->d, it);
	const uint64_t version = as ? ptc_addrspace_version(as) : 0;
	const struct ptc_range *range;

	if (!as ||
	    (as == last->as && version == last->version && ip >= last->start && ip < last->end))
		return true;
	range = ptc_addrspace_find(as, ip);
	if (!range || !range->file)
		return ip >> 63 || note_generated(r, it);
	*last = (struct ptc_reached_range){ as, version, range->start, range->end };
	return note_file(r, range->file) &&
	       (range->file->from == PTC_CODE_FILE || ip >> 63 || note_generated(r, it));
}

int ptc_reached_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_reached *r = ctx;
	size_t i;

	/* Another process may have the memory of an old address space now. */
	r->last[0].as = r->last[1].as = NULL;
	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type != PTC_ITEM_BRANCH && it->type != PTC_ITEM_EVENT)
			continue;
		if (it->from && !note_address(r, it, it->from, &r->last[0]))
			return PTC_E_NO_MEMORY;
		if (it->type == PTC_ITEM_BRANCH && it->to &&
		    !note_address(r, it, it->to, &r->last[1]))
			return PTC_E_NO_MEMORY;
	}
	return 0;
}
