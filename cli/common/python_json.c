/* SPDX-License-Identifier: MIT */
#include "cli/common/python_json.h"

#include "cli/common/field_writer.h"

void ptc_python_json(struct ptc_emit *e, const struct ptc_python_frames *f, size_t max)
{
	const size_t n = ptc_python_frames_count(f);
	size_t i;

	ptc_emit_rows(e, "python_frames");
	for (i = 0; i < n && i < max; i++) {
		const uint32_t line = ptc_python_frames_line(f, i);

		ptc_emit_row(e);
		ptc_emit_text(e, "function", ptc_python_frames_function(f, i));
		ptc_emit_text(e, "file", ptc_python_frames_file(f, i));
		if (line)
			ptc_emit_u64(e, "line", line);
		else
			ptc_emit_text(e, "line", NULL);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
	if (ptc_python_frames_are_cut(f))
		ptc_emit_bool(e, "python_cut", true);
}
