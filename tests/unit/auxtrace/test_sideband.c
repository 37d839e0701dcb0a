/* SPDX-License-Identifier: MIT */
/* Description: each sideband record is written, parsed, and cut at every length. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib_numbers.h"
#include "lib_perfdata.h"
#include "lib_walk.h"

#define ID                                                                                         \
	{                                                                                          \
		.has = PD_SAMPLE_TYPE & ~(uint64_t)PERF_SAMPLE_IP, .pid = 7, .tid = 8,             \
		.time = 123456, .id = 55, .cpu = 2                                                 \
	}

static const uint8_t code[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint8_t words[32] = { 1, [8] = 2, [16] = 3, [24] = 4 };

static const struct ptc_sb all[] = {
	{ .type = PERF_RECORD_MMAP,
	  .id = ID,
	  .u.mmap = { .pid = 1,
		      .tid = 2,
		      .addr = 0x1000,
		      .len = 0x2000,
		      .pgoff = 0x3000,
		      .prot = PROT_READ | PROT_EXEC,
		      .filename = "/bin/x" } },
	{ .type = PERF_RECORD_MMAP,
	  .misc = PERF_RECORD_MISC_MMAP_DATA,
	  .id = ID,
	  .u.mmap = { .addr = 0x1000, .len = 1, .prot = PROT_READ, .filename = "" } },
	{ .type = PERF_RECORD_MMAP2,
	  .misc = PERF_RECORD_MISC_USER,
	  .id = ID,
	  .u.mmap = { .pid = 1,
		      .tid = 2,
		      .addr = 0x7f0000001000,
		      .len = 0x2000,
		      .pgoff = 0x3000,
		      .maj = 8,
		      .min = 1,
		      .ino = 1234567,
		      .ino_generation = 9,
		      .prot = 5,
		      .flags = 2,
		      .filename = "/usr/lib/a file with a longer name.so" } },
	{ .type = PERF_RECORD_MMAP2,
	  .misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID,
	  .id = ID,
	  .u.mmap = { .pid = 1,
		      .tid = 2,
		      .addr = 0x7f0000001000,
		      .len = 0x2000,
		      .prot = 5,
		      .flags = 2,
		      .build_id = { { 1, 2, 3, 4, 5, 6, 7, 8 }, 8 },
		      .filename = "[vdso]" } },
	{ .type = PERF_RECORD_COMM,
	  .misc = PERF_RECORD_MISC_COMM_EXEC,
	  .id = ID,
	  .u.comm = { 3, 4, "15 bytes of it." } },
	{ .type = PERF_RECORD_FORK, .id = ID, .u.task = { 1, 2, 3, 4, 99 } },
	{ .type = PERF_RECORD_EXIT, .id = ID, .u.task = { 5, 6, 7, 8, 100 } },
	{ .type = PERF_RECORD_AUX, .id = ID, .u.aux = { 0x123456789, 0x1000, 5 } },
	{ .type = PERF_RECORD_ITRACE_START, .id = ID, .u.itrace_start = { 10, 11 } },
	{ .type = PERF_RECORD_LOST, .id = ID, .u.lost = { 55, 1000 } },
	{ .type = PERF_RECORD_LOST_SAMPLES, .id = ID, .u.lost = { 0, 1001 } },
	{ .type = PERF_RECORD_SWITCH,
	  .misc = PERF_RECORD_MISC_SWITCH_OUT,
	  .id = ID,
	  .u.sw = { -1, -1 } },
	{ .type = PERF_RECORD_SWITCH_CPU_WIDE, .id = ID, .u.sw = { 20, 21 } },
	{ .type = PERF_RECORD_TEXT_POKE,
	  .misc = PERF_RECORD_MISC_USER,
	  .id = ID,
	  .u.poke = { 0x7f0000001234, { code, code }, { code, code + 5 } } },
	{ .type = PERF_RECORD_TEXT_POKE,
	  .misc = PERF_RECORD_MISC_KERNEL,
	  .id = ID,
	  .u.poke = { 0xffffffff81000000, { code + 3, code + 8 }, { code, code + 7 } } },
	{ .type = PERF_RECORD_THROTTLE, .id = ID, .u.throttle = { 1000, 55, 66 } },
	{ .type = PERF_RECORD_UNTHROTTLE, .id = ID, .u.throttle = { 1001, 55, 66 } },
	{ .type = PERF_RECORD_READ, .id = ID, .u.read = { 1, 2, { words, words + 16 } } },
	{ .type = PERF_RECORD_NAMESPACES,
	  .id = ID,
	  .u.namespaces = { 1, 2, { words, words + 32 } } },
	{ .type = PERF_RECORD_NAMESPACES, .id = ID, .u.namespaces = { .pid = 1 } },
	{ .type = PERF_RECORD_KSYMBOL,
	  .id = ID,
	  .u.ksymbol = { 0xffffffffc0000000, 42, PERF_RECORD_KSYMBOL_TYPE_BPF,
			 PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "bpf_prog_1234567" } },
	{ .type = PERF_RECORD_BPF_EVENT,
	  .id = ID,
	  .u.bpf = { PERF_BPF_EVENT_PROG_LOAD, 3, 77, { 1, 2, 3, 4, 5, 6, 7, 8 } } },
	{ .type = PERF_RECORD_CGROUP, .id = ID, .u.cgroup = { 4711, "/user.slice" } },
	{ .type = PERF_RECORD_AUX_OUTPUT_HW_ID, .id = ID, .u.hw_id = { 3 } },
	{ .type = PERF_RECORD_CALLCHAIN_DEFERRED,
	  .id = ID,
	  .u.callchain = { 0x1122334455667788, { words, words + 24 } } },
};

enum { N = sizeof(all) / sizeof(all[0]) };

static struct ptc_rec frame(const struct ptc_buf *b)
{
	struct ptc_cur c = ptc_cur_init(b->bytes, b->len);
	struct ptc_err err;
	struct ptc_rec rec;

	cr_assert_eq(ptc_rec_next(&c, 64, &rec, &err), 1);
	cr_assert_eq(ptc_cur_left(&c), 0);
	return rec;
}

static void check_bytes(struct ptc_cur a, struct ptc_cur b)
{
	cr_assert_eq(ptc_cur_left(&a), ptc_cur_left(&b));
	cr_assert_eq(memcmp(a.pos, b.pos, ptc_cur_left(&a)), 0);
}

/*
 * Compares records with borrowed parts by their written bytes. Other tests below check the layout.
 */
static void check_bytes_put(const struct ptc_sb *a, const struct ptc_sb *b)
{
	struct ptc_buf x = PTC_BUF_INIT, y = PTC_BUF_INIT;

	ptc_sb_put(&x, a, 0);
	ptc_sb_put(&y, b, 0);
	cr_assert(!ptc_buf_failed(&x) && x.len == y.len);
	cr_assert_eq(memcmp(x.bytes, y.bytes, x.len), 0);
	ptc_buf_release(&x);
	ptc_buf_release(&y);
}

static void check_equal(const struct ptc_sb *a, const struct ptc_sb *b)
{
	struct ptc_sb x = *a, y = *b;

	if (a->type == PERF_RECORD_MMAP || a->type == PERF_RECORD_MMAP2) {
		cr_assert_str_eq(a->u.mmap.filename, b->u.mmap.filename);
		x.u.mmap.filename = y.u.mmap.filename = NULL;
		cr_assert_eq(
			memcmp(&x.u.mmap.build_id, &y.u.mmap.build_id, sizeof(x.u.mmap.build_id)),
			0);
		cr_assert_eq(x.u.mmap.pid, y.u.mmap.pid);
		cr_assert_eq(x.u.mmap.tid, y.u.mmap.tid);
		cr_assert_eq(x.u.mmap.addr, y.u.mmap.addr);
		cr_assert_eq(x.u.mmap.len, y.u.mmap.len);
		cr_assert_eq(x.u.mmap.pgoff, y.u.mmap.pgoff);
		cr_assert_eq(x.u.mmap.maj, y.u.mmap.maj);
		cr_assert_eq(x.u.mmap.min, y.u.mmap.min);
		cr_assert_eq(x.u.mmap.ino, y.u.mmap.ino);
		cr_assert_eq(x.u.mmap.ino_generation, y.u.mmap.ino_generation);
		cr_assert_eq(x.u.mmap.prot, y.u.mmap.prot);
		cr_assert_eq(x.u.mmap.flags, y.u.mmap.flags);
	} else if (a->type == PERF_RECORD_COMM) {
		cr_assert_str_eq(a->u.comm.comm, b->u.comm.comm);
		cr_assert_eq(a->u.comm.pid, b->u.comm.pid);
		cr_assert_eq(a->u.comm.tid, b->u.comm.tid);
	} else if (a->type == PERF_RECORD_TEXT_POKE) {
		cr_assert_eq(a->u.poke.addr, b->u.poke.addr);
		check_bytes(a->u.poke.old_bytes, b->u.poke.old_bytes);
		check_bytes(a->u.poke.new_bytes, b->u.poke.new_bytes);
	} else if (a->type >= PERF_RECORD_NAMESPACES || a->type == PERF_RECORD_READ) {
		check_bytes_put(a, b);
	} else { /* the other records have no padding */
		cr_assert_eq(memcmp(&x.u.task, &y.u.task, sizeof(x.u.task)), 0);
	}
	cr_assert_eq(x.type, y.type);
	cr_assert_eq(x.misc, y.misc, "type %u: misc 0x%x, 0x%x", x.type, x.misc, y.misc);
	cr_assert(x.id.has == y.id.has && x.id.pid == y.id.pid && x.id.tid == y.id.tid &&
		  x.id.time == y.id.time && x.id.id == y.id.id && x.id.cpu == y.id.cpu);
}

Test(sideband, every_record_comes_back_with_and_without_a_trailer)
{
	size_t i;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_sb want = all[i], got;
		struct ptc_err err;
		struct ptc_rec rec;

		ptc_sb_put(&b, &want, PD_SAMPLE_TYPE);
		cr_assert_eq(b.len % 8, 0);
		rec = frame(&b);
		cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &got, &err), 1);
		cr_assert_eq(got.off, 64);
		check_equal(&want, &got);

		ptc_buf_reset(&b);
		ptc_sb_put(&b, &want, 0);
		rec = frame(&b);
		memset(&want.id, 0, sizeof(want.id));
		cr_assert_eq(ptc_sb_parse(&rec, 0, &got, &err), 1);
		check_equal(&want, &got);
		ptc_buf_release(&b);
	}
}

Test(sideband, a_record_cut_at_every_length_is_refused)
{
	size_t i, len;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		/* Without a trailer only the padding may be cut without an error. */
		ptc_sb_put(&b, &all[i], 0);
		for (len = 8; len < b.len; len++) {
			uint8_t *bytes = pd_exact(b.bytes + 8, len - 8);
			const struct ptc_rec rec = { .type = all[i].type,
						     .misc = all[i].misc,
						     .body = ptc_cur_init(bytes, len - 8) };
			struct ptc_err err;
			struct ptc_sb got;
			int rc = ptc_sb_parse(&rec, 0, &got, &err);

			if (all[i].type == PERF_RECORD_READ && len == 8 + 16)
				cr_assert_eq(rc, 1, "one value instead of two");
			else if (len + 8 <= b.len)
				cr_assert_eq(rc, PTC_E_FORMAT, "type %u length %zu", all[i].type,
					     len);
			cr_assert(rc == PTC_E_FORMAT || rc == 1);
			rc = ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &got, &err);
			cr_assert(rc == PTC_E_FORMAT || rc == 1);
			free(bytes);
		}
		ptc_buf_release(&b);
	}
}

Test(sideband, a_text_that_does_not_end_before_the_trailer_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_sb got;

	ptc_sb_put(&b, &all[4], PD_SAMPLE_TYPE);
	b.bytes[8 + 8 + 15] = 'x'; /* overwrites the only NUL in front of the trailer */
	rec = frame(&b);
	cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &got, &err), PTC_E_FORMAT);
	cr_assert_eq(err.off, 64);
	ptc_buf_release(&b);
}

Test(sideband, a_build_id_longer_than_its_field_is_refused)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_sb got;

	ptc_sb_put(&b, &all[3], 0);
	b.bytes[8 + 8 + 24] = PTC_BUILD_ID_MAX + 1;
	rec = frame(&b);
	cr_assert_eq(ptc_sb_parse(&rec, 0, &got, &err), PTC_E_FORMAT);
	ptc_buf_release(&b);
}

Test(sideband, code_longer_than_its_record_is_refused)
{
	const struct ptc_sb *poke = all;
	size_t field;

	while (poke->type != PERF_RECORD_TEXT_POKE)
		poke++;

	for (field = 8; field <= 10; field += 2) { /* old_len, new_len */
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_err err;
		struct ptc_rec rec;
		struct ptc_sb got;

		ptc_sb_put(&b, poke, PD_SAMPLE_TYPE);
		b.bytes[8 + field + 1] = 0xff;
		rec = frame(&b);
		cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &got, &err), PTC_E_FORMAT);
		ptc_buf_release(&b);
	}
}

Test(sideband, code_that_does_not_fit_in_a_record_is_not_built)
{
	static const uint8_t much[UINT16_MAX + 1];
	struct ptc_sb sb = { .type = PERF_RECORD_TEXT_POKE };
	struct ptc_buf b = PTC_BUF_INIT;

	sb.u.poke.new_bytes = ptc_cur_init(much, sizeof(much));
	ptc_sb_put(&b, &sb, 0);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}

/* Parses a record with a body of @n bytes, in an allocation of exactly that size. */
static int parse_bytes(uint32_t type, const void *bytes, size_t n, struct ptc_sb *ret)
{
	static uint8_t *exact;
	struct ptc_rec rec = { .type = type };
	struct ptc_err err;

	free(exact); /* the previous call borrowed this buffer */
	exact = pd_exact(bytes, n);
	rec.body = ptc_cur_init(exact, n);
	return ptc_sb_parse(&rec, 0, ret, &err);
}

Test(sideband, fields_stand_where_perf_event_h_puts_them)
{
	const uint8_t ns[] = { 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, /* pid tid nr */
			       3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, /* dev ino */
			       5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0 };
	const uint8_t ksym[] = { 1,   0,   0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0, /* addr len */
				 'f', 'n', 0, 0, 0, 0, 0, 0 };
	const uint8_t bpf[] = { 1, 0, 2, 0, 3, 0, 0, 0, 10, 11, 12, 13, 14, 15, 16, 17 };
	const uint8_t cgroup[] = { 9, 0, 0, 0, 0, 0, 0, 0, '/', 'a', 0, 0, 0, 0, 0, 0 };
	const uint8_t throttle[] = { 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0,
				     0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0 };
	const uint8_t chain[] = { 7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
				  0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0 };
	const uint8_t read[] = { 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0,
				 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0 };
	struct ptc_ns_link link;
	struct ptc_read values;
	struct ptc_sb sb;

	cr_assert_eq(parse_bytes(PERF_RECORD_NAMESPACES, ns, sizeof(ns), &sb), 1);
	cr_assert(sb.u.namespaces.pid == 1 && sb.u.namespaces.tid == 2);
	cr_assert(ptc_sb_next_namespace(&sb.u.namespaces.links, &link));
	cr_assert(link.dev == 3 && link.ino == 4);
	cr_assert(ptc_sb_next_namespace(&sb.u.namespaces.links, &link));
	cr_assert(link.dev == 5 && link.ino == 6);
	cr_assert(!ptc_sb_next_namespace(&sb.u.namespaces.links, &link));
	cr_assert_eq(parse_bytes(PERF_RECORD_KSYMBOL, ksym, sizeof(ksym), &sb), 1);
	cr_assert(sb.u.ksymbol.addr == 1 && sb.u.ksymbol.len == 2 && sb.u.ksymbol.ksym_type == 3);
	cr_assert_eq(sb.u.ksymbol.flags, 4);
	cr_assert_str_eq(sb.u.ksymbol.name, "fn");
	cr_assert_eq(parse_bytes(PERF_RECORD_BPF_EVENT, bpf, sizeof(bpf), &sb), 1);
	cr_assert(sb.u.bpf.type == 1 && sb.u.bpf.flags == 2 && sb.u.bpf.id == 3);
	cr_assert_eq(memcmp(sb.u.bpf.tag, bpf + 8, 8), 0);
	cr_assert_eq(parse_bytes(PERF_RECORD_CGROUP, cgroup, sizeof(cgroup), &sb), 1);
	cr_assert_eq(sb.u.cgroup.id, 9);
	cr_assert_str_eq(sb.u.cgroup.path, "/a");
	cr_assert_eq(parse_bytes(PERF_RECORD_UNTHROTTLE, throttle, sizeof(throttle), &sb), 1);
	cr_assert(sb.u.throttle.time == 7 && sb.u.throttle.id == 8 && sb.u.throttle.stream_id == 9);
	cr_assert_eq(parse_bytes(PERF_RECORD_AUX_OUTPUT_HW_ID, cgroup, 8, &sb), 1);
	cr_assert_eq(sb.u.hw_id.hw_id, 9);
	cr_assert_eq(parse_bytes(PERF_RECORD_CALLCHAIN_DEFERRED, chain, sizeof(chain), &sb), 1);
	cr_assert_eq(sb.u.callchain.cookie, 7);
	cr_assert(ptc_cur_left(&sb.u.callchain.ips) == 8 && sb.u.callchain.ips.pos[0] == 9);
	cr_assert_eq(parse_bytes(PERF_RECORD_READ, read, sizeof(read), &sb), 1);
	cr_assert(sb.u.read.pid == 1 && sb.u.read.tid == 2);
	cr_assert(ptc_read_parse(&sb.u.read.values, PERF_FORMAT_ID, &values));
	cr_assert(values.one.value == 5 && values.one.id == 6);
}

/* RHEL 7 kernels write MMAP2 without prot and flags. */
Test(sideband, a_name_where_prot_and_flags_should_be_is_whole)
{
	static const char *const names[] = { "/usr/lib64/libc-2.17.so", "[vdso]", "//anon" };
	enum { NAME = 56 };
	uint8_t bytes[NAME + 32] = { 1, 0, 0, 0, 2, 0, 0, 0 };
	struct ptc_sb sb;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		memset(bytes + NAME, 0, sizeof(bytes) - NAME);
		memcpy(bytes + NAME, names[i], strlen(names[i]));
		cr_assert_eq(parse_bytes(PERF_RECORD_MMAP2, bytes, sizeof(bytes), &sb), 1);
		cr_assert_str_eq(sb.u.mmap.filename, names[i]);
		cr_assert_eq(sb.u.mmap.prot, PROT_READ | PROT_EXEC);
		cr_assert_eq(sb.u.mmap.flags, MAP_PRIVATE);
	}
}

Test(sideband, counts_are_held_against_the_bytes_that_are_there)
{
	static const struct {
		uint32_t type;
		size_t off, each; /* offsets of the count and of the counted entries */
	} counts[] = {
		{ PERF_RECORD_NAMESPACES, 8, 16 },
		{ PERF_RECORD_CALLCHAIN_DEFERRED, 8, 8 },
	};
	const uint64_t wrong[] = { 3, 4, UINT64_C(1) << 60, UINT64_C(1) << 61, UINT64_MAX };
	size_t i, j;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint8_t bytes[16 + 32] = { 0 };
		const size_t n = 16 + 2 * counts[i].each;
		struct ptc_sb sb;

		for (j = 0; j < 3; j++) { /* none, one less than stored, all */
			bytes[counts[i].off] = (uint8_t)j;
			cr_assert_eq(parse_bytes(counts[i].type, bytes, n, &sb), 1);
		}
		for (j = 0; j < sizeof(wrong) / sizeof(wrong[0]); j++) {
			size_t k;

			for (k = 0; k < 8; k++)
				bytes[counts[i].off + k] = (uint8_t)(wrong[j] >> 8 * k);
			cr_assert_eq(parse_bytes(counts[i].type, bytes, n, &sb), PTC_E_FORMAT,
				     "type %u count %zu", counts[i].type, j);
		}
	}
}

Test(sideband, parts_of_a_wrong_size_are_not_built)
{
	struct ptc_sb sb = { .type = PERF_RECORD_NAMESPACES };
	struct ptc_buf b = PTC_BUF_INIT;

	sb.u.namespaces.links = ptc_cur_init(words, 24);
	ptc_sb_put(&b, &sb, 0);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_reset(&b);
	sb = (struct ptc_sb){ .type = PERF_RECORD_READ };
	sb.u.read.values = ptc_cur_init(words, 12);
	ptc_sb_put(&b, &sb, 0);
	cr_assert(ptc_buf_failed(&b));
	ptc_buf_release(&b);
}

Test(sideband, every_kernel_record_but_sample_has_a_type)
{
	uint32_t type;

	for (type = 1; type < PERF_RECORD_MAX; type++) {
		const struct ptc_rec rec = { .type = type };
		struct ptc_err err;
		struct ptc_sb got;
		int want = PTC_E_FORMAT; /* an empty body: known type, too short */

		if (type == PERF_RECORD_SAMPLE)
			want = 0;
		if (type == PERF_RECORD_SWITCH)
			want = 1;
		cr_assert_eq(ptc_sb_parse(&rec, 0, &got, &err), want, "type %u", type);
	}
}

Test(sideband, other_types_are_left_alone)
{
	const struct ptc_rec rec = { .off = 5, .type = PERF_RECORD_SAMPLE, .misc = 1 };
	struct ptc_err err;
	struct ptc_sb got;

	cr_assert_eq(ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &got, &err), 0);
	cr_assert(got.off == 5 && got.type == PERF_RECORD_SAMPLE && got.misc == 1);
}

static void try_record(const void *ctx, const uint8_t *bytes, size_t len)
{
	const struct ptc_sb *sb = ctx;
	const struct ptc_rec rec = { .type = sb->type,
				     .misc = sb->misc,
				     .body = ptc_cur_init(bytes, len) };

	(void)wk_record(&rec, PD_SAMPLE_TYPE, NULL);
	(void)wk_record(&rec, 0, NULL);
}

Test(sideband, no_number_at_any_place_leads_outside)
{
	size_t i;

	for (i = 0; i < N; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		ptc_sb_put(&b, &all[i], PD_SAMPLE_TYPE);
		nb_each(b.bytes + 8, b.len - 8, try_record, &all[i]);
		ptc_buf_release(&b);
	}
}
