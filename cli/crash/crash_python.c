/* SPDX-License-Identifier: MIT */
/* The Python functions of `ptcap crash show`. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

/* Returns the file's name without folders, unless all frames are shown with full names. */
static const char *file_of(const struct ptc_crash_view *v, const struct ptc_python_frames *p,
			   size_t i)
{
	const char *file = ptc_python_frames_file(p, i);

	return v->verbose ? file : ptc_path_base(file);
}

void ptc_crash_add_python(const struct ptc_crash_view *v, struct ptc_screen *s, size_t frames)
{
	const struct ptc_python_frames *p = ptc_crash_report_python(v->r);
	const size_t n = ptc_python_frames_count(p);
	const bool cut = ptc_python_frames_are_cut(p);
	size_t i;

	if (!n && !cut)
		return;
	ptc_screen_heading(s, "python: from memory");
	for (i = 0; i < n && i < frames; i++) {
		const uint32_t number = ptc_python_frames_line(p, i);
		char line[16] = "";

		if (number)
			(void)snprintf(line, sizeof(line), ":%" PRIu32, number);
		ptc_screen_add(s, PTC_STYLE_PLAIN, " %3zu %s at %s%s", i,
			       ptc_python_frames_function(p, i), file_of(v, p, i), line);
	}
	if (n > frames)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "     ... %s%zu more ...",
			       cut ? "at least " : "", n - frames);
	else if (cut)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     the saved memory has no more frames; the outermost frames are "
			       "not shown");
}
