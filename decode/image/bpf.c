/* SPDX-License-Identifier: MIT */
#include "decode/image/bpf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/reader.h"
#include "base/cursor.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/image/codefile.h"

#include <linux/perf_event.h>

/* Offsets in struct bpf_prog_info (linux/bpf.h). Its pointers are offsets in the data. */
enum {
	INSNS = 24,
	NR_KSYMS = 104,
	NR_LENS = 108,
	KSYMS = 112,
	LENS = 120,
	NR_TAGS = 180,
	TAGS = 184
};
/* Bits of ptc_bpf_prog.arrays: enum perf_bpil_array_types (tools/perf/util/bpf-utils.h). */
enum { HAS_INSNS = 0, HAS_KSYMS = 3, HAS_LENS = 4, HAS_TAGS = 8 };

void ptc_bpf_release(struct ptc_bpf *b)
{
	free(b->codes);
	memset(b, 0, sizeof(*b));
}

/* Returns the data of array @bit of @p, whose offset is at @at of the info. Empty: not there. */
static struct ptc_cur array(const struct ptc_bpf_prog *p, unsigned int bit, size_t at)
{
	struct ptc_cur info = p->info, data = p->data;
	uint64_t off;

	if (!(p->arrays >> bit & 1) || !ptc_cur_skip(&info, at) || !ptc_cur_le64(&info, &off) ||
	    !ptc_cur_skip(&data, off))
		data.pos = data.end;
	return data;
}

static uint32_t read_bpf_count(const struct ptc_bpf_prog *p, size_t at)
{
	struct ptc_cur info = p->info;
	uint32_t n;

	return ptc_cur_skip(&info, at) && ptc_cur_le32(&info, &n) ? n : 0;
}

/* Add each function of a program, with its address, length and tag. */
static bool add_prog(struct ptc_bpf *b, const struct ptc_bpf_prog *p)
{
	struct ptc_cur insns = array(p, HAS_INSNS, INSNS), addrs = array(p, HAS_KSYMS, KSYMS);
	struct ptc_cur lens = array(p, HAS_LENS, LENS), tags = array(p, HAS_TAGS, TAGS);
	const uint32_t n = read_bpf_count(p, NR_KSYMS);
	struct ptc_bpf_code c;
	const uint8_t *tag;
	uint32_t i;

	if (read_bpf_count(p, NR_LENS) != n)
		return true;
	for (i = 0; i < n; i++) {
		c = (struct ptc_bpf_code){ .file = NULL };
		if (!ptc_cur_le64(&addrs, &c.addr) || !ptc_cur_le32(&lens, &c.len) ||
		    !ptc_cur_bytes(&insns, c.len, &c.bytes))
			break;
		tag = p->tag;
		if (read_bpf_count(p, NR_TAGS) == n && !ptc_cur_bytes(&tags, sizeof(c.tag), &tag))
			break;
		memcpy(c.tag, tag, sizeof(c.tag));
		if (!ptc_grow(&b->codes, &b->cap, b->n + 1, sizeof(*b->codes)))
			return false;
		b->codes[b->n++] = c;
	}
	return true;
}

int ptc_bpf_read(struct ptc_bpf *b, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_feature_iter it;
	struct ptc_bpf_prog p;
	struct ptc_err broken;
	struct ptc_cur c;
	uint64_t off;

	if (!ptc_file_feature(f, PTC_FEAT_BPF_PROG_INFO, &c, &off) ||
	    ptc_feature_open(PTC_FEAT_BPF_PROG_INFO, c, off, &it, &broken) < 0)
		return 0;
	while (ptc_feature_next_bpf_prog(&it, &p, &broken) > 0)
		if (!add_prog(b, &p))
			return ptc_fail_mem(err);
	return 0;
}

/* Does @name have @tag? The kernel names it bpf_prog_TAG, with _NAME behind if it has one. */
static bool has_tag(const char *name, const uint8_t *tag)
{
	static const char front[] = "bpf_prog_";
	char hex[17];
	size_t i;

	for (i = 0; i < 8; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", tag[i]);
	return !strncmp(name, front, sizeof(front) - 1) &&
	       !strncmp(name + sizeof(front) - 1, hex, 16);
}

struct ptc_codefile *ptc_bpf_file(struct ptc_bpf *b, struct ptc_codefiles *s,
				  const struct ptc_sb_ksymbol *k)
{
	struct ptc_codefile *f;
	size_t i;

	for (i = 0; i < b->n; i++) {
		struct ptc_bpf_code *c = &b->codes[i];

		if (c->addr != k->addr || c->len != k->len || !has_tag(k->name, c->tag))
			continue;
		if (!c->file)
			c->file = ptc_codefiles_add_bytes(s, k->name, c->bytes, c->len);
		return c->file;
	}
	f = ptc_codefiles_absent(s, k->name, NULL);
	if (f)
		f->bpf = k->ksym_type == PERF_RECORD_KSYMBOL_TYPE_BPF;
	return f;
}
