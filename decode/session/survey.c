/* SPDX-License-Identifier: MIT */
/* Reports what is missing to decode a recording on this machine, after a run or without one. */
#include "base/err.h"
#include "decode/session/decoder.h"

/* Building the notes has no effect that a caller can see, so @d may be const. */
static struct ptc_notes *notes_of(const struct ptc_decode *d)
{
	struct ptc_decode *own = (struct ptc_decode *)(uintptr_t)d;

	if (!d->notes.made)
		own->notes.extra = ptc_origin_remarks(&own->procs);
	return &own->notes;
}

const char *ptc_decode_note(const struct ptc_decode *d, size_t i)
{
	return ptc_notes_line(notes_of(d), &d->origin.files, i);
}

bool ptc_decode_missing(const struct ptc_decode *d, size_t i, struct ptc_missing *ret)
{
	return ptc_notes_missing(notes_of(d), &d->origin.files, i, ret);
}

int ptc_decode_survey(struct ptc_decode *d, size_t *ret_files, struct ptc_err *err)
{
	int r;

	if (d->ran)
		return ptc_fail(err, PTC_E_USAGE, "this recording was already decoded");
	d->ran = true;
	/*
	 * Code without a file may be in the recording itself. That is known after all records are
	 * applied.
	 */
	while (ptc_sideband_peek(&d->sideband, UINT64_MAX)) {
		r = ptc_sideband_apply(&d->sideband, &d->procs, err);
		if (r < 0)
			return r;
	}
	d->notes.all = true;
	*ret_files = d->origin.files.n;
	return 0;
}
