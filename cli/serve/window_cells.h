/* SPDX-License-Identifier: MIT */
/* The cells of a thread in a window, by depth. */
#ifndef PTC_CLI_SERVE_WINDOW_CELLS_H
#define PTC_CLI_SERVE_WINDOW_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/serve/window.h"

/* Initialize with zeros. Caller frees v, sorted and ends. */
struct ptc_window_cells {
	struct ptc_served_cell *v; /* owned; in the order in which they were found */
	size_t n, cap;
	struct ptc_served_cell *sorted; /* owned; the rows, one behind the other */
	size_t sorted_cap;
	size_t *ends; /* owned; of each row in sorted */
	size_t rows, ends_cap;
	struct ptc_call_list calls;
	struct ptc_buf bytes;
};

void ptc_window_cells_release(struct ptc_window_cells *w);

/*
 * Find the cells of @thread: single calls if they are few enough, or a level that fits a pixel.
 * Then merge cells below a pixel.
 */
int ptc_window_cells_find(struct ptc_window_cells *w, struct ptc_served_recording *s,
			  uint32_t thread, const struct ptc_window_ask *ask, struct ptc_err *err);

#endif
