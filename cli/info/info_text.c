/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/common/text_escape.h"
#include "cli/info/info.h"
#include "cli/info/info_bundle.h"
#include "ptcap/file.h"

enum { NS_PER_S = 1000000000, ROWS = 16 }; /* ROWS: printed events and queues; dump prints all */

static void label(const char *name)
{
	printf("%-9s", name);
}

/* Print the known words, with a blank and then commas. */
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

static void show_count(uint32_t n, const char *what)
{
	if (n)
		printf(", %u %s%s", n, what, ptc_plural(n));
}

static void show_host(const struct ptc_info *i)
{
	char microcode[PTC_RECORDED_CPU_TEXT];

	ptc_recorded_cpu_microcode(&i->cpu, microcode);
	if (i->hostname || i->osrelease || i->arch) {
		label("host");
		show_known(i->hostname, i->osrelease, i->arch);
		printf("\n");
	}
	if (i->cpudesc || i->cpuid || i->cpus.available || i->cpu.n) {
		label("cpu");
		show_known(*i->cpu.model ? i->cpu.model : NULL, *i->cpu.cpuid ? i->cpu.cpuid : NULL,
			   microcode);
		if (i->cpus.available)
			printf(", %u of %u online", i->cpus.online, i->cpus.available);
		show_count(i->packages, "package");
		show_count(i->cores, "core");
		show_count(i->numa_nodes, "node");
		if (i->total_mem_kib)
			printf(", %" PRIu64 " MiB of memory", i->total_mem_kib >> 10);
		printf("\n");
		ptc_recorded_cpu_show_kinds(stdout, "         ", &i->cpu);
	}
	if (i->cpu.software) {
		label("source");
		printf(" %s: this software made the trace, not the CPU\n", i->cpu.software);
	}
}

static void show_caps_of(const char *pmu, struct ptc_feature_iter it)
{
	const char *separator = ":";
	struct ptc_pmu_cap cap;
	struct ptc_err ignored;

	if (!it.left)
		return;
	label("caps");
	printf(" ");
	ptc_show_plain(pmu);
	while (ptc_feature_next_pmu_cap(&it, &cap, &ignored) > 0) {
		printf("%s ", separator);
		ptc_show_plain(cap.name);
		printf("=");
		ptc_show_plain(cap.value);
		separator = ",";
	}
	printf("\n");
}

static void show_caps(const struct ptc_info *i)
{
	struct ptc_feature_iter it = ptc_info_list(i, PTC_FEAT_PMU_CAPS);
	struct ptc_pmu_caps p;
	struct ptc_err ignored;

	show_caps_of("cpu", ptc_info_list(i, PTC_FEAT_CPU_PMU_CAPS));
	while (ptc_feature_next_pmu_caps(&it, &p, &ignored) > 0)
		show_caps_of(p.pmu, p.caps);
}

static void show_command(const struct ptc_info *i)
{
	struct ptc_feature_iter it = ptc_info_list(i, PTC_FEAT_CMDLINE);
	struct ptc_err ignored;
	const char *text;

	if (it.left) {
		label("command");
		while (ptc_feature_next_string(&it, &text, &ignored) > 0) {
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

/* Print how many of @n rows are not shown. The limit keeps the report on one screen. */
static void show_more(size_t n)
{
	if (n <= ROWS)
		return;
	label("");
	printf(" %zu more\n", n - ROWS);
}

static void show_events(const struct ptc_info *i)
{
	size_t n;

	for (n = 0; n < ptc_file_nattrs(i->file) && n < ROWS; n++) {
		const struct perf_event_attr *a = &ptc_file_attr(i->file, n)->attr;
		const char *name = ptc_info_event_name(i, n);
		const char *pmu = ptc_info_pmu_name(i, a->type);

		label("event");
		printf(" ");
		ptc_show_plain(name ? name : "?");
		printf(" type %u", a->type);
		if (pmu) {
			printf(" (");
			ptc_show_plain(pmu);
			printf(")");
		}
		printf(" config 0x%" PRIx64, (uint64_t)a->config);
		if (a->exclude_kernel)
			printf(", user only");
		printf("\n");
	}
	show_more(ptc_file_nattrs(i->file));
}

static void show_date(time_t s)
{
	char text[32] = "?";
	struct tm tm;

	if (gmtime_r(&s, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	label("date");
	printf(" %s UTC", text);
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
	if (i->has_clock) {
		show_date((time_t)(i->clock.wall_ns / NS_PER_S));
		printf(" at ");
		ptc_show_time(i->clock.clock_ns);
		printf(" of clock %u\n", i->clock.clockid);
	} else if (i->modified_s) {
		show_date((time_t)i->modified_s);
		printf(", when the file was written\n");
	}
	if (i->has_pt) {
		label("intel_pt");
		if (i->pt.cap_user_time_zero)
			printf(" clock shift %u mult %u zero %" PRIu64, i->pt.time.shift,
			       i->pt.time.mult, i->pt.time.zero);
		else
			printf(" no conversion from TSC to time");
		printf("%s%s\n",
		       i->pt.per_cpu_mmaps ? ", one queue per CPU" : ", one queue per thread",
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
	       ptc_plural(i->index.nqueues));
	for (n = 0; n < i->index.nqueues && n < ROWS; n++) {
		const struct ptc_queue *q = &i->index.queues[n];

		label("");
		printf(" queue %u: ", q->idx);
		if (q->tid >= 0)
			printf("tid %d, ", q->tid);
		if (q->cpu >= 0)
			printf("cpu %d, ", q->cpu);
		printf("%zu chunk%s, %" PRIu64 " bytes\n", q->nchunks, ptc_plural(q->nchunks),
		       q->bytes);
	}
	show_more(i->index.nqueues);
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
	if (!i->has_compressed)
		return;
	label("packed");
	if (i->compressed.type == PTC_COMPRESSED_ZSTD)
		printf(" with zstd, level %u, ratio %u\n", i->compressed.level,
		       i->compressed.ratio);
	else
		printf(" with an unknown method (type %u)\n", i->compressed.type);
}

static void show_losses(const struct ptc_info *i)
{
	label("losses");
	if (!i->lost_events && !i->truncated && !i->partial && !i->collision)
		printf(" none recorded\n");
	else
		printf(" %" PRIu64 " record%s lost; AUX truncated %" PRIu64 ", partial %" PRIu64
		       ", collision %" PRIu64 "\n",
		       i->lost_events, ptc_plural(i->lost_events), i->truncated, i->partial,
		       i->collision);
}

static void show_ledger(const struct ptc_info *i)
{
	const struct ptc_ledger_list *l = &i->ledger;

	if (!l->nrings && !l->nevents)
		return;
	label("ledger");
	printf(" %zu ring%s, %zu event%s\n", l->nrings, ptc_plural(l->nrings), l->nevents,
	       ptc_plural(l->nevents));
	ptc_ledger_show_rings(stdout, "         ", l->rings, l->nrings, ROWS);
	ptc_ledger_show_events(stdout, "         ", l->events, l->nevents, ROWS);
	if (l->source.insns)
		printf("          %" PRIu64 " instructions, %" PRIu64 " branches\n",
		       l->source.insns, l->source.transfers);
	if (l->source.unshown)
		printf("          %" PRIu64
		       " of these branches in loops of direct jumps and calls, "
		       "for which Intel PT has no packets\n",
		       l->source.unshown);
}

static void show_states(const struct ptc_info *i)
{
	if (!i->states)
		return;
	label("states");
	printf(" %" PRIu64 " of live processes (`ptcap stacks` shows the threads)\n", i->states);
}

static void show_crash(const struct ptc_info *i)
{
	const char *name = sigabbrev_np((int)i->crash.signo);

	if (!i->crashes)
		return;
	label("crash");
	if (i->crash.exit_status)
		printf(" process %" PRIu64 " handled SIG%s in thread %" PRIu64
		       ", and exited with status %" PRIu64 " (`ptcap crash show` explains it)\n",
		       i->crash.pid, name ? name : "?", i->crash.tid, i->crash.exit_status);
	else
		printf(" process %" PRIu64 " was killed by SIG%s in thread %" PRIu64
		       " (`ptcap crash show` explains why)\n",
		       i->crash.pid, name ? name : "?", i->crash.tid);
	if (i->crash_cut) {
		label("");
		printf(" %" PRIu64 " bytes of its stacks and code exceeded the limit\n",
		       i->crash_cut);
	}
	if (i->crashes > 1) {
		label("");
		printf(" the last of %" PRIu64 " such processes\n", i->crashes);
	}
}

/* Print whether the recording can be decoded here. */
static void show_survey(const struct ptc_info *i)
{
	struct ptc_missing m;
	const char *note;
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
	if (n)
		printf(" incomplete on this machine: %zu of %zu files missing\n", n, i->files);
	else
		printf(" complete on this machine, with %zu file%s\n", i->files,
		       ptc_plural(i->files));
	for (n = 0; ptc_decode_missing(i->survey, n, &m); n++) {
		label("");
		printf(" ");
		ptc_show_plain(m.file);
		if (*m.build_id)
			printf(" build-id %s", m.build_id);
		if (m.found_path)
			printf(" (found %s)", *m.found_id ? m.found_id : "no build-id");
		printf(": ");
		ptc_plain_put(stdout, m.hint);
		putchar('\n');
	}
	n = 0;
	while ((note = ptc_info_next_note(i, &n)) != NULL) {
		label("");
		putchar(' ');
		ptc_plain_put(stdout, note);
		putchar('\n');
	}
}

void ptc_info_text(const struct ptc_info *info)
{
	label("file");
	printf(" ");
	ptc_show_plain(ptc_file_name(info->file));
	printf(", %" PRIu64 " bytes\n", ptc_file_size(info->file));
	ptc_info_bundle_text(info->file);
	show_host(info);
	show_caps(info);
	show_command(info);
	show_events(info);
	show_times(info);
	show_queues(info);
	show_records(info);
	show_losses(info);
	show_ledger(info);
	show_crash(info);
	show_states(info);
	if (info->code_bytes) {
		label("code");
		printf(" %" PRIu64 " bytes that are not in a file, or were modified\n",
		       info->code_bytes);
	}
	show_survey(info);
	if (info->has_verdict) {
		label("newest");
		printf(" %s\n", ptc_verdict_complete(&info->verdict) ? "complete" : "NOT complete");
		ptc_verdict_show(stdout, "         ", &info->verdict, ROWS);
	}
}
