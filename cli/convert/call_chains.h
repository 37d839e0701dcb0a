/* SPDX-License-Identifier: MIT */
/* convert --callchains: samples generated from the trace of the recording being copied. */
#ifndef PTC_CLI_CONVERT_CALL_CHAINS_H
#define PTC_CLI_CONVERT_CALL_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/convert/chain_samples.h"
#include "ptcap/copy.h"

struct ptc_call_chains {
	struct ptc_chains_opts opts;
	struct perf_event_attr attr; /* of the added event */
	struct ptc_copy_more more;
	uint64_t written;
};

/* Parse "PERIOD"; NULL: the default. Returns false if malformed. */
bool ptc_call_chains_parse(const char *s, struct ptc_chains_opts *ret);

/*
 * Open @path again for decoding; @f is the same recording. Sets up @c->more for ptc_copy_opts, and
 * @c->opts except period. The caller must close @c even after a failure.
 */
int ptc_call_chains_open(struct ptc_call_chains *c, const char *path, const struct ptc_file *f,
			 struct ptc_err *err);
/*
 * Report gaps and missing code of the trace. If @done, the copy is complete: also report the number
 * of generated samples, if they were requested.
 */
void ptc_call_chains_close(struct ptc_call_chains *c, bool done);

#endif
