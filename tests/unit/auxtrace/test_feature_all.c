/* SPDX-License-Identifier: MIT */
/*
 * Description: every feature, made from hand-written values, is read to its last byte. Sections are
 * cut at every length. Each number becomes 0, off by one, and the largest value.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/feature/feature.h"
#include "lib_perfdata.h"

enum { NCPUS = 2, MAX_CUTS = 4 };

struct sample {
	enum ptc_feature bit;
	void (*put)(struct ptc_buf *b);
	size_t count_off;  /* offset of the entry count */
	size_t count_size; /* 0: no count */
	uint64_t count;
};

static struct ptc_cur bytes_of(const void *bytes, size_t n)
{
	return ptc_cur_init(bytes, n);
}

static void put_name(struct ptc_buf *b)
{
	ptc_feature_put_string(b, "box");
}

static void put_nrcpus(struct ptc_buf *b)
{
	ptc_feature_put_nrcpus(b, NCPUS, 1);
}

static void put_total_mem(struct ptc_buf *b)
{
	ptc_feature_put_total_mem(b, 4096);
}

static void put_cmdline(struct ptc_buf *b)
{
	static const char *const argv[] = { "perf", "record", "" };

	ptc_feature_put_cmdline(b, argv, 3);
}

static void put_event_desc(struct ptc_buf *b)
{
	static const struct perf_event_attr attr = { .type = 8 };
	static const uint64_t ids[] = { 1, 2 };
	static const struct ptc_event_desc d[] = { { &attr, "a", ids, 2 },
						   { &attr, "b", NULL, 0 } };

	ptc_feature_put_event_desc(b, d, 2);
}

static void put_build_ids(struct ptc_buf *b)
{
	static const struct ptc_build_id_entry e = { 2, -1, { { 1 }, 20 }, "/x" };

	ptc_feature_put_build_id(b, &e);
	ptc_feature_put_build_id(b, &e);
}

static const char *const packages[] = { "0-1" };
static const char *const threads[] = { "0", "1" };
static const uint32_t zeros[NCPUS], cores[NCPUS] = { 4, 5 }, dies[NCPUS] = { 7, 9 };

static void put_topology(struct ptc_buf *b)
{
	static const struct ptc_cpu_topology_desc d = { packages, threads, packages, 1,	   2,
							1,	  cores,   zeros,    dies, NCPUS };

	ptc_feature_put_cpu_topology(b, &d);
}

static void put_numa(struct ptc_buf *b)
{
	static const struct ptc_numa_node n[] = { { 0, 100, 50, "0" }, { 3, 200, 60, "1,3-4" } };

	ptc_feature_put_numa(b, n, 2);
}

static void put_pmus(struct ptc_buf *b)
{
	static const struct ptc_pmu_mapping m[] = { { 8, "intel_pt" }, { 1, "software" } };

	ptc_feature_put_pmu_mappings(b, m, 2);
}

static void put_groups(struct ptc_buf *b)
{
	static const struct ptc_group_desc g[] = { { "{anon_group}", 0, 2 }, { "g", 2, 3 } };

	ptc_feature_put_groups(b, g, 2);
}

static void put_auxtrace(struct ptc_buf *b)
{
	static const struct ptc_auxtrace_entry e[] = { { 0x1000, 48 }, { 0x2000, 48 } };

	ptc_feature_put_auxtrace(b, e, 2);
}

static void put_cache(struct ptc_buf *b)
{
	static const struct ptc_cache c[] = {
		{ 1, 64, 64, 8, "Data", "32K", "0" },
		{ 2, 64, 1024, 4, "Unified", "256K", "0-1" },
	};

	ptc_feature_put_cache(b, c, 2);
}

static void put_sample_time(struct ptc_buf *b)
{
	ptc_feature_put_sample_time(b, 5, 6);
}

static void put_mem_topology(struct ptc_buf *b)
{
	static const uint8_t set[16] = { 0xff, 0x01, [8] = 1 };
	const struct ptc_mem_node n[] = {
		{ 0, 65, bytes_of(set, 16) },
		{ 1, 64, bytes_of(set, 8) },
		{ 2, 0, bytes_of(set, 0) },
	};

	ptc_feature_put_mem_topology(b, 1 << 27, n, 3);
}

static void put_clockid(struct ptc_buf *b)
{
	ptc_feature_put_clockid(b, 1);
}

static void put_dir_format(struct ptc_buf *b)
{
	ptc_feature_put_dir_format(b, 1);
}

static const uint8_t info[] = {
	5,   0,	  0,   0,   0x11, 0,   0,   0,	 1, 2, 3, 4, 5, 6, 7, 8, /* type, id, tag */
	16,  0,	  0,   0,   24,	  0,   0,   0,	 0, 0, 0, 0, 0, 0, 0, 0, /* lengths, addresses */
	0,   0,	  0,   0,   0,	  0,   0,   0,	 9, 0, 0, 0, 0, 0, 0, 0, /* load time */
	232, 3,	  0,   0,   0,	  0,   0,   0,	 0, 0, 0, 0, 0, 0, 0, 0, /* uid, maps */
	's', 'c', 'h', 'e', 'd',  '_', 'x', '1', 2, 2, 2, 2, 2, 2, 2, 2,
	'z', /* name, without NUL */
};

static void put_bpf_progs(struct ptc_buf *b)
{
	const struct ptc_bpf_prog p[] = {
		{ .arrays = 3,
		  .info = bytes_of(info, sizeof(info)),
		  .data = bytes_of("12345678", 8) },
		{ .arrays = 0, .info = bytes_of(info, 9), .data = bytes_of("", 0) },
	};

	ptc_feature_put_bpf_progs(b, p, 2);
}

static void put_btfs(struct ptc_buf *b)
{
	const struct ptc_bpf_btf p[] = { { 3, bytes_of("abc", 3) }, { 4, bytes_of("", 0) } };

	ptc_feature_put_bpf_btfs(b, p, 2);
}

static void put_compressed(struct ptc_buf *b)
{
	static const struct ptc_compressed c = { 1, 1, 3, 5, 65536 };

	ptc_feature_put_compressed(b, &c);
}

static const struct ptc_pmu_cap caps[] = { { "branches", "32" }, { "pmu_name", "icelake" } };

static void put_cpu_caps(struct ptc_buf *b)
{
	ptc_feature_put_cpu_pmu_caps(b, caps, 2);
}

static void put_clock_data(struct ptc_buf *b)
{
	static const struct ptc_clock_data c = { 1, 4, 1700000000000000000, 12345 };

	ptc_feature_put_clock_data(b, &c);
}

static void put_hybrid(struct ptc_buf *b)
{
	static const struct ptc_hybrid_node n[] = { { "cpu_core", "0-15" },
						    { "cpu_atom", "16-23" } };

	ptc_feature_put_hybrid(b, n, 2);
}

static void put_caps(struct ptc_buf *b)
{
	static const struct ptc_pmu_caps_desc d[] = { { "cpu_core", caps, 2 }, { "x", caps, 0 } };

	ptc_feature_put_pmu_caps(b, d, 2);
}

static const struct ptc_domain domains[] = { { 0, "SMT", "3", "0-1" }, { 1, "MC", "f", "0-3" } };

static void put_domains(struct ptc_buf *b)
{
	ptc_feature_put_domain_info(b, 17, 2);
	ptc_feature_put_cpu_domains(b, 17, 0, domains, 2);
	ptc_feature_put_cpu_domains(b, 17, 1, domains, 1);
}

static void put_old_domains(struct ptc_buf *b)
{
	ptc_feature_put_domain_info(b, 15, 1);
	ptc_feature_put_cpu_domains(b, 15, 0, domains, 2);
}

/* Written by hand: the iterator's bytes are copied unchanged. */
static void put_tracing_data(struct ptc_buf *b)
{
	static const char ftrace[] = "\3\0\0\0\0\0\0\0fmt";
	static const char systems[] = "sched\0\2\0\0\0\3\0\0\0\0\0\0\0one\0\0\0\0\0\0\0\0"
				      "irq\0\0\0\0";
	const struct ptc_tracing_data t = {
		.version = "0.6",
		.long_size = 8,
		.page_size = 4096,
		.header_page = bytes_of("page", 4),
		.header_event = bytes_of("event!", 6),
		.ftrace = { .cur = bytes_of(ftrace, sizeof(ftrace) - 1), .left = 1 },
		.systems = { .cur = bytes_of(systems, sizeof(systems)), .left = 2 },
		.kallsyms = bytes_of("", 0),
		.printk = bytes_of("0x1 : \"x\"\n", 10),
		.cmdlines = bytes_of("1 init\n", 7),
		.rest = bytes_of("", 0),
	};

	ptc_feature_put_tracing_data(b, &t);
}

static const struct sample samples[] = {
	{ PTC_FEAT_TRACING_DATA, put_tracing_data, 0, 0, 0 },
	{ PTC_FEAT_BUILD_ID, put_build_ids, 0, 0, 0 },
	{ PTC_FEAT_HOSTNAME, put_name, 0, 0, 0 },
	{ PTC_FEAT_OSRELEASE, put_name, 0, 0, 0 },
	{ PTC_FEAT_VERSION, put_name, 0, 0, 0 },
	{ PTC_FEAT_ARCH, put_name, 0, 0, 0 },
	{ PTC_FEAT_NRCPUS, put_nrcpus, 0, 0, 0 },
	{ PTC_FEAT_CPUDESC, put_name, 0, 0, 0 },
	{ PTC_FEAT_CPUID, put_name, 0, 0, 0 },
	{ PTC_FEAT_TOTAL_MEM, put_total_mem, 0, 0, 0 },
	{ PTC_FEAT_CMDLINE, put_cmdline, 0, 4, 3 },
	{ PTC_FEAT_EVENT_DESC, put_event_desc, 0, 4, 2 },
	{ PTC_FEAT_CPU_TOPOLOGY, put_topology, 0, 0, 0 },
	{ PTC_FEAT_NUMA_TOPOLOGY, put_numa, 0, 4, 2 },
	{ PTC_FEAT_PMU_MAPPINGS, put_pmus, 0, 4, 2 },
	{ PTC_FEAT_GROUP_DESC, put_groups, 0, 4, 2 },
	{ PTC_FEAT_AUXTRACE, put_auxtrace, 0, 8, 2 },
	{ PTC_FEAT_CACHE, put_cache, 4, 4, 2 },
	{ PTC_FEAT_SAMPLE_TIME, put_sample_time, 0, 0, 0 },
	{ PTC_FEAT_MEM_TOPOLOGY, put_mem_topology, 16, 8, 3 },
	{ PTC_FEAT_CLOCKID, put_clockid, 0, 0, 0 },
	{ PTC_FEAT_DIR_FORMAT, put_dir_format, 0, 0, 0 },
	{ PTC_FEAT_BPF_PROG_INFO, put_bpf_progs, 0, 4, 2 },
	{ PTC_FEAT_BPF_BTF, put_btfs, 0, 4, 2 },
	{ PTC_FEAT_COMPRESSED, put_compressed, 0, 0, 0 },
	{ PTC_FEAT_CPU_PMU_CAPS, put_cpu_caps, 0, 4, 2 },
	{ PTC_FEAT_CLOCK_DATA, put_clock_data, 0, 0, 0 },
	{ PTC_FEAT_HYBRID_TOPOLOGY, put_hybrid, 0, 4, 2 },
	{ PTC_FEAT_PMU_CAPS, put_caps, 0, 4, 2 },
	{ PTC_FEAT_CPU_DOMAIN_INFO, put_domains, 0, 0, 0 },
	{ PTC_FEAT_CPU_DOMAIN_INFO, put_old_domains, 0, 0, 0 },
};

enum { NSAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* Checks a copy placed at the end of an allocation. Returns the code; *ret_rest: bytes left. */
static int check(enum ptc_feature bit, const uint8_t *bytes, size_t len, size_t *ret_rest)
{
	uint8_t *copy = pd_exact(bytes, len);
	struct ptc_err err = { .code = PTC_OK };
	struct ptc_cur rest;
	int rc = ptc_feature_check(bit, ptc_cur_init(copy, len), 0x100, NCPUS, &rest, &err);

	if (!rc) {
		*ret_rest = ptc_cur_left(&rest);
		cr_assert(*ret_rest <= len && (!*ret_rest || rest.end == copy + len));
	} else {
		cr_assert(err.code == rc && *err.msg);
	}
	free(copy);
	return rc;
}

Test(feature_all, every_feature_up_to_32_has_a_sample_or_is_a_flag)
{
	unsigned int bit;
	size_t i;

	for (bit = 1; bit <= PTC_FEAT_CPU_DOMAIN_INFO; bit++) {
		for (i = 0; i < NSAMPLES && samples[i].bit != bit; i++)
			;
		cr_assert(i < NSAMPLES || bit == PTC_FEAT_BRANCH_STACK || bit == PTC_FEAT_STAT,
			  "%s", ptc_feature_name(bit));
	}
}

Test(feature_all, what_was_put_is_read_to_its_last_byte)
{
	size_t i;

	for (i = 0; i < NSAMPLES; i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		size_t rest;

		samples[i].put(&b);
		cr_assert_eq(check(samples[i].bit, b.bytes, b.len, &rest), 0, "%s",
			     ptc_feature_name(samples[i].bit));
		cr_assert_eq(rest, 0, "%s", ptc_feature_name(samples[i].bit));
		ptc_buf_release(&b);
	}
}

Test(feature_all, what_a_newer_writer_put_behind_is_kept)
{
	size_t i;

	for (i = 0; i < NSAMPLES; i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		size_t rest;

		if (samples[i].bit == PTC_FEAT_BUILD_ID ||
		    samples[i].bit == PTC_FEAT_CPU_DOMAIN_INFO) /* entries up to its end */
			continue;
		samples[i].put(&b);
		ptc_buf_put(&b, "newer", 5);
		cr_assert_eq(check(samples[i].bit, b.bytes, b.len, &rest), 0, "%s",
			     ptc_feature_name(samples[i].bit));
		cr_assert_eq(rest, 5, "%s", ptc_feature_name(samples[i].bit));
		ptc_buf_release(&b);
	}
}

Test(feature_all, of_a_flag_and_of_the_unknown_everything_is_left)
{
	static const enum ptc_feature bits[] = { PTC_FEAT_BRANCH_STACK, PTC_FEAT_STAT,
						 (enum ptc_feature)33, (enum ptc_feature)255 };
	size_t i, rest;

	for (i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		cr_assert_eq(check(bits[i], (const uint8_t *)"abc", 3, &rest), 0);
		cr_assert_eq(rest, 3);
		cr_assert_eq(check(bits[i], (const uint8_t *)"", 0, &rest), 0);
		cr_assert_eq(rest, 0);
	}
}

/*
 * Returns true if a section may end at @len: a later perf added the rest, or the rest is one more
 * entry.
 */
static bool is_an_end(const struct sample *s, size_t len)
{
	size_t i;
	static const struct {
		enum ptc_feature bit;
		size_t at[MAX_CUTS];
	} ends[] = {
		{ PTC_FEAT_BUILD_ID, { 0, 36 + 64 } },
		{ PTC_FEAT_CPU_TOPOLOGY, { 4 + 68 + 4 + 2 * 68, 4 + 68 + 4 + 2 * 68 + 16 } },
		{ PTC_FEAT_CPU_DOMAIN_INFO, { 8, 8 + 8 + 2 * (4 + 3 * 68) } },
	};

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i].bit == s->bit)
			return len == ends[i].at[0] || len == ends[i].at[1];
	return false;
}

Test(feature_all, cut_at_every_length_it_is_refused)
{
	size_t i, len, rest;

	for (i = 0; i < NSAMPLES; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		samples[i].put(&b);
		for (len = 0; len < b.len; len++)
			cr_assert_eq(check(samples[i].bit, b.bytes, len, &rest),
				     is_an_end(&samples[i], len) ? 0 : PTC_E_FORMAT,
				     "%s cut at %zu of %zu", ptc_feature_name(samples[i].bit), len,
				     b.len);
		ptc_buf_release(&b);
	}
}

static void set_number(uint8_t *p, size_t size, uint64_t v)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

Test(feature_all, a_count_too_large_is_refused_and_a_smaller_one_believed)
{
	size_t i, rest;

	for (i = 0; i < NSAMPLES; i++) {
		const struct sample *s = &samples[i];
		const uint64_t wrong[] = { s->count + 1, UINT32_MAX,
					   s->count_size == 8 ? UINT64_MAX : 1u << 31 };
		struct ptc_buf b = PTC_BUF_INIT;
		size_t j;

		if (!s->count_size)
			continue;
		s->put(&b);
		for (j = 0; j < 3; j++) {
			set_number(b.bytes + s->count_off, s->count_size, wrong[j]);
			cr_assert_eq(check(s->bit, b.bytes, b.len, &rest), PTC_E_FORMAT,
				     "%s with %llu entries", ptc_feature_name(s->bit),
				     (unsigned long long)wrong[j]);
		}
		for (j = 0; j < s->count; j++) {
			set_number(b.bytes + s->count_off, s->count_size, j);
			cr_assert_eq(check(s->bit, b.bytes, b.len, &rest), 0, "%s with %zu",
				     ptc_feature_name(s->bit), j);
			cr_assert_gt(rest, 0);
		}
		ptc_buf_release(&b);
	}
}

Test(feature_all, no_number_at_any_place_leads_outside)
{
	static const uint64_t values[] = { 0,	      1,	  2,	     UINT32_MAX,
					   INT32_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX - 7 };
	size_t i, off, v, rest;

	for (i = 0; i < NSAMPLES; i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		samples[i].put(&b);
		for (off = 0; off < b.len; off++) {
			for (v = 0; v < sizeof(values) / sizeof(values[0]) + 2; v++) {
				const size_t n = v > 4 && b.len - off >= 8 ? 8 : 4;
				uint8_t kept[8];
				int rc;

				if (b.len - off < n)
					continue;
				memcpy(kept, b.bytes + off, n);
				set_number(b.bytes + off, n,
					   v < sizeof(values) / sizeof(values[0]) ?
						   values[v] :
						   ptc_le32(kept) + (v & 1 ? 1u : UINT32_MAX));
				rc = check(samples[i].bit, b.bytes, b.len, &rest);
				cr_assert(!rc || rc == PTC_E_FORMAT || rc == PTC_E_UNSUPPORTED);
				memcpy(b.bytes + off, kept, n);
			}
		}
		ptc_buf_release(&b);
	}
}
