/* SPDX-License-Identifier: MIT */
#include "decode/lbr/program_match.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/terminal_escape.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_lookup.h"

enum { PROGRAMS = 256, NAME = 40, ID_TEXT = 2 * PTC_BUILD_ID_MAX + 1 };

struct program {
	char name[NAME]; /* last part of its path */
	struct ptc_build_id id;
};

/* The programs of a recording. */
struct programs {
	struct program items[PROGRAMS];
	size_t n;
	struct ptc_idmap pids; /* processes with a program; the place is unused */
};

static bool is_same_program(const struct program *a, const struct program *b)
{
	return ptc_build_id_same(&a->id, &b->id);
}

static void add_program(struct programs *ps, const char *path, const struct ptc_build_id *id)
{
	const char *slash = strrchr(path, '/');
	struct program p = { .id = *id };
	size_t i;

	ptc_plain_copy(p.name, sizeof(p.name), slash ? slash + 1 : path);
	for (i = 0; i < ps->n; i++)
		if (is_same_program(&ps->items[i], &p))
			return;
	if (ps->n < PROGRAMS)
		ps->items[ps->n++] = p;
}

/* Takes a mapping of code. @places: NULL, or the files to mark. Returns false if out of memory. */
static bool take_mapping(struct programs *ps, const struct ptc_sideband *sideband,
			 const struct ptc_sb_mmap *m, bool *fresh, struct ptc_flow_places *places)
{
	const struct ptc_build_id *id = ptc_sideband_id(sideband, m);
	const size_t object = places && id ? ptc_flow_object(places, id, true) : 0;

	if (object)
		places->objects[object - 1].other = true;
	if (m->filename[0] != '/' || !(m->prot & PROT_EXEC) || m->pid <= 0)
		return true;
	if (!*fresh && ptc_idmap_find(&ps->pids, m->pid) != SIZE_MAX)
		return true;
	*fresh = false;
	if (id && id->len)
		add_program(ps, m->filename, id);
	return ptc_idmap_find(&ps->pids, m->pid) != SIZE_MAX || ptc_idmap_add(&ps->pids, m->pid, 0);
}

static int read_programs(const struct ptc_decode *d, struct programs *ps,
			 struct ptc_flow_places *places, struct ptc_err *err)
{
	const struct ptc_decode_input *in = ptc_decode_input(d);
	int32_t execed = 0; /* the process of the last exec; its next mapping is its program */
	struct ptc_rec rec;
	struct ptc_sb sb;
	uint64_t pos = 0;
	int rc;

	while ((rc = ptc_file_next(in->file, &pos, &rec, err)) > 0) {
		bool fresh;

		rc = ptc_sb_parse(&rec, ptc_file_trailer_type(in->file, &rec), &sb, err);
		if (rc < 0)
			return ptc_file_err_name(in->file, err);
		if (rc && sb.type == PERF_RECORD_COMM && sb.misc & PERF_RECORD_MISC_COMM_EXEC)
			execed = sb.u.comm.pid;
		if (!rc || (sb.type != PERF_RECORD_MMAP2 && sb.type != PERF_RECORD_MMAP))
			continue;
		fresh = execed && execed == sb.u.mmap.pid;
		if (!take_mapping(ps, &in->sideband, &sb.u.mmap, &fresh, places))
			return ptc_fail_mem(err);
		if (execed == sb.u.mmap.pid && !fresh)
			execed = 0;
	}
	return rc;
}

static void id_text(char text[ID_TEXT], const struct ptc_build_id *id)
{
	size_t i;

	text[0] = '\0';
	for (i = 0; i < id->len && i < 8; i++) /* enough to tell builds apart */
		(void)snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}

static int refuse_programs(const struct programs *a, const struct programs *b, struct ptc_err *err)
{
	char id_a[ID_TEXT], id_b[ID_TEXT];
	size_t i, k;

	if (!a->n || !b->n)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"the %s recording names no program with a build-id",
				a->n ? "second" : "first");
	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (!strcmp(a->items[i].name, b->items[k].name)) {
				id_text(id_a, &a->items[i].id);
				id_text(id_b, &b->items[k].id);
				return ptc_fail(err, PTC_E_NOT_EXIST,
						"'%s' is another build in the second recording: "
						"build-id %s, not %s",
						a->items[i].name, id_b, id_a);
			}
	return ptc_fail(err, PTC_E_NOT_EXIST,
			"the recordings are of different programs: '%s' and '%s'", a->items[0].name,
			b->items[0].name);
}

static bool has_common(const struct programs *a, const struct programs *b)
{
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < b->n; k++)
			if (is_same_program(&a->items[i], &b->items[k]))
				return true;
	return false;
}

int ptc_program_match(const struct ptc_decode *a, const struct ptc_decode *b,
		      struct ptc_flow_places *places, struct ptc_err *err)
{
	struct programs *ps = calloc(2, sizeof(*ps));
	int rc;

	if (!ps)
		return ptc_fail_mem(err);
	rc = read_programs(a, &ps[0], NULL, err);
	if (!rc)
		rc = read_programs(b, &ps[1], places, err);
	if (!rc && !has_common(&ps[0], &ps[1]))
		rc = refuse_programs(&ps[0], &ps[1], err);
	ptc_idmap_release(&ps[0].pids);
	ptc_idmap_release(&ps[1].pids);
	free(ps);
	return rc;
}
