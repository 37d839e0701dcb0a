/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash_place.h"

#include "base/opts.h"
#include "decode/crash/crash.h"
#include "decode/session/item_lookup.h"

/* Returns an item of the dead process, to look up names with. */
static struct ptc_item at_the_end(const struct ptc_crash_report *r)
{
	return (struct ptc_item){ .pid = (int32_t)r->dead.signal.pid,
				  .tid = (int32_t)r->dead.signal.tid,
				  .time = r->dead.signal.time_ns };
}

void ptc_crash_place_find(struct ptc_decode *d, const struct ptc_item *it, uint64_t ip,
			  uint64_t back, struct ptc_crash_place *ret)
{
	struct ptc_crash_place p = { .size = sizeof(p), .ip = ip, .code = ip - back };

	p.source = ptc_decode_srcline(d, it, p.code, &p.line);
	p.file = ptc_decode_file(d, it, p.code, &p.file_offset);
	p.function = ptc_decode_symbol(d, it, p.code, &p.offset);
	p.nfunctions = ptc_decode_inlines(d, it, p.code, p.functions);
	p.offset += back;
	p.file_offset += back;
	if (!p.nfunctions) {
		p.nfunctions = 1;
		p.functions[0] = (struct ptc_inline_frame){ .function = p.function,
							    .file = p.source,
							    .line = p.line };
	}
	ptc_opts_give(ret, &p, sizeof(p));
}

void ptc_crash_place_at(const struct ptc_crash_report *r, uint64_t ip, struct ptc_crash_place *ret)
{
	const struct ptc_item it = at_the_end(r);

	ptc_crash_place_find(r->d, &it, ip, 0, ret);
}

void ptc_crash_place_level(struct ptc_crash_place *p, size_t level)
{
	const struct ptc_inline_frame *f = &p->functions[level];

	p->inlined = level + 1 < p->nfunctions;
	if (p->inlined)
		p->function = f->function ? f->function : "?";
	p->source = f->file;
	p->line = f->line;
}

const char *ptc_crash_source_folder(const struct ptc_crash_report *r,
				    const struct ptc_crash_place *p)
{
	const struct ptc_item it = at_the_end(r);

	return ptc_decode_source_folder(r->d, &it, p->code);
}

void ptc_crash_place_frame(const struct ptc_crash_report *r, const struct ptc_crash_frame *f,
			   struct ptc_crash_place *ret)
{
	const struct ptc_item it = at_the_end(r);

	ptc_crash_place_find(r->d, &it, f->pc, !f->exact && f->pc, ret);
}
