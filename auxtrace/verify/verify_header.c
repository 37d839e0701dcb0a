/* SPDX-License-Identifier: MIT */
/* Checks of the data before and after the records. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/verify/verify_private.h"
#include "base/err.h"

enum { SECTION = 16, BITMAP_OFF = 72, PADDING = 8 };

/* A section of the file. */
struct extent {
	uint64_t off, size;
	const char *what;
};

struct extents {
	struct extent *list;
	size_t n;
};

static int by_offset(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

static void add_extent(struct extents *x, const char *what, const uint8_t *section)
{
	const struct extent e = { ptc_le64(section), ptc_le64(section + 8), what };

	if (e.size)
		x->list[x->n++] = e;
}

static const char *feature_name(unsigned int bit)
{
	const char *name = ptc_feature_name(bit);

	return name ? name : "of a newer writer";
}

/* The reader has checked that the attrs and the table are inside the file. */
static void gather(struct ptc_verify *v, const uint8_t *header, struct extents *x)
{
	const uint64_t entry = ptc_le64(header + 16);
	const uint64_t table = ptc_le64(header + 40) + ptc_le64(header + 48);
	uint64_t off = table, last = 0;
	struct ptc_cur c;
	unsigned int bit;
	size_t i;

	x->list[x->n++] = (struct extent){ 0, PTC_FILE_HEADER_SIZE, "the header" };
	add_extent(x, "the events", header + 24);
	add_extent(x, "the records", header + 40);
	add_extent(x, "the event types", header + 56);
	for (i = 0; i < v->f->nattrs; i++)
		if (ptc_file_bytes(v->f, ptc_le64(header + 24) + (i + 1) * entry - SECTION, SECTION,
				   &c))
			add_extent(x, "the ids of an event", c.pos);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++) {
		if (!(header[BITMAP_OFF + bit / 8] >> bit % 8 & 1) ||
		    !ptc_file_bytes(v->f, off, SECTION, &c))
			continue;
		off += SECTION;
		add_extent(x, feature_name(bit), c.pos);
		if (ptc_le64(c.pos) < last)
			ptc_verify_say(v, "layout", off - SECTION,
				       "feature %s is in front of those with smaller numbers",
				       feature_name(bit));
		last = ptc_le64(c.pos);
	}
	if (off > table)
		x->list[x->n++] = (struct extent){ table, off - table, "the feature table" };
}

/* Some versions of perf leave up to 8 zeros behind the last section. */
static bool is_end_padding(const struct ptc_verify *v, uint64_t end, uint64_t len)
{
	struct ptc_cur rest;
	uint8_t byte;

	if (len - end > PADDING || !ptc_file_bytes(v->f, end, len - end, &rest))
		return false;
	while (ptc_cur_u8(&rest, &byte))
		if (byte)
			return false;
	return true;
}

/*
 * Bytes between sections are not a finding: perf reserves table entries for features that it then
 * drops.
 */
static void check_extents(struct ptc_verify *v, const struct extents *x)
{
	const uint64_t len = v->f->parts[0].in.len;
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < x->n; i++) {
		const struct extent *e = &x->list[i];

		if (e->off < end)
			ptc_verify_say(v, "layout", e->off, "%s and %s overlap",
				       x->list[i - 1].what, e->what);
		if (e->off + e->size > end)
			end = e->off + e->size;
	}
	if (end < len && !is_end_padding(v, end, len))
		ptc_verify_say(v, "layout", end, "%" PRIu64 " bytes behind the last section",
			       len - end);
}

/* Skipped if the reader had to repair the header, because its claims are then unreliable. */
int ptc_verify_layout(struct ptc_verify *v, struct ptc_err *err)
{
	struct extents x = { NULL, 0 };
	struct ptc_cur c;

	if (v->f->form == PTC_FORM_PIPE || v->f->ndamage ||
	    !ptc_file_bytes(v->f, 0, PTC_FILE_HEADER_SIZE, &c) ||
	    ptc_le64(c.pos + 8) != PTC_FILE_HEADER_SIZE)
		return 0;
	x.list = calloc(v->f->nattrs + PTC_FEATURE_BITS + 5, sizeof(*x.list));
	if (!x.list)
		return ptc_fail_mem(err);
	gather(v, c.pos, &x);
	qsort(x.list, x.n, sizeof(*x.list), by_offset);
	check_extents(v, &x);
	free(x.list);
	return 0;
}

void ptc_verify_attrs(struct ptc_verify *v)
{
	const struct ptc_file *f = v->f;
	struct ptc_cur c;
	size_t i;

	for (i = 1; i < f->nids; i++)
		if (f->by_id[i].id == f->by_id[i - 1].id)
			ptc_verify_say(v, "attr", 0,
				       "id %" PRIu64 " is there twice, of events %zu and %zu",
				       f->by_id[i].id, f->by_id[i - 1].attr, f->by_id[i].attr);
	if (f->form == PTC_FORM_PIPE || !ptc_file_bytes(f, 0, PTC_FILE_HEADER_SIZE, &c))
		return;
	for (i = 0; i < f->nattrs; i++) {
		const uint32_t size = f->attrs[i].attr.size;
		const uint64_t entry = ptc_le64(c.pos + 16);

		if (size && size + SECTION != entry)
			ptc_verify_say(v, "attr", ptc_le64(c.pos + 24) + i * entry,
				       "event %zu claims %" PRIu32 " bytes, and has %" PRIu64, i,
				       size, entry - SECTION);
	}
}

static bool same_ids(const struct ptc_file_attr *a, struct ptc_cur ids)
{
	uint64_t id;
	size_t i;

	if (ptc_cur_left(&ids) / sizeof(id) != a->nids)
		return false;
	for (i = 0; ptc_cur_le64(&ids, &id); i++)
		if (id != a->ids[i])
			return false;
	return true;
}

static bool is_described(const struct ptc_file *f, const struct ptc_event_desc_entry *e)
{
	size_t i;

	for (i = 0; i < f->nattrs; i++)
		if (!memcmp(&e->attr, &f->attrs[i].attr, sizeof(e->attr)) &&
		    same_ids(&f->attrs[i], e->ids))
			return true;
	return false;
}

static void verify_event_desc(struct ptc_verify *v, struct ptc_cur section, uint64_t off)
{
	struct ptc_event_desc_entry e;
	struct ptc_event_desc_iter it;
	struct ptc_err broken;
	size_t n = 0;

	if (ptc_feature_open_event_desc(section, off, &it, &broken))
		return;
	for (; ptc_feature_next_event_desc(&it, &e, &broken) > 0; n++)
		if (!is_described(v->f, &e))
			ptc_verify_say(v, "event_desc", off,
				       "'%.64s' is no event of the file, or has other ids there",
				       e.name);
	if (n != v->f->nattrs)
		ptc_verify_say(v, "event_desc", off, "%zu events are described, %zu are there", n,
			       v->f->nattrs);
}

/* Pipe mode pads each feature to 8 bytes. perf inject can keep this padding in a file. */
static bool is_padding(struct ptc_cur rest)
{
	uint8_t byte;

	if (ptc_cur_left(&rest) >= PADDING)
		return false;
	while (ptc_cur_u8(&rest, &byte))
		if (byte)
			return false;
	return true;
}

static void verify_feature(struct ptc_verify *v, unsigned int bit, uint32_t ncpus)
{
	struct ptc_err broken;
	struct ptc_cur c, rest;
	uint64_t off;
	int rc;

	if (!ptc_file_feature(v->f, bit, &c, &off))
		return;
	v->stats.features++;
	if (!ptc_feature_name(bit)) {
		v->stats.unknown_features++;
		return;
	}
	rc = ptc_feature_check(bit, c, off, ncpus, &rest, &broken);
	if (rc)
		ptc_verify_say_err(v, "feature", &broken);
	else if (ptc_cur_left(&rest) && !is_padding(rest))
		ptc_verify_say(v, "feature", off, "%s has %zu bytes behind what is known of it",
			       ptc_feature_name(bit), ptc_cur_left(&rest));
	if (bit == PTC_FEAT_EVENT_DESC && !rc)
		verify_event_desc(v, c, off);
}

void ptc_verify_features(struct ptc_verify *v)
{
	struct ptc_nrcpus cpus = { 0, 0 };
	struct ptc_cur c;
	unsigned int bit;

	if (ptc_file_feature(v->f, PTC_FEAT_NRCPUS, &c, NULL))
		(void)ptc_feature_get_nrcpus(&c, &cpus);
	for (bit = 0; bit < PTC_FEATURE_BITS; bit++)
		verify_feature(v, bit, cpus.available);
	/* perf record --kcore makes a folder of one file, which does not need DIR_FORMAT. */
	if (v->f->unread_parts)
		ptc_verify_say(v, "dir_format", 0,
			       "there is a data.%u, and no DIR_FORMAT that tells of it",
			       v->f->unread_parts - 1);
}
