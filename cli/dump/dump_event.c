/* SPDX-License-Identifier: MIT */
/* Print an event: all non-zero fields of its perf_event_attr. */
#include "cli/dump/dump_event.h"

#include <stdio.h>
#include <string.h>

#include "cli/dump/abi_fields.h"
#include "cli/dump/dump_emit.h"

/* Fields whose values or bits have names, and fields that are addresses or masks. */
static const struct {
	const char *field;
	const struct ptc_names *names; /* NULL: hex */
	bool bits;
} shown[] = {
	{ "type", &ptc_names_type, false },
	{ "config", NULL, false },
	{ "sample_type", &ptc_names_sample_type, true },
	{ "read_format", &ptc_names_read_format, true },
	{ "branch_sample_type", &ptc_names_branch_sample_type, true },
	{ "bp_addr", NULL, false },
	{ "config1", NULL, false },
	{ "config2", NULL, false },
	{ "config3", NULL, false },
	{ "config4", NULL, false },
	{ "sample_regs_user", NULL, false },
	{ "sample_regs_intr", NULL, false },
	{ "sig_data", NULL, false },
};

/* Return whether this name of a union's field applies to the event. */
static bool applies(const struct perf_event_attr *a, const struct ptc_field *f)
{
	const bool is_bp = a->type == PERF_TYPE_BREAKPOINT;

	if (!strcmp(f->name, "sample_freq"))
		return a->freq;
	if (!strcmp(f->name, "sample_period"))
		return !a->freq;
	if (!strcmp(f->name, "wakeup_watermark"))
		return a->watermark;
	if (!strcmp(f->name, "wakeup_events"))
		return !a->watermark;
	if (!strcmp(f->name, "bp_addr") || !strcmp(f->name, "bp_len"))
		return is_bp;
	if (!strcmp(f->name, "config1") || !strcmp(f->name, "config2"))
		return !is_bp;
	return !f->alias;
}

static void emit_field(struct ptc_emit *e, const struct ptc_field *f, uint64_t v)
{
	size_t i;

	for (i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (strcmp(f->name, shown[i].field) != 0)
			continue;
		if (!shown[i].names)
			ptc_emit_hex(e, f->name, v);
		else if (shown[i].bits)
			ptc_emit_bits(e, f->name, v, shown[i].names);
		else
			ptc_emit_named(e, f->name, v, shown[i].names);
		return;
	}
	if (f->is_signed)
		ptc_emit_i64(e, f->name, (int64_t)v);
	else
		ptc_emit_u64(e, f->name, v);
}

void ptc_dump_attr(struct ptc_emit *e, const struct perf_event_attr *a)
{
	const struct ptc_fields *t = &ptc_fields_attr;
	size_t i;

	ptc_emit_object(e, "attr");
	for (i = 0; i < t->n; i++) {
		const struct ptc_field *f = &t->list[i];
		const uint64_t v = ptc_field_get(f, a);
		/* These three are meaningful when 0. */
		const bool always = !strcmp(f->name, "type") || !strcmp(f->name, "config") ||
				    !strcmp(f->name, "size");

		if ((v || always) && applies(a, f))
			emit_field(e, f, v);
	}
	ptc_emit_end(e);
}

static void emit_ids(struct ptc_emit *e, const uint64_t *ids, size_t n)
{
	size_t i;

	ptc_emit_list(e, "ids");
	for (i = 0; i < n; i++)
		ptc_emit_u64(e, NULL, ids[i]);
	ptc_emit_end(e);
}

void ptc_dump_event(struct ptc_emit *e, const struct ptc_file *f, size_t i)
{
	const struct ptc_file_attr *a = ptc_file_attr(f, i);

	ptc_emit_object(e, NULL);
	if (e->json) {
		ptc_emit_word(e, "type", "event");
		ptc_emit_u64(e, "index", i);
	} else {
		printf("# event %zu:", i);
	}
	ptc_dump_attr(e, &a->attr);
	if (a->name)
		ptc_emit_text(e, "name", a->name);
	if (a->unit)
		ptc_emit_text(e, "unit", a->unit);
	if (e->json || a->unknown_bytes)
		ptc_emit_bool(e, "unknown_bytes", a->unknown_bytes);
	emit_ids(e, a->ids, a->nids);
	ptc_emit_end(e);
	printf("\n");
}
