/* SPDX-License-Identifier: MIT */
/* `ptcap doctor --format json`: doc/json.md. */
#include <stdio.h>

#include "cli/common/field_writer.h"
#include "cli/doctor/doctor_out.h"

/* Puts a row. @name: the key of the name. */
static void put_check(struct ptc_emit *e, const char *name, const struct ptc_doctor_check *c)
{
	ptc_emit_row(e);
	ptc_emit_text(e, name, c->name);
	ptc_emit_word(e, "state", ptc_check_state_name(c->state));
	ptc_emit_text(e, "value", c->value);
	ptc_emit_text(e, "mend", *c->mend ? c->mend : NULL);
	ptc_emit_end(e);
}

static void put_machine(struct ptc_emit *e, const struct ptc_doctor *d)
{
	size_t i;

	ptc_emit_rows(e, "checks");
	for (i = 0; i < ptc_doctor_nchecks(d); i++)
		put_check(e, "name", ptc_doctor_check(d, i));
	ptc_emit_end(e);
	ptc_emit_rows(e, "commands");
	for (i = 0; i < ptc_doctor_ncommands(d); i++)
		put_check(e, "command", ptc_doctor_command(d, i));
	ptc_emit_end(e);
}

static void put_costs(struct ptc_emit *e, const struct ptc_doctor_costs *c)
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

static void put_target(struct ptc_emit *e, const struct ptc_doctor *d,
		       const struct ptc_file_check *files)
{
	const struct ptc_doctor_process *p = ptc_doctor_process(d);
	size_t i;

	ptc_emit_object(e, "process");
	ptc_emit_u64(e, "pid", (uint64_t)p->pid);
	ptc_emit_text(e, "name", p->name);
	ptc_emit_u64(e, "threads", p->threads);
	if (files) {
		ptc_emit_rows(e, "files");
		for (i = 0; i < ptc_doctor_nfiles(d); i++)
			put_check(e, "file", &files[i].check);
		ptc_emit_end(e);
	}
	if (p->more_files)
		ptc_emit_bool(e, "more_files", true);
	ptc_emit_end(e);
}

bool ptc_doctor_json(const struct ptc_doctor *d, const struct ptc_file_check *files)
{
	struct ptc_emit e = { .json = true };

	ptc_emit_object(&e, NULL);
	ptc_emit_word(&e, "schema", "ptcap-doctor");
	ptc_emit_u64(&e, "version", 1);
	ptc_emit_word(&e, "verdict", ptc_doctor_verdict_name(ptc_doctor_verdict(d)));
	put_machine(&e, d);
	if (ptc_doctor_process(d))
		put_target(&e, d, files);
	put_rings(&e, ptc_doctor_rings(d));
	put_costs(&e, ptc_doctor_costs(d));
	ptc_emit_end(&e);
	putchar('\n');
	return !e.failed;
}
