/* SPDX-License-Identifier: MIT */
/* The Python functions of `ptcap crash show`. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

/* Returns the file's name without folders, unless all frames are shown with full names. */
static const char *file_of(const struct ptc_crash_view *v, const struct ptc_python_frame *f)
{
	return v->verbose ? f->file : ptc_path_base(f->file);
}

void ptc_crash_add_python(const struct ptc_crash_view *v, struct ptc_screen *s, size_t frames)
{
	const struct ptc_python_frames *p = &v->r->python;
	size_t i;

	if (!p->n && !p->cut)
		return;
	ptc_screen_heading(s, "python: from memory");
	for (i = 0; i < p->n && i < frames; i++) {
		const struct ptc_python_frame *f = &p->items[i];
		char line[16] = "";

		if (f->line)
			(void)snprintf(line, sizeof(line), ":%" PRIu32, f->line);
		ptc_screen_add(s, PTC_STYLE_PLAIN, " %3zu %s at %s%s", i, f->function,
			       file_of(v, f), line);
	}
	if (p->n > frames)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "     ... %s%zu more ...",
			       p->cut ? "at least " : "", p->n - frames);
	else if (p->cut)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     the saved memory has no more frames; the outermost frames are "
			       "not shown");
}
