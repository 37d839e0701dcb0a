/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/file_private.h"
#include "base/err.h"
#include "base/sorted.h"
#include "ptcap/bundle.h"

/* Returns the whole buffer that contains offset @off. *@ret_in: the offset inside the buffer. */
static struct ptc_cur region(const struct ptc_file *f, uint64_t off, uint64_t *ret_in)
{
	const struct ptc_input *in;

	if (off & PTC_OFF_INFLATED) {
		*ret_in = off & ~PTC_OFF_INFLATED;
		return ptc_cur_init(f->inflated, (size_t)f->inflated_len);
	}
	*ret_in = off & PTC_OFF_MASK;
	if (off >> PTC_OFF_PART_SHIFT >= f->nparts)
		return ptc_cur_init(NULL, 0);
	in = &f->parts[off >> PTC_OFF_PART_SHIFT].in;
	return ptc_cur_init(in->bytes, in->len);
}

bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size, struct ptc_cur *ret)
{
	uint64_t in;
	struct ptc_cur c = region(f, off, &in);

	return ptc_cur_skip(&c, (size_t)in) && ptc_cur_sub(&c, (size_t)size, ret);
}

/* Returns the last piece that starts at or before @off; NULL: none. */
static const struct ptc_segment *piece_of(const struct ptc_file *f, uint64_t off)
{
	const size_t behind = PTC_PARTITION_POINT(i, 0, f->npieces, f->pieces[i].start <= off);

	return behind ? &f->pieces[behind - 1] : NULL;
}

void ptc_file_place(const struct ptc_file *f, uint64_t off, struct ptc_file_place *ret)
{
	struct ptc_file_place p = { .inflated = off & PTC_OFF_INFLATED };
	size_t part;

	if (p.inflated) {
		const struct ptc_segment *piece = piece_of(f, off & ~PTC_OFF_INFLATED);

		p.inner = (off & ~PTC_OFF_INFLATED) - (piece ? piece->start : 0);
		off = piece ? piece->at : f->parts[0].data.off;
	}
	part = (size_t)(off >> PTC_OFF_PART_SHIFT);
	p.name = part < f->nparts ? f->parts[part].name : f->name;
	p.off = off & PTC_OFF_MASK;
	*ret = p;
}

/* Replace the offset at the end of a message from ptc_fail_at by the location. */
static void set_place(struct ptc_err *err, const struct ptc_file_place *place)
{
	size_t len = strlen(err->msg);
	char old[32];
	int n;

	n = snprintf(old, sizeof(old), " (offset 0x%" PRIx64 ")", err->off);
	if (n < 0 || (size_t)n > len || strcmp(err->msg + len - n, old) != 0)
		return;
	len -= (size_t)n;
	n = snprintf(err->msg + len, sizeof(err->msg) - len, " (offset 0x%" PRIx64, place->off);
	if (n > 0)
		len += (size_t)n;
	if (len < sizeof(err->msg) && place->inflated) {
		n = snprintf(err->msg + len, sizeof(err->msg) - len,
			     ", 0x%" PRIx64 " in what it expands to", place->inner);
		if (n > 0)
			len += (size_t)n;
	}
	if (len < sizeof(err->msg))
		(void)snprintf(err->msg + len, sizeof(err->msg) - len, ")");
}

int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_file_place place;

	ptc_file_place(f, err->off, &place);
	if (err->off > PTC_OFF_MASK)
		set_place(err, &place);
	err->off = place.off;
	return ptc_err_prefix(err, "cannot read '%s': ", place.name);
}

int ptc_file_damaged(struct ptc_file *f, struct ptc_err *err)
{
	if (!f->tolerant)
		return err->code;
	if (f->ndamage < PTC_DAMAGES) {
		f->damage[f->ndamage] = *err;
		(void)ptc_file_err_name(f, &f->damage[f->ndamage++]);
	}
	return 0;
}

const struct ptc_err *ptc_file_damage_at(const struct ptc_file *f, size_t i)
{
	return i < f->ndamage ? &f->damage[i] : NULL;
}

const struct ptc_err *ptc_file_damage(const struct ptc_file *f)
{
	return ptc_file_damage_at(f, 0);
}

struct ptc_bundle *ptc_file_bundle(const struct ptc_file *f)
{
	return f->bundle;
}

const char *ptc_file_name(const struct ptc_file *f)
{
	return f->name;
}

uint64_t ptc_file_size(const struct ptc_file *f)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < f->nparts; i++)
		size += f->parts[i].in.len;
	return size;
}

enum ptc_file_form ptc_file_form(const struct ptc_file *f)
{
	return f->form;
}

bool ptc_file_compressed(const struct ptc_file *f)
{
	return f->expanded;
}

uint64_t ptc_file_data_off(const struct ptc_file *f)
{
	return f->parts[0].data.off;
}

uint64_t ptc_file_data_size(const struct ptc_file *f)
{
	return f->parts[0].data.size;
}

size_t ptc_file_nparts(const struct ptc_file *f)
{
	return f->nparts;
}

void ptc_file_part(const struct ptc_file *f, size_t i, struct ptc_file_part *ret)
{
	const struct ptc_part *p = &f->parts[i];

	*ret = (struct ptc_file_part){
		.name = p->name,
		.size = p->in.len,
		.data_off = p->data.off,
		.data_size = p->data.size,
	};
}

size_t ptc_file_nattrs(const struct ptc_file *f)
{
	return f->nattrs;
}

const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i)
{
	return &f->attrs[i];
}

bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
		      uint64_t *ret_off)
{
	if (bit >= PTC_FEATURE_BITS || !f->features[bit].has)
		return false;
	*ret = f->features[bit].bytes;
	if (ret_off)
		*ret_off = f->features[bit].off;
	return true;
}

int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_auxtrace *ret,
		      struct ptc_cur *ret_bytes, struct ptc_err *err)
{
	const uint64_t start = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	const struct ptc_section *data;
	struct ptc_auxtrace a;
	uint64_t in, end;
	int rc;

	(void)region(f, start, &in);
	end = f->inflated_len;
	if (!(start & PTC_OFF_INFLATED)) {
		data = &f->parts[start >> PTC_OFF_PART_SHIFT].data;
		end = data->off + data->size;
	}
	rc = ptc_auxtrace_parse(rec->body, rec->off, end - in, &a, err);
	if (!rc && !ptc_file_bytes(f, start, a.size, ret_bytes))
		rc = ptc_fail_at(err, PTC_E_FORMAT, rec->off, "trace outside the file");
	if (rc)
		return ptc_file_err_name(f, err);
	*ret = a;
	return 0;
}

int ptc_id_compare(const void *a, const void *b)
{
	const uint64_t x = ((const struct ptc_id_entry *)a)->id;
	const uint64_t y = ((const struct ptc_id_entry *)b)->id;

	return (x > y) - (x < y);
}

const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id)
{
	const struct ptc_id_entry key = { id, 0 };
	const struct ptc_id_entry *e;

	if (!f->nids)
		return NULL;
	e = bsearch(&key, f->by_id, f->nids, sizeof(*f->by_id), ptc_id_compare);
	return e ? &f->attrs[e->attr] : NULL;
}

/*
 * Returns the attr with the id in @word. Records that perf itself synthesized (mappings of running
 * processes) have an id of no attr, usually 0, and the fields of the first attr.
 */
static const struct ptc_file_attr *attr_of_word(const struct ptc_file *f, const uint8_t *word)
{
	const struct ptc_file_attr *a = word ? ptc_file_attr_of_id(f, ptc_le64(word)) : NULL;

	return a ? a : &f->attrs[0];
}

uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs || rec->type >= PTC_REC_USER_START || rec->type == PERF_RECORD_SAMPLE ||
	    !f->attrs[0].attr.sample_id_all)
		return 0;
	if (f->trailer_id > 0 && left >= 8 * (size_t)f->trailer_id)
		word = rec->body.end - 8 * (size_t)f->trailer_id;
	return attr_of_word(f, word)->attr.sample_type;
}

const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
						 const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs)
		return NULL;
	if (f->sample_id >= 0 && left >= 8 * ((size_t)f->sample_id + 1))
		word = rec->body.pos + 8 * (size_t)f->sample_id;
	return attr_of_word(f, word);
}
