/* SPDX-License-Identifier: MIT */
/* Description: the attrs of branch-stack events, byte by byte. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/attr.h"
#include "capture/perf/event_attrs.h"
#include "capture/perf/open_error_text.h"
#include "capture/perf/sampler.h"

static void fill(struct ptc_set *s, const struct ptc_record_opts *o)
{
	static const struct ptc_event tracer = { .name = "intel_pt//u",
						 .attr = { .type = 8, .exclude_kernel = 1 } };
	static struct ptc_event sampler;
	struct ptc_err err;

	memset(s, 0, sizeof(*s));
	s->event = &tracer;
	s->sampler = sampler.name;
	cr_assert_eq(ptc_sampler_parse(&sampler, o, &tracer, "/nowhere", &err), 0, "%s", err.msg);
	ptc_attrs_fill(s, o, &sampler);
}

static char *const command[] = { (char *)"true", NULL };

/*
 * The attr of perf record -e cycles:u -j any,u,save_type -c 1000, plus the fields that all our
 * events have.
 */
Test(event_attrs, of_branch_stacks)
{
	static const uint8_t want[] = {
		0,    0,    0, 0, 112, 0, 0, 0, /* type, size */
		0,    0,    0, 0, 0,   0, 0, 0, /* config: cycles */
		0xe8, 3,    0, 0, 0,   0, 0, 0, /* period */
		0x87, 9,    1, 0, 0,   0, 0, 0, /* IP TID TIME CPU PERIOD BRANCH_STACK IDENTIFIER */
		0x17, 0,    0, 0, 0,   0, 0, 0, /* enabled, running, ID, LOST */
		0x63, 0x10, 4, 0, 0,   0, 0, 0, /* disabled inherit no k, hv; on exec; id_all */
		0,    0,    0, 0, 0,   0, 0, 0, /* wakeup, bp_type */
		0,    0,    0, 0, 0,   0, 0, 0, /* config1 */
		0,    0,    0, 0, 0,   0, 0, 0, /* config2 */
		9,    0,    1, 0, 0,   0, 0, 0, /* u, any, save_type */
	};
	const struct ptc_record_opts o = { .target.argv = command,
					   .lbr.branches = PERF_SAMPLE_BRANCH_USER |
							   PERF_SAMPLE_BRANCH_ANY |
							   PERF_SAMPLE_BRANCH_TYPE_SAVE,
					   .lbr.period = 1000 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_set s;
	size_t i;

	fill(&s, &o);
	cr_assert_eq(s.nevents, 3);
	cr_assert_not(s.grouped, "what has no counter left is traced all the same");
	ptc_attr_put(&b, &s.attr[1], PERF_ATTR_SIZE_VER5);
	for (i = 0; i < sizeof(want); i++)
		cr_assert_eq(b.bytes[i], want[i], "byte %zu: %x, not %x", i, b.bytes[i], want[i]);
	for (; i < b.len; i++)
		cr_assert_eq(b.bytes[i], 0, "byte %zu", i);
	ptc_buf_release(&b);
}

Test(event_attrs, the_default_is_perfs_frequency)
{
	struct ptc_record_opts o = { .target.argv = command, .lbr.branches = 1 };
	struct ptc_set s;

	fill(&s, &o);
	cr_assert(s.attr[1].freq && s.attr[1].sample_freq == 4000);
	o.lbr.freq = 99;
	fill(&s, &o);
	cr_assert(s.attr[1].freq && s.attr[1].sample_freq == 99);
}

Test(event_attrs, aux_samples_have_branch_stacks_too)
{
	const struct ptc_record_opts o = { .target.argv = command,
					   .lbr.branches = PERF_SAMPLE_BRANCH_ANY,
					   .lbr.aux_sample = 4096 };
	struct ptc_set s;

	fill(&s, &o);
	cr_assert(s.nevents == 3 && s.grouped);
	cr_assert(s.attr[1].sample_type & PERF_SAMPLE_AUX &&
		  s.attr[1].sample_type & PERF_SAMPLE_BRANCH_STACK);
	cr_assert_eq(s.attr[1].aux_sample_size, 4096);
	cr_assert(!s.attr[1].disabled && !s.attr[1].enable_on_exec, "its leader says when");
}

/* On any machine the result is an event, or an error with a known remedy. */
Test(event_attrs, this_kernel_takes_them_or_says_what_it_lacks)
{
	const struct ptc_record_opts o = { .target.argv = command,
					   .lbr.branches = PERF_SAMPLE_BRANCH_USER |
							   PERF_SAMPLE_BRANCH_ANY };
	const struct ptc_perf_where here = { .pid = 0, .cpu = -1 };
	struct ptc_set s;
	struct ptc_err err;
	int fd;

	fill(&s, &o);
	fd = ptc_perf_negotiate(&ptc_opener_kernel, &s.attr[1], &here, false, NULL, NULL);
	if (fd >= 0) {
		(void)close(fd);
		return;
	}
	cr_assert_neq(ptc_explain_lbr(&err, -fd, "'cycles:u' for branch stacks", 3), 0);
	cr_assert_not_null(strchr(err.msg, '('), "%s", err.msg);
}
