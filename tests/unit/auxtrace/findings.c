/* SPDX-License-Identifier: MIT */
#include "findings.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const struct ptc_time_conv vf_clock = { 31, 715827883, 5000000000 };
const uint8_t vf_trace[64];

void vf_take(void *arg, const struct ptc_finding *finding)
{
	fprintf(arg, "%s ", finding->check);
	cr_assert(*finding->msg);
	cr_log_info("%s at 0x%" PRIx64 ": %s", finding->check, finding->off, finding->msg);
}

const char *vf_found_in_bytes(const uint8_t *bytes, size_t len)
{
	static char *text;
	struct ptc_verify_stats stats = PTC_VERIFY_STATS_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	size_t n;
	FILE *out;

	free(text);
	out = open_memstream(&text, &n);
	cr_assert_eq(ptc_file_open_damaged_bytes(bytes, len, "test", &f, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_verify(f, vf_take, out, &stats, &err), 0);
	ptc_file_free(f);
	fclose(out);
	cr_assert_eq(stats.findings != 0, *text != 0);
	return text;
}

const char *vf_found(const struct pd *p)
{
	size_t len;
	uint8_t *bytes = pd_finish(p, &len);
	const char *text = vf_found_in_bytes(bytes, len);

	free(bytes);
	return text;
}

void vf_piece(struct pd *p, uint64_t offset, size_t len)
{
	pd_auxtrace(p, &(struct ptc_auxtrace){ .offset = offset, .tid = 7, .cpu = -1 }, vf_trace,
		    len);
}

void vf_sound(struct pd *p)
{
	pd_init_pt(p, &vf_clock);
	pd_comm(p, 7, 10, "x", false);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pd_aux(p, 7, 0, 20, 0, 64, 0);
	vf_piece(p, 0, 64);
}

void vf_put_feature(struct pd *p, unsigned int bit, struct ptc_buf *b)
{
	pd_feature(p, bit, b->bytes, b->len);
	ptc_buf_release(b);
}
