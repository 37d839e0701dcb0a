/* SPDX-License-Identifier: MIT */
/* Serves a recording to a browser, for `ptcap view --serve`. */
#ifndef PTC_CLI_SERVE_SERVE_H
#define PTC_CLI_SERVE_SERVE_H

#include <stdint.h>

#include "cli/serve/http_server.h"
#include "cli/serve/served_recording.h"

/* The page, made by cmake/page.cmake, and its policy: a text that allows requests to its server. */
extern const unsigned char ptc_served_head[], ptc_served_tail[], ptc_served_policy[];
extern const size_t ptc_served_head_size, ptc_served_tail_size, ptc_served_policy_size;

/*
 * Print the address on standard output, and answer requests until SIGINT or SIGTERM.
 * ptc_served_recording_finish was called. @meta: JSON of ptc_view_meta. @nfunctions: number of
 * functions in it. Returns an exit code after a message.
 */
int ptc_serve(struct ptc_http_server *http, struct ptc_served_recording *recording,
	      const struct ptc_buf *meta, uint32_t nfunctions);

#endif
