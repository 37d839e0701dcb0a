/* SPDX-License-Identifier: MIT */
/*
 * Description: an event opens with every feature that this kernel and user allow, and drops no
 * other.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "capture/perf/attr_fallback.h"

enum { FD = 42 };

/* A kernel that knows some features. */
struct kernel {
	uint32_t size; /* size of its attr */
	bool lost, build_id, text_poke, cgroup, bpf, namespaces, context_switch, comm_exec, mmap2;
	bool bad_config; /* EINVAL for every attr */
	bool no_perfmon; /* EACCES for namespaces and the kernel */
	unsigned int calls;
};

static int play(void *ctx, struct perf_event_attr *a, const struct ptc_perf_where *at)
{
	struct kernel *k = ctx;

	cr_assert_eq(at->pid, 7);
	k->calls++;
	if (a->size > k->size) {
		a->size = k->size;
		return -E2BIG;
	}
	if ((!k->lost && (a->read_format & PERF_FORMAT_LOST)) || (!k->build_id && a->build_id) ||
	    (!k->text_poke && a->text_poke) || (!k->cgroup && a->cgroup) ||
	    (!k->bpf && (a->bpf_event || a->ksymbol)) || (!k->namespaces && a->namespaces) ||
	    (!k->context_switch && a->context_switch) || (!k->comm_exec && a->comm_exec) ||
	    (!k->mmap2 && a->mmap2) || k->bad_config)
		return -EINVAL;
	if (k->no_perfmon && (a->namespaces || !a->exclude_kernel || a->text_poke))
		return -EACCES;
	return FD;
}

static const struct kernel newest = { .size = PERF_ATTR_SIZE_VER9,
				      .lost = true,
				      .build_id = true,
				      .text_poke = true,
				      .cgroup = true,
				      .bpf = true,
				      .namespaces = true,
				      .context_switch = true,
				      .comm_exec = true,
				      .mmap2 = true };

static struct perf_event_attr everything(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.context_switch = 1,
		.namespaces = 1,
		.cgroup = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.text_poke = 1,
	};
}

static char said[1024];

static void note(void *ctx, const char *text)
{
	const size_t n = strlen(said);

	(void)ctx;
	(void)snprintf(said + n, sizeof(said) - n, "%s\n", text);
}

static int negotiate(struct kernel *k, struct perf_event_attr *a, bool may_exclude)
{
	const struct ptc_opener opener = { play, k };
	const struct ptc_perf_where at = { .pid = 7, .cpu = 0 };

	said[0] = '\0';
	return ptc_perf_negotiate(&opener, a, &at, may_exclude, note, NULL);
}

Test(attr_fallback, a_kernel_that_knows_all_is_asked_once)
{
	struct perf_event_attr a = everything(), before = a;
	struct kernel k = newest;

	cr_assert_eq(negotiate(&k, &a, false), FD);
	cr_assert_eq(k.calls, 1);
	cr_assert_str_empty(said);
	before.size = a.size;
	cr_assert_eq(memcmp(&a, &before, sizeof(a)), 0);
}

Test(attr_fallback, an_old_kernel_gets_what_it_knows)
{
	struct perf_event_attr a = everything();
	struct kernel k = newest;

	k.lost = k.build_id = k.text_poke = k.cgroup = k.bpf = k.namespaces = false;
	cr_assert_eq(negotiate(&k, &a, false), FD);
	cr_assert(a.context_switch && a.comm_exec && a.mmap2 && a.mmap && a.comm);
	cr_assert_eq(a.read_format, PERF_FORMAT_ID);
	cr_assert_not(a.build_id || a.text_poke || a.cgroup || a.bpf_event || a.ksymbol ||
		      a.namespaces);
	cr_assert_not_null(strstr(said, "build-ids of mappings"));
	cr_assert_not_null(strstr(said, "needs Linux 4.12"));
	cr_assert_null(strstr(said, "context switches"));
}

Test(attr_fallback, what_is_newer_goes_first)
{
	struct perf_event_attr a = everything();
	struct kernel k = newest;

	k.lost = k.build_id = false;
	cr_assert_eq(negotiate(&k, &a, false), FD);
	cr_assert(a.text_poke && a.cgroup && a.namespaces);
	cr_assert_eq(k.calls, 3);
}

Test(attr_fallback, an_event_that_is_wrong_in_itself_stays_as_it_was)
{
	struct perf_event_attr a = everything(), before = a;
	struct kernel k = newest;

	k.bad_config = true;
	cr_assert_eq(negotiate(&k, &a, true), -EINVAL);
	cr_assert_eq(memcmp(&a, &before, sizeof(a)), 0);
	cr_assert_str_empty(said);
}

Test(attr_fallback, a_user_goes_without_namespaces_then_without_the_kernel)
{
	struct perf_event_attr a = everything();
	struct kernel k = newest;

	k.no_perfmon = true;
	cr_assert_eq(negotiate(&k, &a, true), FD);
	cr_assert(a.exclude_kernel && a.exclude_hv && !a.namespaces && !a.text_poke && a.cgroup);
	cr_assert_not_null(strstr(said, "namespaces"));
	cr_assert_not_null(strstr(said, "the kernel, which needs"));
	a = everything();
	cr_assert_eq(negotiate(&k, &a, false), -EACCES, "asked for by name");
}

/*
 * The event excludes the kernel. Records about changes of kernel code then need rights that it
 * lacks, so they are dropped.
 */
Test(attr_fallback, side_records_of_the_kernel_go_with_it)
{
	struct perf_event_attr a = everything();
	struct kernel k = newest;

	k.no_perfmon = true;
	a.exclude_kernel = 1;
	cr_assert_eq(negotiate(&k, &a, true), FD);
	cr_assert(!a.text_poke && !a.ksymbol && !a.bpf_event && a.cgroup);
	cr_assert_null(strstr(said, "the kernel, which"), "the event that traces says so");
	a = everything();
	a.exclude_kernel = 1;
	cr_assert_eq(negotiate(&k, &a, false), -EACCES);
}

Test(attr_fallback, the_attr_is_as_small_as_it_can_be)
{
	struct perf_event_attr a = { .size = 0 };

	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER0);
	a.config2 = 1;
	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER1);
	a.aux_watermark = 1;
	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER5);
	a.aux_sample_size = 1;
	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER6);
	a.config3 = 1;
	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER8);
	a.config4 = 1;
	cr_assert_eq(ptc_perf_attr_size(&a), PERF_ATTR_SIZE_VER9);
}

Test(attr_fallback, a_size_that_the_kernel_does_not_know_is_lowered_only_over_zeros)
{
	struct perf_event_attr a = { .aux_watermark = 1 };
	struct kernel k = newest;

	k.size = PERF_ATTR_SIZE_VER5;
	cr_assert_eq(negotiate(&k, &a, false), FD);
	cr_assert_eq(a.size, PERF_ATTR_SIZE_VER5);
	a.config3 = 1;
	cr_assert_eq(negotiate(&k, &a, false), -E2BIG);
	cr_assert_eq(a.size, PERF_ATTR_SIZE_VER5, "as it was");
	k.size = 100; /* a size that was never published */
	a.config3 = 0;
	cr_assert_eq(negotiate(&k, &a, false), -E2BIG);
}
