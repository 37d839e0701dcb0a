/* SPDX-License-Identifier: MIT */
#include "cli/common/python_json.h"

#include "cli/common/field_writer.h"

void ptc_python_json(struct ptc_emit *e, const struct ptc_python_frames *f, size_t max)
{
	size_t i;

	ptc_emit_rows(e, "python_frames");
	for (i = 0; i < f->n && i < max; i++) {
		ptc_emit_row(e);
		ptc_emit_text(e, "function", f->items[i].function);
		ptc_emit_text(e, "file", f->items[i].file);
		if (f->items[i].line)
			ptc_emit_u64(e, "line", f->items[i].line);
		else
			ptc_emit_text(e, "line", NULL);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
	if (f->cut)
		ptc_emit_bool(e, "python_cut", true);
}
