/* SPDX-License-Identifier: MIT */
/*
 * A feature's section: the first byte selects the feature, the second the number of CPUs in NRCPUS.
 * Asserted: the unread rest is at the end of the section. Without this rest the section is read to
 * its last byte.
 */
#include <stdlib.h>
#include <string.h>

#include "auxtrace/feature/feature.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_cur c, rest;
	struct ptc_err err;
	enum ptc_feature bit;
	uint8_t *copy;
	size_t left;
	int rc;

	if (len < 2)
		return 0;
	bit = (enum ptc_feature)bytes[0];
	copy = malloc(len - 2); /* exact size: ASan sees an overread */
	CHECK(copy || len == 2);
	if (len > 2)
		memcpy(copy, bytes + 2, len - 2);
	c = ptc_cur_init(copy, len - 2);
	rc = ptc_feature_check(bit, c, 0, bytes[1], &rest, &err);
	if (rc) {
		CHECK((rc == PTC_E_FORMAT || rc == PTC_E_UNSUPPORTED) && err.code == rc &&
		      *err.msg);
	} else if (ptc_feature_name(bit) && bit != PTC_FEAT_BRANCH_STACK && bit != PTC_FEAT_STAT) {
		left = ptc_cur_left(&rest);
		CHECK(left <= len - 2 && rest.end == c.end);
		c.end -= left;
		CHECK(!ptc_feature_check(bit, c, 0, bytes[1], &rest, &err));
		CHECK(!ptc_cur_left(&rest));
	}
	free(copy);
	return 0;
}
