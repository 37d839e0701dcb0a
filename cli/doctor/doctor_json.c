/* SPDX-License-Identifier: MIT */
/* `ptcap doctor --format json`: doc/json.md. */
#include <stdio.h>

#include "cli/common/field_writer.h"
#include "cli/doctor/doctor_out.h"

static void put_checks(struct ptc_emit *e, const char *list, const char *name,
		       const struct ptc_check *checks, size_t n)
{
	size_t i;

	ptc_emit_rows(e, list);
	for (i = 0; i < n; i++) {
		ptc_emit_row(e);
		ptc_emit_text(e, name, checks[i].name);
		ptc_emit_word(e, "state", ptc_check_state_name(checks[i].state));
		ptc_emit_text(e, "value", checks[i].value);
		ptc_emit_text(e, "mend", *checks[i].mend ? checks[i].mend : NULL);
		ptc_emit_end(e);
	}
	ptc_emit_end(e);
}

static void put_costs(struct ptc_emit *e, const struct ptc_costs *c)
{
	ptc_emit_object(e, "measured");
	if (c->emu_per_second)
		ptc_emit_u64(e, "emu_instructions_per_second", c->emu_per_second);
	if (c->step_per_second)
		ptc_emit_u64(e, "step_instructions_per_second", c->step_per_second);
	ptc_emit_end(e);
}

static void put_rings(struct ptc_emit *e, const struct ptc_ring_sizes *s)
{
	ptc_emit_object(e, "largest_rings");
	ptc_emit_u64(e, "data", s->data);
	ptc_emit_u64(e, "aux", s->aux);
	ptc_emit_end(e);
}

static void put_target(struct ptc_emit *e, const struct ptc_target *t,
		       const struct ptc_check *files)
{
	ptc_emit_object(e, "process");
	ptc_emit_u64(e, "pid", (uint64_t)t->pid);
	ptc_emit_text(e, "name", t->comm);
	ptc_emit_u64(e, "threads", t->threads);
	if (files)
		put_checks(e, "files", "file", files, t->nfiles);
	if (t->more_files)
		ptc_emit_bool(e, "more_files", true);
	ptc_emit_end(e);
}

bool ptc_doctor_json(const struct ptc_doctor *d, const struct ptc_check *files)
{
	struct ptc_emit e = { .json = true };

	ptc_emit_object(&e, NULL);
	ptc_emit_word(&e, "schema", "ptcap-doctor");
	ptc_emit_u64(&e, "version", 1);
	ptc_emit_word(&e, "verdict", ptc_doctor_verdict_name(d->verdict));
	put_checks(&e, "checks", "name", d->checks, d->n);
	put_checks(&e, "commands", "command", d->commands, d->ncommands);
	if (d->target.pid)
		put_target(&e, &d->target, files);
	put_rings(&e, &d->rings);
	put_costs(&e, &d->costs);
	ptc_emit_end(&e);
	putchar('\n');
	return !e.failed;
}
