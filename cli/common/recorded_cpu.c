/* SPDX-License-Identifier: MIT */
#include "cli/common/recorded_cpu.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "ptcap/feature.h"
#include "ptcap/lookup.h"

enum { SHOWN = 3 }; /* microcodes in a line */

static void copy_string(char *to, size_t size, const struct ptc_file *f, unsigned int bit)
{
	const char *text;
	struct ptc_cur c;

	*to = '\0';
	if (ptc_file_feature(f, bit, &c, NULL) && ptc_feature_get_string(&c, &text))
		(void)snprintf(to, size, "%.*s", (int)size - 1, text);
}

void ptc_recorded_cpu_header(struct ptc_recorded_cpu *c, const struct ptc_file *f)
{
	copy_string(c->model, sizeof(c->model), f, PTC_FEAT_CPUDESC);
	copy_string(c->cpuid, sizeof(c->cpuid), f, PTC_FEAT_CPUID);
	c->software = ptc_file_software_source(f);
}

void ptc_recorded_cpu_add(struct ptc_recorded_cpu *c, const struct ptc_rec *rec)
{
	struct ptc_ledger_processor p;
	struct ptc_err ignored;
	struct ptc_ledger l;

	if (ptc_ledger_parse(rec, &l, &ignored) != 1)
		return;
	while (ptc_ledger_next_processor(&l, &p)) {
		if (c->n < PTC_RECORDED_CPU_KINDS)
			c->kinds[c->n++] = p;
		else
			c->beyond++;
	}
}

void ptc_recorded_cpu_read(struct ptc_recorded_cpu *c, const struct ptc_file *f)
{
	struct ptc_err ignored;
	struct ptc_rec rec;
	uint64_t pos = 0;

	ptc_recorded_cpu_header(c, f);
	while (ptc_file_next(f, &pos, &rec, &ignored) > 0)
		if (rec.type == PTC_REC_HEADER_EVENT_TYPE)
			ptc_recorded_cpu_add(c, &rec);
}

/* Gets the different known microcodes, in order. Returns their number. */
static size_t microcodes_of(const struct ptc_recorded_cpu *c, uint64_t ret[PTC_RECORDED_CPU_KINDS])
{
	size_t i, k, n = 0;

	for (i = 0; i < c->n; i++) {
		for (k = 0; k < n && ret[k] != c->kinds[i].microcode; k++)
			;
		if (k == n && c->kinds[i].microcode)
			ret[n++] = c->kinds[i].microcode;
	}
	return n;
}

void ptc_recorded_cpu_microcode(const struct ptc_recorded_cpu *c, char text[PTC_RECORDED_CPU_TEXT])
{
	uint64_t codes[PTC_RECORDED_CPU_KINDS];
	const size_t n = microcodes_of(c, codes);
	int at = snprintf(text, PTC_RECORDED_CPU_TEXT, "microcode");
	size_t i;

	for (i = 0; i < n && i < SHOWN; i++)
		at += snprintf(text + at, PTC_RECORDED_CPU_TEXT - (size_t)at, "%s 0x%" PRIx64,
			       i ? "," : "", codes[i]);
	if (n > SHOWN)
		(void)snprintf(text + at, PTC_RECORDED_CPU_TEXT - (size_t)at, ", %zu more",
			       n - SHOWN);
	if (!n)
		(void)snprintf(text + at, PTC_RECORDED_CPU_TEXT - (size_t)at, " unknown");
}

void ptc_recorded_cpu_show_kinds(FILE *out, const char *prefix, const struct ptc_recorded_cpu *c)
{
	size_t i;

	if (c->n < 2)
		return;
	for (i = 0; i < c->n; i++) {
		const struct ptc_ledger_processor *p = &c->kinds[i];

		fprintf(out,
			"%s %" PRIu64 " CPU%s from %" PRIu64 ": family %" PRIu64 " model %" PRIu64
			" stepping %" PRIu64,
			prefix, p->cpus, ptc_plural(p->cpus), p->cpu, p->family, p->model,
			p->stepping);
		if (p->microcode)
			fprintf(out, " microcode 0x%" PRIx64, p->microcode);
		fprintf(out, "\n");
	}
	if (c->beyond)
		fprintf(out, "%s %" PRIu64 " more kind%s\n", prefix, c->beyond,
			ptc_plural(c->beyond));
}

json_t *ptc_recorded_cpu_microcode_json(const struct ptc_recorded_cpu *c)
{
	uint64_t codes[PTC_RECORDED_CPU_KINDS];
	const size_t n = microcodes_of(c, codes);
	json_t *a = json_array();
	char text[24];
	size_t i;

	for (i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "0x%" PRIx64, codes[i]);
		if (json_array_append_new(a, json_string(text))) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}
