/* SPDX-License-Identifier: MIT */
/*
 * Description: a small file that claims a huge size in any field. The reader must not allocate that
 * size.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "fewer.h"
#include "lib_packed.h"
#include "lib_walk.h"

#if defined(__SANITIZE_ADDRESS__)
#define LIMITED 0 /* ASan's shadow memory alone is larger */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMITED 0
#endif
#endif
#ifndef LIMITED
#define LIMITED 1
#endif

enum { KIB = 1024, CLAIMS = 5, STEP = FEWER(1, 3) };

/* The first claim is also a multiple of an attr with its id section (128 + 16 bytes). */
static const uint64_t claims[CLAIMS] = { UINT64_C(144) << 33, UINT64_C(1) << 40, UINT64_MAX >> 1,
					 UINT32_MAX, UINT64_C(1) << 31 };

/* Limits the address space of the whole process to 256 MiB. */
static void limit(void)
{
	const struct rlimit lim = { (rlim_t)256 << 20, (rlim_t)256 << 20 };
	void *volatile much;

	if (!LIMITED)
		return;
	cr_assert_eq(setrlimit(RLIMIT_AS, &lim), 0);
	much = malloc((size_t)1 << 30);
	cr_assert_null(much, "the limit is in force");
}

static void claim(uint8_t *at, uint64_t v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static void build(struct pd *p)
{
	const struct ptc_auxtrace aux = { .idx = 1, .tid = 10, .cpu = -1 };
	const uint32_t tracing = 8;

	pd_init_pt(p, NULL);
	pd_comm(p, 10, 0, "sleep", false);
	pd_mmap2(p, 10, 5, 0x1000, 0x1000, 0, "/bin/a");
	pd_auxtrace(p, &aux, "\2\202\2\202\2\202\2\202", 8);
	pd_raw(p, PTC_REC_HEADER_TRACING_DATA, 0, &tracing, 4);
	ptc_buf_zero(&p->data, tracing);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_feature(p, PTC_FEAT_NRCPUS, "\4\0\0\0\4\0\0", 8);
}

/* Sets each 4-byte and 8-byte field of the file in turn to a claim that is too large. */
static void try_file(const struct pd *p, bool pipe)
{
	size_t len, at, i, size;
	uint8_t *good, *bad;

	good = pipe ? pd_finish_pipe(p, &len) : pd_finish(p, &len);
	bad = malloc(len);
	cr_assert(bad);
	for (at = 8; at + 8 <= len; at += 4)
		/* Each field has another claim first. */
		for (i = at / 4 % STEP; i < CLAIMS; i += STEP)
			for (size = 4; size <= 8; size += 4) {
				memcpy(bad, good, len);
				claim(bad + at, claims[i], size);
				(void)wk_file(bad, len);
			}
	free(bad);
	free(good);
}

Test(claims, of_files_and_pipes)
{
	struct pd p;

	limit();
	build(&p);
	try_file(&p, false);
	try_file(&p, true);
	pk_pack(&p, PTC_REC_COMPRESSED, 400);
	try_file(&p, false);
	try_file(&p, true);
	pd_release(&p);
}

Test(claims, of_compressed_records)
{
	/*
	 * RFC 8878: magic number, then a frame of 1 TiB: with a window of 2^31, or as a single
	 * segment of 1 TiB.
	 */
	static const uint8_t frames[2][17] = {
		{ 0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0xa8, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0 },
		{ 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0 },
	};
	size_t i, len;

	limit();
	for (i = 0; i < 2; i++) {
		struct pd p;
		uint8_t *bytes;

		build(&p);
		pd_raw(&p, PTC_REC_COMPRESSED, 0, frames[i], sizeof(frames[i]));
		pd_feature(&p, PTC_FEAT_COMPRESSED, "\1\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0\0\0\1", 20);
		bytes = pd_finish(&p, &len);
		(void)wk_file(bytes, len);
		free(bytes);
		pd_release(&p);
	}
}

Test(claims, of_records)
{
	uint8_t body[KIB] = { 0 };
	struct perf_event_attr attr = { .read_format = PERF_FORMAT_GROUP,
					.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
					.sample_regs_user = 3 };
	struct ptc_rec rec = { .body = ptc_cur_init(body, sizeof(body)) };
	size_t at, i;

	limit();
	for (rec.type = 1; rec.type < 100; rec.type++)
		for (at = 0; at < 128; at += 4)
			for (i = 0; i < (size_t)64 * CLAIMS; i++) {
				memset(body, 0, sizeof(body));
				claim(body + at, claims[i % CLAIMS], 8);
				attr.sample_type = UINT64_C(1) << i / CLAIMS;
				if (rec.type != PERF_RECORD_SAMPLE && i >= CLAIMS)
					break;
				(void)wk_record(&rec, 0, &attr);
			}
}

Test(claims, of_features)
{
	uint8_t section[KIB] = { 0 };
	struct ptc_cur rest;
	struct ptc_err err;
	unsigned int bit;
	size_t at, i;
	int rc;

	limit();
	for (bit = 1; bit <= PTC_FEAT_CPU_DOMAIN_INFO; bit++)
		for (at = 0; at < 128; at += 4)
			for (i = 0; i < CLAIMS; i++) {
				memset(section, 0, sizeof(section));
				claim(section + at, claims[i], 8);
				rc = ptc_feature_check((enum ptc_feature)bit,
						       ptc_cur_init(section, sizeof(section)), 0,
						       UINT32_MAX, &rest, &err);
				cr_assert_neq(rc, PTC_E_NO_MEMORY);
			}
}
