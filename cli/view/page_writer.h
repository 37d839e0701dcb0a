/* SPDX-License-Identifier: MIT */
/*
 * Writes the page of `ptcap view`: the page's own parts (cli/view/page), and between them data.
 *
 * Data is deflated, and each four bytes become five characters. No text of a recording is in the
 * page in readable form, so no such text can end the element that it is in.
 */
#ifndef PTC_CLI_VIEW_PAGE_WRITER_H
#define PTC_CLI_VIEW_PAGE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* The parts of the page in front of the data and behind it. cmake/page.cmake makes them. */
extern const unsigned char ptc_page_head[], ptc_page_tail[];
extern const size_t ptc_page_head_size, ptc_page_tail_size;

struct ptc_page_writer {
	int fd;		  /* borrowed */
	const char *name; /* borrowed; of the output, for messages */
	struct ptc_buf text;
	uint64_t size; /* bytes written */
};

/* Begin the page. Caller frees w->text with ptc_buf_release, also on failure. */
int ptc_page_begin(struct ptc_page_writer *w, int fd, const char *name, struct ptc_err *err);

/*
 * Append the data @bytes as an element of the kind @part, "calls" or "meta". Returns false if out
 * of memory.
 */
bool ptc_page_put_element(struct ptc_buf *text, const char *part, const uint8_t *bytes, size_t n);

/* Write the data @bytes as an element of the kind @part, "calls" or "meta". */
int ptc_page_put(struct ptc_page_writer *w, const char *part, const uint8_t *bytes, size_t n,
		 struct ptc_err *err);

int ptc_page_end(struct ptc_page_writer *w, struct ptc_err *err);

#endif
