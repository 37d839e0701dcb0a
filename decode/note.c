/* SPDX-License-Identifier: MIT */
#include "decode/note.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/addrspace.h"
#include "decode/codefile.h"
#include "decode/grow.h"

void ptc_notes_nocode(struct ptc_notes *n, const struct ptc_addrspace *as, uint64_t ip)
{
	const struct ptc_range *r = ptc_addrspace_find(as, ip);

	if (r && r->file) {
		r->file->gaps++;
	} else if (ip >> 63) {
		if (!n->kernel++)
			n->kernel_ip = ip;
	} else {
		if (!n->unmapped++)
			n->unmapped_ip = ip;
	}
}

void ptc_notes_add(struct ptc_notes *n, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int r;

	if (!ptc_grow(&n->lines, &n->cap, n->n + 1, sizeof(*n->lines)))
		return;
	va_start(ap, fmt);
	r = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (r >= 0)
		n->lines[n->n++] = s;
}

static const char *gaps(uint64_t n)
{
	return n == 1 ? "gap" : "gaps";
}

static void make(struct ptc_notes *n, const struct ptc_codefiles *files)
{
	char hex[2 * PTC_BUILD_ID_MAX + 1];
	size_t i;

	for (i = 0; i < files->n; i++) {
		const struct ptc_codefile *f = files->files[i];

		if (!f->gaps)
			continue;
		if (f->bytes) {
			ptc_notes_add(n, "'%s' does not hold all the code that ran: %" PRIu64 " %s",
				      f->name, f->gaps, gaps(f->gaps));
			continue;
		}
		ptc_build_id_hex(&f->id, hex);
		ptc_notes_add(n, "no code for '%s'%s%s%s: %" PRIu64 " %s", f->name,
			      f->id.len ? " (build-id " : "", f->id.len ? hex : "",
			      f->id.len ? ")" : "", f->gaps, gaps(f->gaps));
	}
	if (n->unmapped)
		ptc_notes_add(n, "no mapping is known at 0x%" PRIx64 "%s: %" PRIu64 " %s",
			      n->unmapped_ip, n->unmapped > 1 ? " and other addresses" : "",
			      n->unmapped, gaps(n->unmapped));
	if (n->kernel)
		ptc_notes_add(n, "no code for the kernel (first at 0x%" PRIx64 "): %" PRIu64 " %s",
			      n->kernel_ip, n->kernel, gaps(n->kernel));
	if (n->lost_records)
		ptc_notes_add(n, "%" PRIu64 " records were lost while recording", n->lost_records);
}

const char *ptc_notes_line(struct ptc_notes *n, const struct ptc_codefiles *files, size_t i)
{
	if (!n->made)
		make(n, files);
	n->made = true;
	return i < n->n ? n->lines[i] : NULL;
}

void ptc_notes_release(struct ptc_notes *n)
{
	size_t i;

	for (i = 0; i < n->n; i++)
		free(n->lines[i]);
	free(n->lines);
	n->lines = NULL;
	n->n = n->cap = 0;
	n->made = false;
}
