/* SPDX-License-Identifier: MIT */
/* Findings of ptc_verify in recordings that a test makes. */
#ifndef PTC_TESTS_FINDINGS_H
#define PTC_TESTS_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib_perfdata.h"
#include "ptcap/verify.h"

extern const struct ptc_time_conv vf_clock;
extern const uint8_t vf_trace[64]; /* zeros */

/* Prints the name of the check and a blank to the FILE @arg. */
void vf_take(void *arg, const struct ptc_finding *finding);
/* Returns "CHECK CHECK " for the findings. The text is valid until the next call. */
const char *vf_found_in_bytes(const uint8_t *bytes, size_t len);
/* As vf_found_in_bytes(), for the file of @p. */
const char *vf_found(const struct pd *p);

#define vf_expect(p, want)                                                                         \
	do {                                                                                       \
		const char *got_ = vf_found(p);                                                    \
		cr_assert_str_eq(got_, want, "found '%s', not '%s'", got_, want);                  \
	} while (0)

/* Adds an AUXTRACE record of thread 7 with @len bytes of vf_trace at @offset. */
void vf_piece(struct pd *p, uint64_t offset, size_t len);
/* Begins a recording without findings: a thread with 64 bytes of trace. */
void vf_sound(struct pd *p);
/* Adds a feature, and releases @b. */
void vf_put_feature(struct pd *p, unsigned int bit, struct ptc_buf *b);

/* Each case starts with a sound file. */
#define CASE(name, want, ...)                                                                      \
	Test(verify, name)                                                                         \
	{                                                                                          \
		struct pd p;                                                                       \
                                                                                                   \
		vf_sound(&p);                                                                      \
		__VA_ARGS__;                                                                       \
		vf_expect(&p, want);                                                               \
		pd_release(&p);                                                                    \
	}

#endif
