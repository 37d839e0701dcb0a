/* SPDX-License-Identifier: MIT */
/* Answers the requests of the page of `ptcap view --serve`. README.md lists them. */
#ifndef PTC_CLI_SERVE_ANSWERS_H
#define PTC_CLI_SERVE_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/serve/http_server.h"
#include "cli/serve/served_recording.h"

struct ptc_answers {
	struct ptc_served_recording *recording; /* borrowed */
	const struct ptc_buf *page;		/* borrowed; HTML */
	uint32_t nfunctions;
};

/* ptc_http_handler; ctx is a struct ptc_answers. */
void ptc_answers_give(void *ctx, const char *path, size_t n, struct ptc_http_answer *ret);

#endif
