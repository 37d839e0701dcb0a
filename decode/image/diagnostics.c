/* SPDX-License-Identifier: MIT */
#include "decode/image/diagnostics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "base/budget.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "base/terminal_escape.h"
#include "decode/elf/symtab.h"
#include "decode/image/addrspace.h"
#include "decode/image/kernel.h"

struct ptc_note {
	char *line;	      /* owned */
	struct ptc_missing m; /* strings are lent from files, or from here */
	char id[2 * PTC_BUILD_ID_MAX + 1], found_id[2 * PTC_BUILD_ID_MAX + 1];
};

/* Returns the collected cost of @file. Out of memory: the cost of addresses in no mapping. */
static struct ptc_cost *aside_of(struct ptc_notes *n, struct ptc_codefile *file)
{
	struct ptc_cost_aside *a;

	for (a = n->aside; a; a = a->next)
		if (a->file == file)
			return &a->cost;
	a = calloc(1, sizeof(*a));
	if (!a)
		return &n->unmapped.cost;
	a->file = file;
	a->next = n->aside;
	n->aside = a;
	return &a->cost;
}

/* Keeps the first gap, by time and queue, for the report. */
static void note_ip(struct ptc_cost_nowhere *c, uint64_t ip, struct ptc_note_at at)
{
	if (c->cost.gaps && (c->time < at.time || (c->time == at.time && c->queue <= at.queue)))
		return;
	c->ip = ip;
	c->time = at.time;
	c->queue = at.queue;
}

static struct ptc_cost *cost_of(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip,
				struct ptc_note_at at)
{
	const struct ptc_range *r = ptc_addrspace_find(as, ip);
	struct ptc_cost_nowhere *c = ip >> 63 ? &n->kernel : &n->unmapped;

	if (r && r->file)
		return n->apart ? aside_of(n, r->file) : &r->file->cost;
	note_ip(c, ip, at);
	return &c->cost;
}

struct ptc_cost *ptc_notes_nocode(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip,
				  struct ptc_note_at at)
{
	struct ptc_cost *c = cost_of(n, as, ip, at);

	c->gaps++;
	return c;
}

static void add_cost(struct ptc_cost *to, const struct ptc_cost *c)
{
	to->gaps += c->gaps;
	to->bytes += c->bytes;
	to->branches += c->branches;
}

static void take_nowhere(struct ptc_cost_nowhere *to, const struct ptc_cost_nowhere *c)
{
	if (c->cost.gaps)
		note_ip(to, c->ip, (struct ptc_note_at){ c->time, c->queue });
	add_cost(&to->cost, &c->cost);
}

void ptc_notes_take(struct ptc_notes *n, const struct ptc_notes *part)
{
	const struct ptc_cost_aside *a;

	take_nowhere(&n->unmapped, &part->unmapped);
	take_nowhere(&n->kernel, &part->kernel);
	if (!n->late_code)
		n->late_ip = part->late_ip;
	n->late_code += part->late_code;
	for (a = part->aside; a; a = a->next)
		add_cost(n->apart ? aside_of(n, a->file) : &a->file->cost, &a->cost);
}

bool ptc_notes_are_any(const struct ptc_notes *n)
{
	return n->unmapped.cost.gaps || n->kernel.cost.gaps || n->aside || n->late_code;
}

/*
 * Number of branches in a packet. TNT: the highest set bit ends the bits; the short packet has one
 * header bit, bit 0.
 */
static unsigned int branches_of(enum ptc_pkt type, const uint8_t *p)
{
	switch (type) {
	case PTC_PKT_TNT:
		return 30u - (unsigned int)__builtin_clz(*p);
	case PTC_PKT_TNT64:
		return 63u - (unsigned int)__builtin_clzll(ptc_le64(p) >> 16 | 1);
	case PTC_PKT_TIP:
	case PTC_PKT_TIP_PGE:
	case PTC_PKT_TIP_PGD:
		return 1;
	default:
		return 0;
	}
}

void ptc_cost_add(struct ptc_cost *c, const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	enum ptc_pkt type;
	int n;

	c->bytes += len;
	while (bytes != end) {
		n = ptc_pkt_len(bytes, (size_t)(end - bytes), &type);
		if (n > 0)
			c->branches += branches_of(type, bytes);
		bytes += n > 0 ? n : 1;
	}
}

/* Adds a note. Out of memory: drops the note and returns NULL. */
static struct ptc_note *__attribute__((format(printf, 2, 0)))
add_va(struct ptc_notes *n, const char *fmt, va_list ap)
{
	struct ptc_note *note;
	char *text, *s;

	if (!ptc_grow(&n->notes, &n->cap, n->n + 1, sizeof(*n->notes)) ||
	    vasprintf(&text, fmt, ap) < 0)
		return NULL;
	s = ptc_plain_dup(text); /* names come from the recording, which is untrusted */
	free(text);
	if (!s)
		return NULL;
	note = &n->notes[n->n++];
	*note = (struct ptc_note){ .line = s };
	return note;
}

static struct ptc_note *__attribute__((format(printf, 2, 3)))
append_note(struct ptc_notes *n, const char *fmt, ...)
{
	struct ptc_note *note;
	va_list ap;

	va_start(ap, fmt);
	note = add_va(n, fmt, ap);
	va_end(ap);
	return note;
}

void ptc_notes_add(struct ptc_notes *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)add_va(n, fmt, ap);
	va_end(ap);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Writes, for example, ": 3 gaps, at least 17 branches". */
static void put_cost(char *out, size_t size, const struct ptc_cost *c)
{
	*out = '\0';
	if (c->gaps && c->branches)
		(void)snprintf(out, size, ": %" PRIu64 " gap%s, at least %" PRIu64 " branch%s",
			       c->gaps, plural(c->gaps), c->branches, c->branches == 1 ? "" : "es");
	else if (c->gaps)
		(void)snprintf(out, size, ": %" PRIu64 " gap%s", c->gaps, plural(c->gaps));
}

static const char *hint_of(const struct ptc_codefile *f)
{
	if (f->changed)
		return "the file changed while it was read";
	if (f->unreadable)
		return "the file could not be read, or is too large";
	if (f->bytes)
		return "the file does not hold all the code that ran";
	if (!strcmp(f->name, "[vdso]"))
		return "only the kernel that recorded has it; its perf saves a copy in ~/.debug";
	if (f->bpf)
		return "JITed code of a BPF program is not in the recording";
	if (f->kernel)
		return ptc_kernel_is_image(f->name) ?
			       "the kernel: record --kcore keeps it, a copy is "
			       "taken with --kcore, or --vmlinux" :
			       "of the kernel, which changes what it loads: "
			       "record --kcore keeps it, a copy is taken "
			       "with --kcore";
	if (f->anonymous)
		return "it is in no file; a core of the process may have it: --core";
	if (f->special)
		return "the name is that of a FIFO, a device or the like now, which ptcap does not "
		       "open; --symfs DIR if you have the file elsewhere";
	if (f->other_path)
		return "the file there is another one; --symfs, or perf's build-id cache";
	return "--symfs DIR if you have it elsewhere, or perf's build-id cache";
}

static struct ptc_note *add_missing(struct ptc_notes *n, const char *name,
				    const struct ptc_cost *cost, const char *detail,
				    const char *hint)
{
	struct ptc_note *note;
	char words[96];

	put_cost(words, sizeof(words), cost);
	if (!ptc_grow(&n->missing, &n->missing_cap, n->nmissing + 1, sizeof(*n->missing)))
		return NULL;
	note = append_note(n, "no code for %s%s%s; %s", name, detail, words, hint);
	if (!note)
		return NULL;
	n->missing[n->nmissing++] = n->n - 1;
	note->m = (struct ptc_missing){
		.hint = hint, .gaps = cost->gaps, .bytes = cost->bytes, .branches = cost->branches
	};
	return note;
}

static void add_file(struct ptc_notes *n, const struct ptc_codefile *f)
{
	char id[2 * PTC_BUILD_ID_MAX + 1], other[2 * PTC_BUILD_ID_MAX + 1];
	struct ptc_note *note;
	char *name, *detail;

	ptc_build_id_hex(&f->id, id);
	ptc_build_id_hex(&f->other_id, other);
	name = NULL;
	detail = NULL;
	if (asprintf(&name, "'%s'", f->name) < 0)
		return;
	if (!*id)
		detail =
			strdup(f->other_path ? " (no build-id; its inode is another one now)" : "");
	else if (asprintf(&detail, " (build-id %s%s%s%s)", id,
			  f->other_path ? (*other ? "; it has " : "; it has no build-id") : "",
			  f->other_path ? other : "", f->other_path ? " now" : "") < 0)
		detail = NULL;
	note = detail ? add_missing(n, name, &f->cost, detail, hint_of(f)) : NULL;
	free(name);
	free(detail);
	if (!note)
		return;
	note->m.file = f->name;
	memcpy(note->id, id, sizeof(id));
	memcpy(note->found_id, other, sizeof(other));
	note->m.found_path = f->other_path;
}

/* Returns true if @f deserves a line. */
static bool is_missing(const struct ptc_notes *n, const struct ptc_codefile *f)
{
	if (f->cost.gaps)
		return true;
	/* A loaded BPF program need not have run. It is missing only if it ran. */
	if (!n->all || f->bpf || f->in_core || f->from == PTC_CODE_GIVEN)
		return false;
	return f->unreadable || (!f->bytes && !(f->saved && f->name[0] != '/'));
}

/* Adds notes on files used from another place, and on files used without a check. */
static void add_assumed(struct ptc_notes *n, const struct ptc_codefiles *files)
{
	char is[2 * PTC_BUILD_ID_MAX + 1], was[2 * PTC_BUILD_ID_MAX + 1];
	const char *first = NULL;
	uint64_t more = 0;
	size_t i;

	for (i = 0; i < files->n; i++) {
		const struct ptc_codefile *f = files->files[i];

		if (f->bytes && f->path && f->other_path) {
			ptc_build_id_hex(&f->id, was);
			ptc_build_id_hex(&f->other_id, is);
			append_note(n, "'%s' has build-id %s, not %s as recorded: '%s' is used",
				    f->other_path, *is ? is : "(none)", was, f->path);
		}
		if (f->from == PTC_CODE_SAVED)
			append_note(n,
				    "'%s' was gone or another file when the recording ended: its "
				    "code is in the recording, its names are not",
				    f->name);
		if (f->kernel && f->other_path && f->syms_tried && !f->syms) {
			ptc_build_id_hex(&f->id, was);
			ptc_build_id_hex(&f->other_id, is);
			append_note(n, "no names of '%s': '%s' has build-id %s, not %s as recorded",
				    f->name, f->other_path, *is ? is : "(none)", was);
		}
		if (f->syms && f->syms->unusable_go)
			append_note(n,
				    "no names and source lines of '%s': Go's table of them "
				    "(.gopclntab) is damaged, or of a version that is not known",
				    f->name);
		if (!f->assumed || (f->from == PTC_CODE_OWN && f->saved))
			continue;
		if (!first)
			first = f->name;
		else
			more++;
	}
	if (more)
		append_note(n,
			    "assumed: '%s' and %" PRIu64
			    " other file%s are as they were: the recording has "
			    "no build-id of them",
			    first, more, plural(more));
	else if (first)
		append_note(n, "assumed: '%s' is as it was: the recording has no build-id of it",
			    first);
}

/* Converts to MiB, rounded up. */
static uint64_t mebibytes(uint64_t n)
{
	return (n >> 20) + ((n & 0xfffff) != 0);
}

/* Adds a note for each file that the memory budget was too small for. */
static void add_left_out(struct ptc_notes *n, const struct ptc_omitted_data *l)
{
	const uint64_t limit = ptc_budget_limit();
	char needs[48];
	size_t i;

	for (i = n->nleft; i < l->n; i++) {
		(void)snprintf(needs, sizeof(needs), "%" PRIu64 " MiB", mebibytes(l->v[i].bytes));
		append_note(
			n,
			"left out: the %s of '%s': it needs %s, and the memory budget is %" PRIu64
			" MiB (--max-memory)",
			l->v[i].what, l->v[i].file, l->v[i].bytes ? needs : "more than is left",
			mebibytes(limit));
	}
	n->nleft = l->n;
}

static void make_diagnostic_notes(struct ptc_notes *n, const struct ptc_codefiles *files)
{
	struct ptc_note *note;
	char words[96];
	size_t i;

	n->made = true;
	for (i = 0; i < files->n; i++)
		if (is_missing(n, files->files[i]))
			add_file(n, files->files[i]);
	if (n->unmapped.cost.gaps) {
		put_cost(words, sizeof(words), &n->unmapped.cost);
		append_note(n, "no mapping is known at 0x%" PRIx64 "%s%s", n->unmapped.ip,
			    n->unmapped.cost.gaps > 1 ? " and other addresses" : "", words);
	}
	if (n->kernel.cost.gaps) {
		(void)snprintf(words, sizeof(words), " (first at 0x%" PRIx64 ")", n->kernel.ip);
		note = add_missing(n, "the kernel", &n->kernel.cost, words,
				   "--kcore, or --vmlinux");
		if (note)
			note->m.file = "[kernel.kallsyms]";
	}
	if (n->lost_records)
		append_note(n, "%" PRIu64 " record%s were lost while recording", n->lost_records,
			    plural(n->lost_records));
	if (n->late_code)
		append_note(n,
			    "assumed: code at 0x%" PRIx64
			    "%s ran when it was mapped: the trace tells no "
			    "time in between",
			    n->late_ip, n->late_code > 1 ? " and other addresses" : "");
	if (n->alone)
		append_note(n,
			    "assumed: thread %" PRId32
			    " is the first of its process: no record says so",
			    n->alone);
	for (i = 0; n->extra && n->extra[i]; i++)
		append_note(n, "%s", n->extra[i]);
	add_assumed(n, files);
}

void ptc_notes_late_code(struct ptc_notes *n, uint64_t ip)
{
	if (!n->late_code++)
		n->late_ip = ip;
}

const char *ptc_notes_line(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i)
{
	if (!n->made)
		make_diagnostic_notes(n, files);
	add_left_out(n, &files->left);
	return i < n->n ? n->notes[i].line : NULL;
}

bool ptc_notes_missing(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i,
		       struct ptc_missing *ret)
{
	struct ptc_note *note;

	if (!n->made)
		make_diagnostic_notes(n, files);
	if (i >= n->nmissing)
		return false;
	note = &n->notes[n->missing[i]];
	/* The array may have moved since the note was written, so set pointers into it now. */
	note->m.build_id = note->id;
	note->m.found_id = note->m.found_path ? note->found_id : NULL;
	*ret = note->m;
	return true;
}

void ptc_notes_release(struct ptc_notes *n)
{
	struct ptc_cost_aside *next;
	size_t i;

	for (; n->aside; n->aside = next) {
		next = n->aside->next;
		free(n->aside);
	}
	for (i = 0; i < n->n; i++)
		free(n->notes[i].line);
	free(n->notes);
	free(n->missing);
	n->notes = NULL;
	n->missing = NULL;
	n->n = n->cap = n->nmissing = n->missing_cap = 0;
	n->nleft = 0;
	n->made = false;
}
