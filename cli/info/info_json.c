/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/jsontext.h"
#include "cli/info/info.h"
#include "cli/info/info_bundle.h"
#include "ptcap/file.h"

/*
 * Out of memory: jansson's constructors return NULL, and its _new setters fail on NULL. So only the
 * last result of each object is checked. Each helper then returns false, and the caller stops.
 */

static json_t *text(const char *s)
{
	return ptc_json_text(s);
}

static json_t *text_or_null(const char *s)
{
	return s ? text(s) : json_null();
}

static bool set(json_t *object, const char *key, json_t *value)
{
	return !json_object_set_new(object, key, value);
}

static json_t *make_file(const struct ptc_info *i)
{
	json_t *o = json_object();

	if (set(o, "name", text(ptc_file_name(i->file))) &&
	    set(o, "size", ptc_json_uint(ptc_file_size(i->file))) &&
	    set(o, "data_offset", ptc_json_uint(ptc_file_data_off(i->file))) &&
	    set(o, "data_size", ptc_json_uint(ptc_file_data_size(i->file))) &&
	    (!i->modified_s || set(o, "modified_s", ptc_json_uint((uint64_t)i->modified_s))))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_host(const struct ptc_info *i)
{
	json_t *o = json_object();

	if (set(o, "hostname", text_or_null(i->hostname)) &&
	    set(o, "osrelease", text_or_null(i->osrelease)) &&
	    set(o, "arch", text_or_null(i->arch)) && set(o, "cpudesc", text_or_null(i->cpudesc)) &&
	    set(o, "cpuid", text_or_null(i->cpuid)) &&
	    set(o, "microcode", ptc_recorded_cpu_microcode_json(&i->cpu)) &&
	    set(o, "cpus_available", ptc_json_uint(i->cpus.available)) &&
	    set(o, "cpus_online", ptc_json_uint(i->cpus.online)) &&
	    set(o, "packages", ptc_json_uint(i->packages)) &&
	    set(o, "cores", ptc_json_uint(i->cores)) &&
	    set(o, "numa_nodes", ptc_json_uint(i->numa_nodes)) &&
	    set(o, "total_mem_kib", ptc_json_uint(i->total_mem_kib)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_cmdline(const struct ptc_info *i)
{
	struct ptc_feature_iter it = ptc_info_list(i, PTC_FEAT_CMDLINE);
	json_t *a = json_array();
	struct ptc_err ignored;
	const char *word;

	while (ptc_feature_next_string(&it, &word, &ignored) > 0) {
		if (json_array_append_new(a, text(word))) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

/* Returns the header's features by name; unknown ones by bit number. */
static json_t *make_features(const struct ptc_info *i)
{
	json_t *a = json_array();
	unsigned int bit;
	struct ptc_cur c;

	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		const char *name = ptc_feature_name(bit);

		if (ptc_file_feature(i->file, bit, &c, NULL) &&
		    json_array_append_new(a, name ? text(name) : ptc_json_uint(bit))) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_pmus(const struct ptc_info *i)
{
	struct ptc_feature_iter it = ptc_info_list(i, PTC_FEAT_PMU_MAPPINGS);
	json_t *a = json_array();
	struct ptc_pmu_mapping m;
	struct ptc_err ignored;

	while (ptc_feature_next_pmu_mapping(&it, &m, &ignored) > 0) {
		json_t *o = json_object();

		if (!set(o, "type", ptc_json_uint(m.type)) || !set(o, "name", text(m.name)) ||
		    json_array_append(a, o)) {
			json_decref(o);
			json_decref(a);
			return NULL;
		}
		json_decref(o);
	}
	return a;
}

/* Add the PMU's capabilities to @o under the PMU's name. */
static bool set_caps(json_t *o, const char *pmu, struct ptc_feature_iter it)
{
	json_t *caps = json_object();
	json_t *key = text(pmu);
	struct ptc_pmu_cap cap;
	struct ptc_err ignored;
	bool ok = caps && key;

	while (ok && ptc_feature_next_pmu_cap(&it, &cap, &ignored) > 0) {
		json_t *name = text(cap.name);

		ok = name && set(caps, json_string_value(name), text(cap.value));
		json_decref(name);
	}
	ok = ok && set(o, json_string_value(key), json_incref(caps));
	json_decref(key);
	json_decref(caps);
	return ok;
}

static json_t *make_caps(const struct ptc_info *i)
{
	struct ptc_feature_iter it = ptc_info_list(i, PTC_FEAT_CPU_PMU_CAPS);
	struct ptc_pmu_caps p;
	struct ptc_err ignored;
	json_t *o = json_object();
	bool ok = !it.left || set_caps(o, "cpu", it);

	it = ptc_info_list(i, PTC_FEAT_PMU_CAPS);
	while (ok && ptc_feature_next_pmu_caps(&it, &p, &ignored) > 0)
		ok = set_caps(o, p.pmu, p.caps);
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_compression(const struct ptc_info *i)
{
	json_t *o;

	if (!i->has_compressed)
		return json_null();
	o = json_object();
	if (set(o, "type", ptc_json_uint(i->compressed.type)) &&
	    set(o, "level", ptc_json_uint(i->compressed.level)) &&
	    set(o, "ratio", ptc_json_uint(i->compressed.ratio)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_clock(const struct ptc_info *i)
{
	json_t *o;

	if (!i->has_clock)
		return json_null();
	o = json_object();
	if (set(o, "clockid", ptc_json_uint(i->clock.clockid)) &&
	    set(o, "wall_ns", ptc_json_uint(i->clock.wall_ns)) &&
	    set(o, "clock_ns", ptc_json_uint(i->clock.clock_ns)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_event(const struct ptc_info *i, size_t n)
{
	const struct ptc_file_attr *a = ptc_file_attr(i->file, n);
	json_t *o = json_object();
	json_t *ids = json_array();
	size_t j;

	if (!set(o, "name", text_or_null(ptc_info_event_name(i, n))) ||
	    !set(o, "type", ptc_json_uint(a->attr.type)) ||
	    !set(o, "config", ptc_json_hex(a->attr.config)) ||
	    !set(o, "sample_type", ptc_json_hex(a->attr.sample_type)) ||
	    !set(o, "exclude_kernel", json_boolean(a->attr.exclude_kernel)))
		goto fail;
	for (j = 0; j < a->nids; j++)
		if (json_array_append_new(ids, ptc_json_uint(a->ids[j])))
			goto fail;
	if (set(o, "ids", json_incref(ids))) {
		json_decref(ids);
		return o;
	}
fail:
	json_decref(ids);
	json_decref(o);
	return NULL;
}

static json_t *make_events(const struct ptc_info *i)
{
	json_t *a = json_array();
	size_t n;

	for (n = 0; n < ptc_file_nattrs(i->file); n++) {
		if (json_array_append_new(a, make_event(i, n))) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_time(const struct ptc_info *i)
{
	json_t *o;

	if (!i->last_ns)
		return json_null();
	o = json_object();
	if (set(o, "first_ns", ptc_json_uint(i->first_ns)) &&
	    set(o, "last_ns", ptc_json_uint(i->last_ns)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_pt(const struct ptc_info *i)
{
	json_t *o;

	if (!i->has_pt)
		return json_null();
	o = json_object();
	if (set(o, "pmu_type", ptc_json_uint(i->pt.pmu_type)) &&
	    set(o, "time_shift", ptc_json_uint(i->pt.time.shift)) &&
	    set(o, "time_mult", ptc_json_uint(i->pt.time.mult)) &&
	    set(o, "time_zero", ptc_json_hex(i->pt.time.zero)) &&
	    set(o, "cap_user_time_zero", json_boolean(i->pt.cap_user_time_zero)) &&
	    set(o, "per_cpu", json_boolean(i->pt.per_cpu_mmaps)) &&
	    set(o, "snapshot", json_boolean(i->pt.snapshot_mode)) &&
	    set(o, "tsc_ctc_n", ptc_json_uint(i->pt.tsc_ctc_n)) &&
	    set(o, "tsc_ctc_d", ptc_json_uint(i->pt.tsc_ctc_d)) &&
	    set(o, "max_nonturbo_ratio", ptc_json_uint(i->pt.max_nonturbo_ratio)) &&
	    set(o, "filter", text(i->pt.filter)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_queues(const struct ptc_info *i)
{
	json_t *a = json_array();
	size_t n;

	for (n = 0; n < i->index.nqueues; n++) {
		const struct ptc_queue *q = &i->index.queues[n];
		json_t *o = json_object();

		if (!set(o, "queue", ptc_json_uint(q->idx)) ||
		    !set(o, "tid", json_integer(q->tid)) || !set(o, "cpu", json_integer(q->cpu)) ||
		    !set(o, "pieces", ptc_json_uint(q->nchunks)) ||
		    !set(o, "bytes", ptc_json_uint(q->bytes)) || json_array_append(a, o)) {
			json_decref(o);
			json_decref(a);
			return NULL;
		}
		json_decref(o);
	}
	return a;
}

static json_t *make_records(const struct ptc_info *i)
{
	json_t *o = json_object();
	bool ok = o != NULL;
	uint32_t type;

	for (type = 0; type < PTC_INFO_TYPES && ok; type++)
		if (i->by_type[type])
			ok = set(o, ptc_rec_name(type), ptc_json_uint(i->by_type[type]));
	if (ok && i->unknown)
		ok = set(o, "unknown", ptc_json_uint(i->unknown));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_losses(const struct ptc_info *i)
{
	json_t *o = json_object();

	if (set(o, "records", ptc_json_uint(i->lost_events)) &&
	    set(o, "aux_truncated", ptc_json_uint(i->truncated)) &&
	    set(o, "aux_partial", ptc_json_uint(i->partial)) &&
	    set(o, "aux_collision", ptc_json_uint(i->collision)))
		return o;
	json_decref(o);
	return NULL;
}

/* Add a number to @o. On failure releases @o and returns NULL. @o may be NULL. */
static json_t *set_field(json_t *o, const struct ptc_ledger_field *f)
{
	if (o && set(o, f->name,
		     f->is_signed ? json_integer((json_int_t)f->value) : ptc_json_uint(f->value)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_ledger_rings(const struct ptc_ledger_list *l)
{
	json_t *a = json_array();
	struct ptc_ledger_field f;
	size_t n, i;

	for (n = 0; n < l->nrings; n++) {
		json_t *o = json_object();

		for (i = 0; ptc_ledger_ring_field(&l->rings[n], i, &f); i++)
			o = set_field(o, &f);
		if (json_array_append_new(a, o)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_ledger_events(const struct ptc_ledger_list *l)
{
	json_t *a = json_array();
	struct ptc_ledger_field f;
	size_t n, i;

	for (n = 0; n < l->nevents; n++) {
		json_t *o = json_object();

		for (i = 0; ptc_ledger_event_field(&l->events[n], i, &f); i++)
			o = set_field(o, &f);
		if (json_array_append_new(a, o)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_ledger_source(const struct ptc_ledger_source *s)
{
	json_t *o = s->insns ? json_object() : json_null();
	struct ptc_ledger_field f;
	size_t i;

	for (i = 0; s->insns && ptc_ledger_source_field(s, i, &f); i++)
		o = set_field(o, &f);
	return o;
}

/* Returns both clocks at the start and end of the recording. */
static json_t *make_ledger_clock(const struct ptc_ledger_list *l)
{
	const struct ptc_ledger_clock *c[2] = { &l->first, &l->last };
	json_t *a = l->first.time_ns ? json_array() : json_null();
	struct ptc_ledger_field f;
	size_t n, i;

	for (n = 0; l->first.time_ns && n < 2; n++) {
		json_t *o = json_object();

		for (i = 0; ptc_ledger_clock_field(c[n], i, &f); i++)
			o = set_field(o, &f);
		if (json_array_append_new(a, o)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_ledger_processors(const struct ptc_recorded_cpu *c)
{
	json_t *a = json_array();
	struct ptc_ledger_field f;
	size_t n, i;

	for (n = 0; n < c->n; n++) {
		json_t *o = json_object();

		for (i = 0; ptc_ledger_processor_field(&c->kinds[n], i, &f); i++)
			o = set_field(o, &f);
		if (json_array_append_new(a, o)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_ledger(const struct ptc_info *i)
{
	json_t *o;

	if (!i->ledger.nrings && !i->ledger.nevents && !i->ledger.first.time_ns && !i->cpu.n)
		return json_null();
	o = json_object();
	if (set(o, "rings", make_ledger_rings(&i->ledger)) &&
	    set(o, "events", make_ledger_events(&i->ledger)) &&
	    set(o, "source", make_ledger_source(&i->ledger.source)) &&
	    set(o, "clocks", make_ledger_clock(&i->ledger)) &&
	    set(o, "processors", make_ledger_processors(&i->cpu)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_crash(const struct ptc_info *i)
{
	json_t *o;

	if (!i->crashes)
		return json_null();
	o = json_object();
	if (set(o, "signal", ptc_json_uint(i->crash.signo)) &&
	    set(o, "pid", ptc_json_uint(i->crash.pid)) &&
	    set(o, "tid", ptc_json_uint(i->crash.tid)) &&
	    set(o, "crashes", ptc_json_uint(i->crashes)) &&
	    set(o, "cut", ptc_json_uint(i->crash_cut)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_missing(const struct ptc_missing *m)
{
	json_t *o = json_object();

	if (set(o, "file", text(m->file)) && set(o, "build_id", text(m->build_id)) &&
	    set(o, "found_path", text_or_null(m->found_path)) &&
	    set(o, "found_build_id", text_or_null(m->found_id)) && set(o, "hint", text(m->hint)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_notes(const struct ptc_info *i)
{
	json_t *a = json_array();
	const char *note;
	size_t n = 0;

	while (a && (note = ptc_info_next_note(i, &n)) != NULL) {
		if (!json_array_append_new(a, text(note)))
			continue;
		json_decref(a);
		a = NULL;
	}
	return a;
}

static json_t *make_survey(const struct ptc_info *i)
{
	json_t *o, *a;
	struct ptc_missing m;
	size_t n;

	if (!i->survey && !i->survey_err.code)
		return json_null();
	o = json_object();
	if (!i->survey) {
		if (set(o, "error", text(i->survey_err.msg)))
			return o;
		json_decref(o);
		return NULL;
	}
	a = json_array();
	for (n = 0; a && ptc_decode_missing(i->survey, n, &m); n++) {
		if (!json_array_append_new(a, make_missing(&m)))
			continue;
		json_decref(a);
		a = NULL;
	}
	if (set(o, "files", ptc_json_uint(i->files)) && set(o, "missing", a) &&
	    set(o, "notes", make_notes(i)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *make_thread(const struct ptc_verdict_thread *t, bool of_software)
{
	json_t *o = json_object();

	if (set(o, "pid", json_integer(t->pid)) && set(o, "tid", json_integer(t->tid)) &&
	    set(o, "complete", json_boolean(ptc_verdict_thread_complete(t))) &&
	    set(o, "branches", ptc_json_uint(t->branches)) &&
	    set(o, "instructions", of_software ? ptc_json_uint(t->insns) : json_null()) &&
	    set(o, "first_ns",
		t->first_ns == PTC_NO_TIME ? json_null() : ptc_json_uint(t->first_ns)) &&
	    set(o, "last_ns",
		t->last_ns == PTC_NO_TIME ? json_null() : ptc_json_uint(t->last_ns)) &&
	    set(o, "gaps", ptc_json_uint(t->gaps)) &&
	    set(o, "gap_bytes", ptc_json_uint(t->gap_bytes)) &&
	    set(o, "cause", t->gaps ? json_string(ptc_gap_name(t->cause)) : json_null()) &&
	    set(o, "moved_cpu", t->moved_cpu < 0 ? json_null() : json_integer(t->moved_cpu)) &&
	    set(o, "moved_ns",
		t->moved_cpu < 0 || t->moved_ns == PTC_NO_TIME ? json_null() :
								 ptc_json_uint(t->moved_ns)))
		return o;
	json_decref(o);
	return NULL;
}

/* Snapshots only: returns the coverage of each thread. */
static json_t *make_newest(const struct ptc_info *i)
{
	const struct ptc_verdict *v = &i->verdict;
	json_t *o, *a;
	size_t n;

	if (!i->has_verdict)
		return json_null();
	a = json_array();
	for (n = 0; a && n < v->n; n++) {
		if (!json_array_append_new(a, make_thread(&v->threads[n], v->of_software)))
			continue;
		json_decref(a);
		a = NULL;
	}
	o = json_object();
	if (set(o, "complete", json_boolean(ptc_verdict_complete(v))) &&
	    set(o, "unplaced_gaps", ptc_json_uint(v->unplaced)) &&
	    set(o, "lost_records", ptc_json_uint(v->lost_records)) &&
	    set(o, "silent_threads", ptc_json_uint(v->silent)) && set(o, "threads", a))
		return o;
	json_decref(o);
	return NULL;
}

bool ptc_info_json(const struct ptc_info *info)
{
	json_t *o = json_object();
	char *s = NULL;

	if (set(o, "schema", json_string("ptcap-info")) && set(o, "version", json_integer(1)) &&
	    set(o, "file", make_file(info)) && set(o, "bundle", ptc_info_bundle_json(info->file)) &&
	    set(o, "host", make_host(info)) && set(o, "writer", text_or_null(info->version)) &&
	    set(o, "software_source", text_or_null(info->cpu.software)) &&
	    set(o, "cmdline", make_cmdline(info)) && set(o, "events", make_events(info)) &&
	    set(o, "time", make_time(info)) && set(o, "intel_pt", make_pt(info)) &&
	    set(o, "queues", make_queues(info)) && set(o, "records", make_records(info)) &&
	    set(o, "losses", make_losses(info)) && set(o, "ledger", make_ledger(info)) &&
	    set(o, "crash", make_crash(info)) && set(o, "states", ptc_json_uint(info->states)) &&
	    set(o, "pmus", make_pmus(info)) && set(o, "pmu_caps", make_caps(info)) &&
	    set(o, "compression", make_compression(info)) && set(o, "clock", make_clock(info)) &&
	    set(o, "features", make_features(info)) &&
	    set(o, "code_bytes", ptc_json_uint(info->code_bytes)) &&
	    set(o, "decode", make_survey(info)) && set(o, "newest", make_newest(info)))
		s = ptc_json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	if (s)
		printf("%s\n", s);
	free(s);
	return s != NULL;
}
