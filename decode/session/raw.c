/* SPDX-License-Identifier: MIT */
/* Raw mode: a bare PT stream, with code given on the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "decode/session/decoder.h"

/* Maps @c into the only process. Fails if it overlaps an earlier mapping. */
static int map_raw(struct ptc_decode *d, const struct ptc_raw_code *c, struct ptc_err *err)
{
	const struct ptc_addrspace *as = &d->raw->as;
	struct ptc_codefile *file;
	const struct ptc_range *there;
	uint64_t len = c->len, end;
	int r;

	r = ptc_codefiles_open(&d->origin.files, c->path, &file, err);
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
	if (!ptc_addrspace_map(&d->raw->as, c->addr, len, c->off, file))
		return ptc_fail_mem(err);
	return 0;
}

static int open_raw(struct ptc_decode *d, const char *pt_path, const struct ptc_raw_code *code,
		    size_t n, struct ptc_err *err)
{
	const struct ptc_ipt_params params = { .cpu = d->opts.cpu_id };
	size_t i;
	int r;

	d->resync = d->opts.resync == PTC_RESYNC_PACKET ? PTC_RESYNC_PACKET : PTC_RESYNC_PSB;
	r = ptc_ipt_init(&d->ipt, &params, err);
	d->ipt_ready = true;
	if (r < 0)
		return r;
	d->raw = ptc_procs_get(&d->procs, -1);
	d->lanes = calloc(1, sizeof(*d->lanes));
	if (!d->raw || !d->lanes)
		return ptc_fail_mem(err);
	d->nlanes = 1;
	d->lanes[0].tid = d->lanes[0].cpu = -1;
	for (i = 0; i < n; i++) {
		r = map_raw(d, &code[i], err);
		if (r < 0)
			return r;
	}
	r = ptc_codefiles_map(&d->origin.files, pt_path, &d->pt, err);
	if (r < 0) /* an empty stream: nothing to decode, but no failure */
		return err->sys == ENODATA ? 0 : r;
	return ptc_stream_single(&d->lanes[0].stream, d->pt->bytes, d->pt->len, err);
}

int ptc_decode_open_raw(const char *pt_path, const struct ptc_raw_code *code, size_t n,
			const struct ptc_decode_opts *opts, struct ptc_decode **ret,
			struct ptc_err *err)
{
	struct ptc_decode *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return ptc_fail_mem(err);
	r = ptc_decode_take_opts(d, opts, err);
	if (!r)
		r = open_raw(d, pt_path, code, n, err);
	if (r < 0) {
		ptc_decode_free(d);
		return r;
	}
	*ret = d;
	return 0;
}
