/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data, whole or damaged, that is copied; the last byte sets the options.
 * Asserted: the copy is readable and has the same records, trace, events and features. A copy of a
 * part has no more than that part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "ptcap/copy.h"

enum { PIPE = 1, ZSTD = 2, PLAIN = 4, STRIP = 8, SOME = 16, WHOLE = 32 };

static char folder[64], path[80];

static void leave(void)
{
	(void)unlink(path);
	(void)rmdir(folder);
}

/* Uses a folder in memory if there is one: this needs no disk. */
static void enter(void)
{
	struct stat st;

	if (*folder)
		return;
	(void)snprintf(folder, sizeof(folder), "%s/ptcap-fuzz-XXXXXX",
		       !stat("/dev/shm", &st) ? "/dev/shm" : "/tmp");
	CHECK(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	CHECK(!atexit(leave));
}

/* Returns true for records of a file's header, or of names for a pipe. */
static bool is_front(uint32_t type)
{
	return type == PTC_REC_HEADER_ATTR || type == PTC_REC_HEADER_FEATURE ||
	       type == PTC_REC_HEADER_TRACING_DATA || type == PTC_REC_HEADER_BUILD_ID ||
	       type == PTC_REC_EVENT_UPDATE;
}

/* Returns the next record. The other fuzz targets check the code at the end. */
static bool next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *rec)
{
	struct ptc_err err;

	while (ptc_file_next(f, pos, rec, &err) > 0)
		if (!is_front(rec->type))
			return true;
	return false;
}

static bool same_bytes(struct ptc_cur a, struct ptc_cur b)
{
	const size_t n = ptc_cur_left(&a);

	return n == ptc_cur_left(&b) && (!n || !memcmp(a.pos, b.pos, n));
}

static void compare_trace(const struct ptc_file *a, const struct ptc_rec *ra,
			  const struct ptc_file *b, const struct ptc_rec *rb)
{
	struct ptc_cur ta, tb;
	struct ptc_auxtrace x;
	struct ptc_err err;

	CHECK(!ptc_file_auxtrace(a, ra, &x, &ta, &err) && !ptc_file_auxtrace(b, rb, &x, &tb, &err));
	CHECK(same_bytes(ta, tb));
}

/* The existing bytes of a cut AUXTRACE record become a record of their own, behind all others. */
static void compare_cut_trace(const struct ptc_file *a, const struct ptc_file *b, uint64_t *pos)
{
	struct ptc_auxtrace x, y;
	struct ptc_cur ta, tb;
	struct ptc_err err;
	struct ptc_rec rec;

	if (!ptc_file_cut_trace(a, 0, &x, &ta))
		return;
	CHECK(next(b, pos, &rec) && rec.type == PTC_REC_AUXTRACE);
	CHECK(!ptc_file_auxtrace(b, &rec, &y, &tb, &err));
	CHECK(x.size == y.size && x.offset == y.offset && same_bytes(ta, tb));
}

static void compare_records(const struct ptc_file *a, const struct ptc_file *b)
{
	uint64_t pa = 0, pb = 0;
	struct ptc_rec ra, rb;

	while (next(a, &pa, &ra)) {
		CHECK(next(b, &pb, &rb));
		CHECK(ra.type == rb.type && ra.misc == rb.misc && same_bytes(ra.body, rb.body));
		if (ra.type == PTC_REC_AUXTRACE)
			compare_trace(a, &ra, b, &rb);
	}
	compare_cut_trace(a, b, &pb);
	CHECK(!next(b, &pb, &rb));
}

static void compare_attrs(const struct ptc_file *a, const struct ptc_file *b)
{
	size_t i;

	CHECK(ptc_file_nattrs(a) == ptc_file_nattrs(b));
	for (i = 0; i < ptc_file_nattrs(a); i++) {
		const struct ptc_file_attr *x = ptc_file_attr(a, i), *y = ptc_file_attr(b, i);

		CHECK(x->attr.type == y->attr.type && x->attr.config == y->attr.config &&
		      x->attr.sample_type == y->attr.sample_type);
		CHECK(x->nids == y->nids && (!x->nids || !memcmp(x->ids, y->ids, 8 * x->nids)));
	}
}

/* Compares the features that are neither rebuilt nor dropped in this form. */
static void compare_features(const struct ptc_file *a, const struct ptc_file *b,
			     const struct ptc_copy_stats *st)
{
	struct ptc_cur x, y;
	unsigned int bit;

	for (bit = 1; bit < PTC_FEATURE_BITS; bit++) {
		if (bit == PTC_FEAT_AUXTRACE || bit == PTC_FEAT_COMPRESSED ||
		    bit == PTC_FEAT_DIR_FORMAT || bit == PTC_FEAT_BUILD_ID ||
		    bit == PTC_FEAT_TRACING_DATA || /* padded in pipe mode */
		    st->lost_feature[bit] || !ptc_file_feature(a, bit, &x, NULL))
			continue;
		CHECK(ptc_file_feature(b, bit, &y, NULL) && same_bytes(x, y));
	}
}

static uint64_t count(const struct ptc_file *f)
{
	uint64_t pos = 0, n = 0;
	struct ptc_rec rec;

	while (next(f, &pos, &rec))
		n++;
	return n;
}

static void copy(const struct ptc_file *f, unsigned int how)
{
	const uint32_t cpu = 0;
	struct ptc_copy_opts opts = {
		.size = sizeof(opts),
		.pipe = how & PIPE,
		.strip_aux = how & STRIP,
		.pack = how & ZSTD  ? PTC_COPY_PACK_ZSTD :
			how & PLAIN ? PTC_COPY_PACK_NONE :
				      PTC_COPY_PACK_KEEP,
		.level = 1,
	};
	struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
	struct ptc_file *b;
	struct ptc_err err;

	if (how & SOME) {
		opts.cpus = &cpu;
		opts.ncpus = 1;
		opts.from_ns = 2;
	}
	if (ptc_copy(f, path, &opts, &st, &err)) {
		CHECK(err.code != PTC_E_NO_MEMORY && *err.msg && access(path, F_OK));
		return;
	}
	CHECK(!ptc_file_open(path, &b, &err));
	CHECK(opts.pipe == (ptc_file_form(b) == PTC_FORM_PIPE));
	compare_attrs(f, b);
	if (how & (SOME | STRIP)) {
		CHECK(count(b) <= count(f));
	} else {
		compare_records(f, b);
		compare_features(f, b, &st);
	}
	ptc_file_free(b);
	CHECK(!unlink(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f;
	struct ptc_err err;
	unsigned int how;
	int rc;

	if (!len)
		return 0;
	enter();
	how = bytes[--len];
	rc = how & WHOLE ? ptc_file_open_bytes(bytes, len, "fuzz", &f, &err) :
			   ptc_file_open_damaged_bytes(bytes, len, "fuzz", &f, &err);
	if (rc)
		return 0;
	copy(f, how);
	ptc_file_free(f);
	return 0;
}
