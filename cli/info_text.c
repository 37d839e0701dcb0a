/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "auxtrace/layout.h"
#include "info.h"
#include "show.h"

static void label(const char *name)
{
	printf("%-9s", name);
}

/* Words, separated by blanks and commas, those that are known. */
static void show_known(const char *a, const char *b, const char *c)
{
	const char *const words[] = { a, b, c };
	const char *separator = " ";
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!words[i])
			continue;
		printf("%s", separator);
		ptc_show_plain(words[i]);
		separator = ", ";
	}
}

static void show_host(const struct ptc_info *i)
{
	if (i->hostname || i->osrelease || i->arch) {
		label("host");
		show_known(i->hostname, i->osrelease, i->arch);
		printf("\n");
	}
	if (i->cpudesc || i->cpuid || i->cpus_available) {
		label("cpu");
		show_known(i->cpudesc, i->cpuid, NULL);
		if (i->cpus_available)
			printf(", %u of %u online", i->cpus_online, i->cpus_available);
		printf("\n");
	}
}

static void show_command(const struct ptc_info *i)
{
	const char *text;
	struct ptc_cur c;
	uint32_t n;

	c = ptc_info_cmdline(i, &n);
	if (n) {
		label("command");
		while (n-- && ptc_feature_get_string(&c, &text)) {
			printf(" ");
			ptc_show_word(text);
		}
		printf("\n");
	}
	if (i->version) {
		label("writer");
		printf(" ");
		ptc_show_plain(i->version);
		printf("\n");
	}
}

static void show_events(const struct ptc_info *i)
{
	size_t n;

	for (n = 0; n < ptc_file_nattrs(i->file); n++) {
		const struct perf_event_attr *a = &ptc_file_attr(i->file, n)->attr;
		const char *name = ptc_info_event_name(i, n);

		label("event");
		printf(" ");
		ptc_show_plain(name ? name : "?");
		printf(" type %u config 0x%" PRIx64, a->type, (uint64_t)a->config);
		if (a->exclude_kernel)
			printf(", user only");
		printf("\n");
	}
}

static void show_times(const struct ptc_info *i)
{
	if (i->last_ns) {
		label("time");
		printf(" ");
		ptc_show_time(i->last_ns - i->first_ns);
		printf(" s, from ");
		ptc_show_time(i->first_ns);
		printf(" to ");
		ptc_show_time(i->last_ns);
		printf("\n");
	}
	if (i->has_pt) {
		label("intel_pt");
		if (i->pt.cap_user_time_zero)
			printf(" clock shift %u mult %u zero %" PRIu64, i->pt.time.shift,
			       i->pt.time.mult, i->pt.time.zero);
		else
			printf(" no conversion from TSC to time");
		printf("%s%s\n", i->pt.per_cpu_mmaps ? ", a queue per cpu" : ", a queue per thread",
		       i->pt.snapshot_mode ? ", snapshots" : "");
	}
}

static void show_queues(const struct ptc_info *i)
{
	uint64_t bytes = 0;
	size_t n;

	for (n = 0; n < i->index.nqueues; n++)
		bytes += i->index.queues[n].bytes;
	label("trace");
	printf(" %" PRIu64 " bytes in %zu queue%s\n", bytes, i->index.nqueues,
	       i->index.nqueues == 1 ? "" : "s");
	for (n = 0; n < i->index.nqueues; n++) {
		const struct ptc_queue *q = &i->index.queues[n];

		label("");
		printf(" queue %u: ", q->idx);
		if (q->tid >= 0)
			printf("tid %d, ", q->tid);
		if (q->cpu >= 0)
			printf("cpu %d, ", q->cpu);
		printf("%zu piece%s, %" PRIu64 " bytes\n", q->nchunks, q->nchunks == 1 ? "" : "s",
		       q->bytes);
	}
}

static void show_records(const struct ptc_info *i)
{
	const char *separator = ": ";
	uint32_t type;

	label("records");
	printf(" %" PRIu64, i->records);
	for (type = 0; type < PTC_INFO_TYPES; type++) {
		if (!i->by_type[type])
			continue;
		printf("%s%s %" PRIu64, separator, ptc_rec_name(type), i->by_type[type]);
		separator = ", ";
	}
	if (i->unknown)
		printf("%sunknown %" PRIu64, separator, i->unknown);
	printf("\n");
}

static void show_losses(const struct ptc_info *i)
{
	label("losses");
	if (!i->lost_events && !i->truncated && !i->partial && !i->collision)
		printf(" none recorded\n");
	else
		printf(" %" PRIu64 " records lost; AUX truncated %" PRIu64 ", partial %" PRIu64
		       ", collision %" PRIu64 "\n",
		       i->lost_events, i->truncated, i->partial, i->collision);
}

/* Can it be decoded here? */
static void show_survey(const struct ptc_info *i)
{
	struct ptc_missing m;
	size_t n = 0;

	if (i->survey_err.code) {
		label("decode");
		printf(" cannot be decoded: ");
		ptc_show_plain(i->survey_err.msg);
		printf("\n");
	}
	if (!i->survey)
		return;
	while (ptc_decode_missing(i->survey, n, &m))
		n++;
	label("decode");
	printf(" can be decoded here: ");
	if (n)
		printf("no: %zu of %zu files missing\n", n, i->files);
	else
		printf("yes, with %zu file%s\n", i->files, i->files == 1 ? "" : "s");
	for (n = 0; ptc_decode_missing(i->survey, n, &m); n++) {
		label("");
		printf(" ");
		ptc_show_plain(m.file);
		if (*m.build_id)
			printf(" build-id %s", m.build_id);
		if (m.found_path)
			printf(" (not %s)", *m.found_id ? m.found_id : "one without");
		printf(": %s\n", m.hint);
	}
}

void ptc_info_text(const struct ptc_info *info)
{
	label("file");
	printf(" ");
	ptc_show_plain(ptc_file_name(info->file));
	printf(", %" PRIu64 " bytes\n", ptc_file_size(info->file));
	show_host(info);
	show_command(info);
	show_events(info);
	show_times(info);
	show_queues(info);
	show_records(info);
	show_losses(info);
	if (info->code_bytes) {
		label("code");
		printf(" %" PRIu64 " bytes that are in no file, or were changed\n",
		       info->code_bytes);
	}
	show_survey(info);
}
