/* SPDX-License-Identifier: MIT */
#include "capture/perf/filter.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

static bool kernel_address(const struct ptc_addr_filter *f)
{
	return !f->file && f->addr >> 63;
}

bool ptc_filter_kernel(const struct ptc_record_opts *o)
{
	size_t i;

	for (i = 0; i < o->source.nfilters; i++)
		if (kernel_address(&o->source.filters[i]))
			return true;
	return false;
}

/*
 * Rules of pt.c, pt_event_addr_filters_validate: Intel PT supports only ranges, which are traced or
 * stop the trace.
 */
static int check_pt(const struct ptc_addr_filter *f, struct ptc_err *err)
{
	if (f->action == PTC_FILTER_START)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"Intel PT does not support start filters; use filter or tracestop, "
				"which take a range");
	if (!f->size)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"Intel PT does not support stop filters; use tracestop, which "
				"takes a range");
	return 0;
}

static int check_one(const struct ptc_record_opts *o, const struct ptc_event *e,
		     const struct ptc_addr_filter *f, struct ptc_err *err)
{
	if (f->action == PTC_FILTER_WITHIN && !f->size)
		return ptc_fail(err, PTC_E_USAGE, "an address filter at 0x%" PRIx64 " has no size",
				f->addr);
	if (f->file && (o->target.all_cpus || o->target.cpus || o->target.cgroup))
		return ptc_fail(err, PTC_E_USAGE,
				"the kernel does not filter CPUs or a cgroup by addresses in a "
				"file ('%s'), only processes and threads",
				f->file);
	if (f->file && f->file[strcspn(f->file, " ,\n")])
		return ptc_fail(err, PTC_E_USAGE,
				"the kernel does not accept a blank or a comma in the file name of "
				"a filter, '%s'; use a link with another name",
				f->file);
	if (kernel_address(f) && e->attr.exclude_kernel)
		return ptc_fail(err, PTC_E_USAGE,
				"0x%" PRIx64 " is kernel code, but '%s' excludes the kernel; use "
				"-e %s//k, or @ FILE for code of a program",
				f->addr, e->name, e->pmu.name);
	return e->intel_pt ? check_pt(f, err) : 0;
}

int ptc_filter_check(const struct ptc_record_opts *o, const struct ptc_event *e,
		     struct ptc_err *err)
{
	const uint32_t most = e->software ? 0 : e->pmu.nr_addr_filters;
	size_t i;
	int rc = 0;

	if (!most)
		return ptc_fail(
			err, PTC_E_UNSUPPORTED, "'%s' does not support address filters%s", e->name,
			e->intel_pt ? ": this CPU has no address ranges (nr_addr_filters is 0)" :
				      "");
	if (o->source.nfilters > most)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"too many address filters: %zu, but the PMU '%s' has %" PRIu32
				" (nr_addr_filters)",
				o->source.nfilters, e->pmu.name, most);
	for (i = 0; !rc && i < o->source.nfilters; i++)
		rc = check_one(o, e, &o->source.filters[i], err);
	return rc;
}

static void put_one(struct ptc_buf *b, const struct ptc_addr_filter *f)
{
	static const char *const action[] = {
		[PTC_FILTER_WITHIN] = "filter",
		[PTC_FILTER_START] = "start",
		[PTC_FILTER_STOP] = "stop",
	};
	char text[64];

	(void)snprintf(text, sizeof(text), "%s%s 0x%" PRIx64, b->len ? "," : "", action[f->action],
		       f->addr);
	ptc_buf_put(b, text, strlen(text));
	if (f->size) {
		(void)snprintf(text, sizeof(text), "/0x%" PRIx64, f->size);
		ptc_buf_put(b, text, strlen(text));
	}
	if (f->file) {
		ptc_buf_put(b, "@", 1);
		ptc_buf_put(b, f->file, strlen(f->file));
	}
}

int ptc_filter_text(const struct ptc_record_opts *o, char **ret, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	assert(o->source.nfilters);
	for (i = 0; i < o->source.nfilters; i++)
		put_one(&b, &o->source.filters[i]);
	ptc_buf_put(&b, "", 1);
	*ret = ptc_buf_failed(&b) ? NULL : strdup((const char *)b.bytes);
	ptc_buf_release(&b);
	return *ret ? 0 : ptc_fail_mem(err);
}
