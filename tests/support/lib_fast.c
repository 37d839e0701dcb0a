/* SPDX-License-Identifier: MIT */
#include "lib_fast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/image/addrspace.h"
#include "decode/session/decoder.h"

enum { MAX_PIECES = 1024 };

static void must(bool good, const char *what)
{
	if (good)
		return;
	(void)fprintf(stderr, "%s\n", what);
	exit(2);
}

static const char *path_in(char *buf, size_t size, const char *folder, const char *name)
{
	const int n = snprintf(buf, size, "%s/%s", folder, name);

	must(n > 0 && (size_t)n < size, "too long a name");
	return buf;
}

/* Reads the CPU on which the trace was made from a line of expected.json. */
static void read_cpu(const char *path, struct ptc_cpu_id *ret)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	const char *cpu;

	must(f && fgets(line, sizeof(line), f), path);
	cpu = strstr(line, "\"cpu\": \"");
	if (cpu && sscanf(cpu, "\"cpu\": \"%" SCNu16 "/%" SCNu8 "/%" SCNu8, &ret->family,
			  &ret->model, &ret->stepping) != 3)
		*ret = (struct ptc_cpu_id){ .family = 0 };
	(void)fclose(f);
}

static size_t read_map(const char *path, const char *dump, struct ptc_raw_code *pieces)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	must(f, path);
	for (; n < MAX_PIECES; n++) {
		struct ptc_raw_code *c = &pieces[n];

		*c = (struct ptc_raw_code){ .path = dump };
		if (fscanf(f, "%" SCNx64 " %" SCNx64 " %" SCNx64, &c->addr, &c->len, &c->off) != 3)
			break;
	}
	(void)fclose(f);
	return n;
}

static struct ptc_decode *load_folder(const char *path)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_raw_code *pieces = calloc(MAX_PIECES, sizeof(*pieces));
	char pt[4096], dump[4096], other[4096];
	struct ptc_decode *d;
	struct ptc_err err;
	size_t n;

	must(pieces, "out of memory");
	opts.engine = PTC_ENGINE_LIBIPT;
	read_cpu(path_in(other, sizeof(other), path, "expected.json"), &opts.cpu_id);
	n = read_map(path_in(other, sizeof(other), path, "image.map"),
		     path_in(dump, sizeof(dump), path, "image.dump"), pieces);
	path_in(pt, sizeof(pt), path, "pt.bin");
	must(!ptc_decode_open_raw(pt, pieces, n, &opts, &d, &err), err.msg);
	free(pieces);
	return d;
}

struct ptc_decode *fs_load(const char *path)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_decode *d;
	struct ptc_err err;
	struct stat st;

	must(!stat(path, &st), path);
	if (S_ISDIR(st.st_mode))
		return load_folder(path);
	opts.engine = PTC_ENGINE_LIBIPT; /* libipt's output is the reference for the other engine */
	must(!ptc_decode_open(path, &opts, &d, &err), err.msg);
	return d;
}

static const struct ptc_addrspace *most_code(struct ptc_decode *d)
{
	const struct ptc_addrspace *as = NULL;
	struct ptc_err err;
	size_t i;

	if (d->in.raw)
		return &d->in.raw->as;
	while (ptc_sideband_peek(&d->in.sideband, UINT64_MAX))
		must(ptc_sideband_apply(&d->in.sideband, &d->in.procs, &err) >= 0, err.msg);
	for (i = 0; i < d->in.procs.nprocs; i++)
		if (!as || ptc_ranges_count(&d->in.procs.procs[i]->as.ranges) >
				   ptc_ranges_count(&as->ranges))
			as = &d->in.procs.procs[i]->as;
	must(as, "no process");
	return as;
}

void fs_code(struct ptc_decode *d, struct ptc_addrspace *ret)
{
	struct ptc_err err;

	*ret = (struct ptc_addrspace){ .version = 0 };
	ptc_addrspace_copy(ret, most_code(d));
	must(!ptc_pass_rewind(&d->pass, &err), err.msg);
}

size_t fs_read_code(const void *ctx, uint64_t ip, uint8_t *out, size_t len)
{
	return ptc_addrspace_read(ctx, ip, out, len);
}

/*
 * The tables are large compared with a test's trace, so the tables of the last closed pull are
 * reused.
 */
static struct {
	struct ptc_fast_code *code;
	struct ptc_fast_chains chains;
} spare;

static void get_tables(struct fs_pull *p, const struct ptc_addrspace *as)
{
	const struct ptc_fast_source source = { fs_read_code, as };

	p->code = spare.code;
	if (!p->code) {
		p->code = malloc(sizeof(*p->code));
		if (!p->code || !ptc_fast_code_init(p->code) || !ptc_fast_chains_init(&p->chains) ||
		    !ptc_fast_hand_new(p->code, &source))
			abort();
		return;
	}
	spare.code = NULL;
	p->chains = spare.chains;
	p->code->hands->source = source;
	ptc_fast_code_forget(p->code);
	ptc_fast_chains_forget(&p->chains);
}

void fs_open(struct fs_pull *p, const struct ptc_addrspace *as, const uint8_t *bytes, size_t len)
{
	const size_t first = ptc_pkt_next_psb(bytes, len, 0);

	*p = (struct fs_pull){ .done = first == len, .status = PTC_FAST_AT_END };
	get_tables(p, as);
	ptc_fast_init(&p->fast, p->code->hands, &p->chains);
	ptc_fast_begin(&p->fast, bytes, len, first);
}

void fs_close(struct fs_pull *p)
{
	ptc_fast_release(&p->fast);
	if (spare.code) {
		ptc_fast_chains_release(&p->chains);
		ptc_fast_code_release(p->code);
		free(p->code);
		return;
	}
	spare.code = p->code;
	spare.chains = p->chains;
}

/* Runs up to the next PSB. The last record may still change. */
static void run(struct fs_pull *p)
{
	struct ptc_fast_flow *f = &p->fast.flow;

	ptc_fast_flow_take(f, p->head);
	p->head = 0;
	p->status = ptc_fast_run(&p->fast);
	p->done = p->status != PTC_FAST_AT_PSB;
	p->sure = p->status == PTC_FAST_DECLINED ? 0 : f->nrecs - f->last.listed;
}

bool fs_next(struct fs_pull *p, struct ptc_fast_rec *ret)
{
	while (p->head == p->sure) {
		if (p->done)
			return false;
		run(p);
	}
	*ret = p->fast.flow.recs[p->head++];
	return true;
}

bool fs_of_item(const struct ptc_item *it, struct ptc_fast_rec *ret)
{
	if (it->type == PTC_ITEM_GAP && it->cause == PTC_GAP_OVERFLOW)
		*ret = ptc_fast_rec(0, PTC_FAST_OVERFLOW, PTC_KIND_NONE);
	else if (it->type == PTC_ITEM_BRANCH)
		*ret = ptc_fast_rec(it->from, it->to, (enum ptc_kind)it->kind);
	else
		return false;
	return true;
}
