/* SPDX-License-Identifier: MIT */
/* Raw mode: a bare PT stream, with code given on the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/session/decode_input.h"

/* Maps @c into the only process. Fails if it overlaps an earlier mapping. */
static int map_raw(struct ptc_decode_input *in, const struct ptc_raw_code *c, struct ptc_err *err)
{
	const struct ptc_addrspace *as = &in->raw->as;
	struct ptc_codefile *file;
	const struct ptc_range *there;
	uint64_t len = c->len, end;
	int r;

	r = ptc_codefiles_open(&in->origin.files, c->path, &file, err);
	if (r < 0)
		return r;
	if (c->off >= file->len)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' has only %zu bytes: none at offset 0x%" PRIx64, c->path,
				file->len, c->off);
	if (!len)
		len = file->len - c->off;
	if (len > file->len - c->off)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' has only %zu bytes: not 0x%" PRIx64 " at offset 0x%" PRIx64,
				c->path, file->len, len, c->off);
	if (__builtin_add_overflow(c->addr, len, &end))
		return ptc_fail(err, PTC_E_USAGE, "'%s' at 0x%" PRIx64 " exceeds the last address",
				c->path, c->addr);
	there = ptc_ranges_from(&as->ranges, c->addr);
	if (there && there->start < end)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' at 0x%" PRIx64 " overlaps '%s' at 0x%" PRIx64, c->path,
				c->addr, there->file->name, there->start);
	if (!ptc_addrspace_map(&in->raw->as, c->addr, len, c->off, file))
		return ptc_fail_mem(err);
	return 0;
}

int ptc_decode_input_open_raw(struct ptc_decode_input *in, const char *pt_path,
			      const struct ptc_raw_code *code, size_t n, struct ptc_err *err)
{
	const struct ptc_ipt_params params = { .cpu = in->opts.cpu_id };
	struct ptc_codefile *pt;
	size_t i;
	int r;

	in->resync = in->opts.resync == PTC_RESYNC_PACKET ? PTC_RESYNC_PACKET : PTC_RESYNC_PSB;
	r = ptc_ipt_init(&in->ipt, &params, err);
	in->ipt_ready = true;
	if (r < 0)
		return r;
	in->raw = ptc_procs_get(&in->procs, -1);
	in->lanes = calloc(1, sizeof(*in->lanes));
	if (!in->raw || !in->lanes || !ptc_queue_map_add(&in->queues, -1, -1))
		return ptc_fail_mem(err);
	in->nlanes = 1;
	in->lanes[0].tid = in->lanes[0].cpu = -1;
	for (i = 0; i < n; i++) {
		r = map_raw(in, &code[i], err);
		if (r < 0)
			return r;
	}
	r = ptc_codefiles_map(&in->origin.files, pt_path, &pt, err);
	if (r < 0) /* an empty stream: nothing to decode, but no failure */
		return err->sys == ENODATA ? 0 : r;
	return ptc_stream_single(&in->lanes[0].stream, pt->bytes, pt->len, err);
}
