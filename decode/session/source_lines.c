/* SPDX-License-Identifier: MIT */
/* Source lines of items: the interface for users of the library. */
#include "decode/session/decoder.h"
#include "decode/symbols/srcline.h"

const char *ptc_decode_srcline(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			       int *ret_line)
{
	const struct ptc_proc *p = ptc_procs_find(&d->procs, item->pid);
	const struct ptc_range *r = p && ip ? ptc_addrspace_find(&p->as, ip) : NULL;

	if (!r || !r->file || !r->file->path)
		return NULL;
	return ptc_srcline_find(&d->srclines, r->file, ip - r->start + r->off, ret_line);
}

const char *ptc_decode_without_lines(const struct ptc_decode *d, size_t *ret_n)
{
	return ptc_srclines_first_without(&d->srclines, ret_n);
}

int ptc_decode_each_srcline(struct ptc_decode *d,
			    int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	return ptc_srclines_each(&d->srclines, on_line, ctx);
}
