/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <intel-pt.h>

#include "arch/pt_packet.h"
#include "change.h"
#include "lib_runs.h"
#include "ptcap/file.h"
#include "stuff.h"

enum { ITEMS_MAX = 20000000 };

/*
 * The linker replaces libipt's function by this one. In plain mode it fails, so libipt caches no
 * code of files and reads the code through its callback each time.
 */
static bool plain;

int __real_pt_iscache_add_file(struct pt_image_section_cache *cache, const char *name,
			       uint64_t offset, uint64_t size, uint64_t vaddr);
int __wrap_pt_iscache_add_file(struct pt_image_section_cache *cache, const char *name,
			       uint64_t offset, uint64_t size, uint64_t vaddr);

int __wrap_pt_iscache_add_file(struct pt_image_section_cache *cache, const char *name,
			       uint64_t offset, uint64_t size, uint64_t vaddr)
{
	return plain ? -pte_not_supported :
		       __real_pt_iscache_add_file(cache, name, offset, size, vaddr);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	exit(2);
}

void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static uint8_t *read_file(const char *path, size_t *ret_len)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint8_t *bytes;

	if (fd < 0 || fstat(fd, &st) < 0)
		die("cannot open '%s'", path);
	bytes = must(malloc((size_t)st.st_size + 1));
	if (read(fd, bytes, (size_t)st.st_size) != st.st_size)
		die("cannot read '%s'", path);
	(void)close(fd);
	*ret_len = (size_t)st.st_size;
	return bytes;
}

static struct flows *flows_of(struct run *r, uint32_t queue)
{
	size_t i;

	for (i = 0; i < r->nlanes; i++)
		if (r->lanes[i].queue == queue)
			return &r->lanes[i];
	r->lanes = must(reallocarray(r->lanes, r->nlanes + 1, sizeof(*r->lanes)));
	r->lanes[r->nlanes] = (struct flows){ .queue = queue };
	return &r->lanes[r->nlanes++];
}

const struct flows *run_flows(const struct run *r, uint32_t queue)
{
	size_t i;

	for (i = 0; i < r->nlanes; i++)
		if (r->lanes[i].queue == queue)
			return &r->lanes[i];
	return NULL;
}

static void see_time(struct ptc_sums *sums, uint64_t ns)
{
	if (ns == PTC_NO_TIME)
		return;
	if (sums->first_ns == PTC_NO_TIME || ns < sums->first_ns)
		sums->first_ns = ns;
	if (sums->last_ns == PTC_NO_TIME || ns > sums->last_ns)
		sums->last_ns = ns;
}

static void take(struct run *r, const struct ptc_item *it)
{
	struct flows *f;

	r->items++;
	if (it->type == PTC_ITEM_GAP) {
		r->gaps = must(reallocarray(r->gaps, r->ngaps + 1, sizeof(*r->gaps)));
		r->gaps[r->ngaps++] = (struct gap){ it->from, it->to, it->queue, it->cause };
	}
	if (it->type != PTC_ITEM_BRANCH)
		return;
	r->sums.kinds[it->kind]++;
	r->sums.transfers++;
	see_time(&r->sums, it->time);
	f = flows_of(r, it->queue);
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 1024;
		f->v = must(reallocarray(f->v, f->cap, sizeof(*f->v)));
	}
	f->v[f->n++] = (struct flow){ it->from, it->to, it->time, it->tid, it->kind };
}

/* FNV-1a over words, then over the remaining bytes. */
static void digest(uint64_t *sum, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		*sum = (*sum ^ word) * 0x100000001b3;
	}
	while (n--)
		*sum = (*sum ^ *p++) * 0x100000001b3;
}

static void digest_rest(struct run *r, struct ptc_decode *d)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;
	const char *note;

	digest(&r->rest, &r->status, sizeof(r->status));
	if (d) {
		ptc_decode_get_stats(d, &stats);
		digest(&r->rest, &stats, sizeof(stats));
		for (; (note = ptc_decode_note(d, r->notes)) != NULL; r->notes++)
			digest(&r->rest, note, strlen(note));
	}
	digest(&r->digest, &r->rest, sizeof(r->rest));
}

static int on_sums(void *ctx, const struct ptc_sums *sums)
{
	struct run *r = ctx;
	size_t i;

	for (i = 0; i < PTC_KIND_COUNT; i++)
		r->sums.kinds[i] += sums->kinds[i];
	r->sums.transfers += sums->transfers;
	see_time(&r->sums, sums->first_ns);
	see_time(&r->sums, sums->last_ns);
	return 0;
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct run *r = ctx;
	struct ptc_item it;
	uint64_t k;
	size_t i;

	for (i = 0; i < n; i++)
		for (k = 0; k < runs_count(&items[i]); k++) {
			it = runs_item(&items[i], k);
			take(r, &it);
			digest(&r->digest, &it, sizeof(it));
		}
	r->endless = r->items > r->max_items;
	return r->endless;
}

void run_release(struct run *r)
{
	size_t i;

	for (i = 0; i < r->nlanes; i++)
		free(r->lanes[i].v);
	free(r->lanes);
	free(r->gaps);
}

bool run_has_gap(const struct run *r, const struct gap *g)
{
	size_t i;

	for (i = 0; i < r->ngaps; i++)
		if (r->gaps[i].off == g->off && r->gaps[i].len == g->len &&
		    r->gaps[i].queue == g->queue && r->gaps[i].cause == g->cause)
			return true;
	return false;
}

bool run_tells_more(const struct run *r, const struct run *want)
{
	size_t i;

	for (i = 0; i < r->ngaps; i++)
		if (!run_has_gap(want, &r->gaps[i]))
			return true;
	return r->notes > want->notes;
}

bool flow_equal(const struct flow *a, const struct flow *b, enum strictness how)
{
	return a->from == b->from && a->to == b->to && a->kind == b->kind &&
	       (how < SAME_THREAD || a->tid == b->tid) && (how < SAME_TIME || a->time == b->time);
}

void base_run(const struct base *b, const uint8_t *bytes, size_t len, uint64_t max_items,
	      struct threads threads, struct run *ret)
{
	const struct ptc_sink sink = { on_items, ret };
	const struct ptc_sums_sink sums = { on_sums, ret };
	struct ptc_decode_opts opts = b->opts;
	struct ptc_decode *d = NULL;

	plain = threads.plain;
	opts.jobs = threads.jobs;
	opts.slice = threads.slice;
	opts.engine = threads.engine ? threads.engine : PTC_ENGINE_LIBIPT;
	opts.sums = threads.counts ? &sums : NULL;
	opts.runs = threads.runs;
	opts.insns = threads.insns;
	*ret = (struct run){ .max_items = max_items };
	ret->sums.first_ns = ret->sums.last_ns = PTC_NO_TIME;
	if (ftruncate(b->fd, (off_t)len) < 0 || pwrite(b->fd, bytes, len, 0) != (ssize_t)len)
		die("cannot write a file in memory");
	if (b->raw)
		ret->status = ptc_decode_open_raw(b->path, b->code, b->ncode, &opts, &d, &ret->err);
	else
		ret->status = ptc_decode_open(b->path, &opts, &d, &ret->err);
	if (ret->status >= 0)
		ret->status = ptc_decode_run(d, &sink, &ret->err);
	digest_rest(ret, d);
	ptc_decode_free(d);
}

/* Returns the last chunk that contains byte @at of the lane. */
static const struct piece *piece_of(const struct lane *l, size_t at)
{
	size_t i;

	for (i = l->npieces; i-- > 0;)
		if (at >= l->pieces[i].at && at - l->pieces[i].at < l->pieces[i].size)
			return &l->pieces[i];
	die("a hole in an undamaged trace");
}

/* Returns the offset in the file of the lane's byte @at. */
static size_t place_of(const struct lane *l, size_t at)
{
	const struct piece *p = piece_of(l, at);

	return (size_t)p->file_off + at - p->at;
}

bool lane_is_lost(const struct base *b, const struct lane *l, size_t at)
{
	const struct piece *p = piece_of(l, at);
	const uint64_t off = p->aux_off + at - p->at;
	size_t i;

	for (i = 0; i < b->want.ngaps; i++) {
		const struct gap *g = &b->want.gaps[i];

		if (g->queue == l->queue && off >= g->off && off - g->off < g->len)
			return true;
	}
	return false;
}

void lane_store(const struct base *b, const struct lane *l, const uint8_t *trace, uint8_t *bytes)
{
	size_t i;

	(void)b;
	for (i = 0; i < l->len; i++)
		if (trace[i] != l->bytes[i])
			bytes[place_of(l, i)] = trace[i];
}

static void find_psbs(struct lane *l)
{
	size_t at, i;

	l->npsb = 0;
	for (at = ptc_pkt_next_psb(l->bytes, l->len, 0); at < l->len;
	     at = ptc_pkt_next_psb(l->bytes, l->len, at + PTC_PSB_LEN)) {
		l->psb = must(reallocarray(l->psb, l->npsb + 1, sizeof(*l->psb)));
		l->psb[l->npsb++] = at;
	}
	l->front = must(calloc(l->npsb + 1, sizeof(*l->front)));
	l->back = must(calloc(l->npsb + 1, sizeof(*l->back)));
	for (i = 0; i < l->npsb; i++)
		l->front[i] = l->back[i] = -1;
}

/* Replaces everything behind the first PSB at or after @limit by PADs. */
static void shorten(struct base *b, struct lane *l, size_t limit)
{
	const size_t at = ptc_pkt_next_psb(l->bytes, l->len, limit < l->len ? limit : l->len);
	size_t i;

	for (i = at; i < l->len; i++) {
		b->bytes[place_of(l, i)] = 0;
		l->bytes[i] = 0;
	}
}

static void drop_mtcs(struct base *b, struct lane *l)
{
	size_t i;

	stuff_drop_mtcs(l->bytes, l->len);
	for (i = 0; i < l->len; i++)
		b->bytes[place_of(l, i)] = l->bytes[i];
}

/*
 * Places each chunk behind the previous one, unless their bytes overlap. Returns the number of
 * bytes.
 */
static size_t place_pieces(struct piece *pieces, size_t n)
{
	uint64_t end = pieces[0].aux_off, missing = end;
	size_t i;

	for (i = 0; i < n; i++) {
		struct piece *p = &pieces[i];

		if (p->aux_off > end)
			missing += p->aux_off - end;
		p->at = (size_t)(p->aux_off - missing);
		if (p->aux_off + p->size > end)
			end = p->aux_off + p->size;
	}
	return (size_t)(end - missing);
}

static void add_lane(struct base *b, uint32_t queue, const struct piece *pieces, size_t n,
		     size_t limit)
{
	struct lane *l = &b->lanes[b->nlanes++];
	size_t i;

	*l = (struct lane){ .queue = queue, .npieces = n };
	l->pieces = must(calloc(n + 1, sizeof(*l->pieces)));
	memcpy(l->pieces, pieces, n * sizeof(*pieces));
	l->len = place_pieces(l->pieces, n);
	l->bytes = must(malloc(l->len + 1));
	for (i = 0; i < l->len; i++)
		l->bytes[i] = b->bytes[place_of(l, i)];
	shorten(b, l, limit);
	if (b->no_mtc)
		drop_mtcs(b, l);
	find_psbs(l);
}

static void open_lanes(struct base *b, size_t limit)
{
	struct ptc_index ix = PTC_INDEX_INIT;
	struct ptc_file *f;
	struct ptc_err err;
	struct piece *p;
	size_t i, k;

	if (ptc_file_open_bytes(b->bytes, b->len, b->name, &f, &err) < 0 ||
	    ptc_index_scan(&ix, f, &err) < 0)
		die("%s", err.msg);
	b->lanes = must(calloc(ix.nqueues + 1, sizeof(*b->lanes)));
	for (i = 0; i < ix.nqueues; i++) {
		const struct ptc_queue *q = &ix.queues[i];

		p = must(calloc(q->nchunks + 1, sizeof(*p)));
		for (k = 0; k < q->nchunks; k++)
			p[k] = (struct piece){ q->chunks[k].file_off, q->chunks[k].size,
					       q->chunks[k].aux_off, 0 };
		add_lane(b, q->idx, p, q->nchunks, limit);
		free(p);
	}
	ptc_index_release(&ix);
	ptc_file_free(f);
}

static void open_raw(struct base *b, const char *dir, size_t limit)
{
	char path[512], line[128];
	unsigned int family, model, stepping;
	struct piece whole;
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/pt.bin", dir);
	b->bytes = read_file(path, &b->len);
	if (b->stuff >= 0)
		b->bytes = stuff_trace((enum stuff)b->stuff, b->bytes, &b->len);
	(void)snprintf(path, sizeof(path), "%s/image.dump", dir);
	b->image = must(strdup(path));
	(void)snprintf(path, sizeof(path), "%s/image.map", dir);
	f = fopen(path, "re");
	if (!f)
		die("cannot open '%s'", path);
	while (fgets(line, sizeof(line), f) && b->ncode < CODE_MAX) {
		struct ptc_raw_code *c = &b->code[b->ncode];

		c->path = b->image;
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &c->addr, &c->len, &c->off) ==
		    3)
			b->ncode++;
	}
	(void)fclose(f);
	(void)snprintf(path, sizeof(path), "%s/expected.json", dir);
	f = fopen(path, "re");
	n = f ? fread(path, 1, sizeof(path) - 1, f) : 0;
	path[n] = 0;
	if (n) {
		const char *cpu = strstr(path, "\"cpu\": \"");

		if (cpu && sscanf(cpu + 8, "%u/%u/%u", &family, &model, &stepping) == 3) {
			b->opts.cpu_id_set = true;
			b->opts.cpu_id = (struct ptc_cpu_id){ (uint16_t)family, (uint8_t)model,
							      (uint8_t)stepping };
		}
	}
	if (f)
		(void)fclose(f);
	whole = (struct piece){ .size = b->len };
	b->lanes = must(calloc(1, sizeof(*b->lanes)));
	add_lane(b, 0, &whole, 1, limit);
}

/* The prefix of a name. */
struct prefix {
	const char *text;
	bool raw;
	int stuff; /* enum stuff, or -1 */
	enum ptc_resync resync;
};

static const struct prefix *prefix_of(const char *name)
{
	static const struct prefix prefixes[] = {
		{ "raw:", true, -1, PTC_RESYNC_PSB },
		{ "packet:", true, -1, PTC_RESYNC_PACKET },
		{ "mtc:", true, STUFF_MTC, PTC_RESYNC_PACKET },
		{ "cyc:", true, STUFF_CYC, PTC_RESYNC_PACKET },
		{ "rare:", true, STUFF_RARE, PTC_RESYNC_PACKET },
		{ "nomtc:", false, -1, PTC_RESYNC_DEFAULT },
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i].text, strlen(prefixes[i].text)))
			return &prefixes[i];
	return NULL;
}

void base_open(struct base *b, const char *name, size_t limit)
{
	const struct prefix *p = prefix_of(name);
	const char *path = p ? strchr(name, ':') + 1 : name;

	*b = (struct base){ .name = name,
			    .opts = PTC_DECODE_OPTS_INIT,
			    .stuff = p ? p->stuff : -1 };
	b->fd = memfd_create("damaged", MFD_CLOEXEC);
	if (b->fd < 0)
		die("cannot make a file in memory");
	(void)snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", b->fd);
	b->raw = p && p->raw;
	if (b->raw) {
		b->opts.resync = p->resync;
		open_raw(b, path, limit);
	} else {
		b->no_mtc = p != NULL;
		b->bytes = read_file(path, &b->len);
		change_drop_index(b);
		open_lanes(b, limit);
	}
	base_run(b, b->bytes, b->len, ITEMS_MAX, (struct threads){ .jobs = 1 }, &b->want);
	if (b->want.status < 0)
		die("%s", b->want.err.msg);
	if (b->want.endless)
		die("'%s' is too long", name);
}

void base_release(struct base *b)
{
	size_t i;

	for (i = 0; i < b->nlanes; i++) {
		free(b->lanes[i].pieces);
		free(b->lanes[i].bytes);
		free(b->lanes[i].psb);
		free(b->lanes[i].front);
		free(b->lanes[i].back);
	}
	free(b->lanes);
	free(b->image);
	free(b->bytes);
	run_release(&b->want);
	(void)close(b->fd);
}

/* Returns how many branches are equal, at the begin or (@back) at the end. */
static size_t common(const struct flows *a, const struct flows *b, bool back)
{
	size_t n = 0;

	if (!a || !b)
		return 0;
	while (n < a->n && n < b->n &&
	       flow_equal(&a->v[back ? a->n - 1 - n : n], &b->v[back ? b->n - 1 - n : n],
			  SAME_TIME))
		n++;
	return n;
}

/* Returns how many branches are decoded without the trace in [from, upto). */
static size_t decided(const struct base *b, const struct lane *l, size_t from, size_t upto,
		      bool back)
{
	uint8_t *trace = must(malloc(l->len + 1)), *bytes = must(malloc(b->len + 1));
	struct run r;
	size_t n;

	memcpy(trace, l->bytes, l->len);
	memset(trace + from, 0, upto - from);
	memcpy(bytes, b->bytes, b->len);
	lane_store(b, l, trace, bytes);
	base_run(b, bytes, b->len, ITEMS_MAX, (struct threads){ .jobs = 1 }, &r);
	n = common(run_flows(&b->want, l->queue), run_flows(&r, l->queue), back);
	run_release(&r);
	free(trace);
	free(bytes);
	return n;
}

/* Returns the last non-time packet before PSB @k; a FUP and the packet behind it count as one. */
static size_t last_packet(const struct lane *l, size_t k)
{
	size_t at = k ? l->psb[k - 1] : 0, last = at;
	enum ptc_pkt type, before = PTC_PKT_PAD;
	int n;

	for (; at < l->psb[k]; at += (size_t)n) {
		n = ptc_pkt_len(l->bytes + at, l->psb[k] - at, &type);
		if (n <= 0)
			return last;
		if (type == PTC_PKT_TSC || type == PTC_PKT_TMA || type == PTC_PKT_MTC ||
		    type == PTC_PKT_CYC || type == PTC_PKT_CBR || type == PTC_PKT_PAD)
			continue;
		if (before != PTC_PKT_FUP || type == PTC_PKT_FUP)
			last = at;
		before = type;
	}
	return last;
}

/* Direct branches need no trace, unless an event intervenes. */
static bool is_direct(const struct flow *f)
{
	return f->kind == PTC_KIND_JMP || f->kind == PTC_KIND_CALL;
}

size_t lane_front(const struct base *b, struct lane *l, size_t k)
{
	const struct flows *f = run_flows(&b->want, l->queue);
	const bool known = l->front[k] >= 0;

	if (!known)
		l->front[k] = (ptrdiff_t)decided(b, l, last_packet(l, k), l->len, false);
	while (!known && l->front[k] && is_direct(&f->v[l->front[k] - 1]))
		l->front[k]--;
	return (size_t)l->front[k];
}

size_t lane_back(const struct base *b, struct lane *l, size_t k)
{
	if (l->back[k] < 0)
		l->back[k] = (ptrdiff_t)decided(b, l, 0, l->psb[k], true);
	return (size_t)l->back[k];
}
