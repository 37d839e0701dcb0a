/* SPDX-License-Identifier: MIT */
#include "decode/sideband/jitdump_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "base/budget.h"
#include "base/err.h"
#include "base/grow.h"
#include "decode/elf/elf_memory.h"
#include "decode/elf/omitted_data.h"
#include "decode/sideband/jitdump_parse.h"
#include "decode/sideband/process.h"
#include "decode/sideband/sideband.h"
#include "decode/stream/tsc_clock.h"
#include "ptcap/ledger.h"

enum { DUMPS_MAX = 256, DUMP_MAX = 256 << 20 };

/* Code that a jitdump may bring, moved code counted again. More is not believable. */
#define JIT_CODE_MAX ((uint64_t)1 << 30)

/* State for reading one dump. */
struct dump {
	struct ptc_origin *origin;
	struct ptc_sideband *s;
	const struct ptc_tsc_clock *clock;
	struct ptc_dump *file;
	struct ptc_ledger_clock first, last; /* from the recording; zeros: unknown */
	bool same;			     /* the recording has the clock of the dump */
	bool tsc;
	uint64_t code;
};

static void release(struct ptc_dump *d)
{
	if (!d->shared)
		free(d->bytes);
	d->bytes = NULL;
}

void ptc_dumps_release(struct ptc_dumps *d)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		release(&d->dumps[i]);
	free(d->dumps);
	memset(d, 0, sizeof(*d));
}

bool ptc_dumps_note(struct ptc_dumps *d, const struct ptc_sb_mmap *m)
{
	uint32_t number;
	size_t i;

	if (!ptc_jit_path(m->filename, &number))
		return false;
	for (i = 0; i < d->n; i++)
		if (d->dumps[i].pid == m->pid && !strcmp(d->dumps[i].path, m->filename))
			return true;
	if (d->n < DUMPS_MAX && ptc_grow(&d->dumps, &d->cap, d->n + 1, sizeof(*d->dumps)))
		d->dumps[d->n++] = (struct ptc_dump){ .path = m->filename, .pid = m->pid };
	return true;
}

static uint64_t later(uint64_t time, uint64_t by)
{
	return by < UINT64_MAX - time ? time + by : UINT64_MAX;
}

static uint64_t earlier(uint64_t time, uint64_t by)
{
	return by < time ? time - by : 0;
}

/* Convert @ns, which is not negative. */
static uint64_t whole(double ns)
{
	return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

/*
 * Convert CLOCK_MONOTONIC to the recording's clock. Both are known at the beginning and the end of
 * the recording, and the rate between is constant enough. A damaged recording may have any values:
 * a time that does not fit becomes the first or the last one.
 */
static uint64_t from_monotonic(const struct dump *d, uint64_t ns)
{
	const struct ptc_ledger_clock *a = &d->first, *b = &d->last;
	const double span = (double)(b->monotonic_ns - a->monotonic_ns);
	const double rate = span > 0 ? (double)(b->time_ns - a->time_ns) / span : 1;
	const double ahead = ((double)ns - (double)a->monotonic_ns) * (rate - 1);
	uint64_t even; /* at the same rate */

	if (ns >= a->monotonic_ns)
		even = later(a->time_ns, ns - a->monotonic_ns);
	else
		even = earlier(a->time_ns, a->monotonic_ns - ns);
	return ahead < 0 ? earlier(even, whole(-ahead)) : later(even, whole(ahead));
}

static uint64_t time_of(const struct dump *d, uint64_t time)
{
	if (d->tsc)
		return d->clock->valid ? ptc_tsc_to_ns(&d->clock->conv, time) : 0;
	return d->same || !d->first.time_ns ? time : from_monotonic(d, time);
}

static int add_code(struct dump *d, const struct ptc_jit_code *j, struct ptc_err *err)
{
	struct ptc_jit_names *names = ptc_origin_jit(d->origin, d->file->pid);
	const size_t len = ptc_cur_left(&j->code);
	uint64_t since, until;
	struct ptc_sb sb = {
		.type = PERF_RECORD_TEXT_POKE,
		.misc = PERF_RECORD_MISC_USER,
		.id = { .has = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
			.pid = d->file->pid,
			.tid = d->file->pid },
		.u.poke = { .addr = j->addr, .new_bytes = j->code },
	};

	sb.id.time = time_of(d, j->time);
	/* The dump lives as long as the names. */
	if (!names ||
	    !ptc_text_symbols_lend(&names->names, j->addr, len ? len : 1, sb.id.time, j->name))
		return ptc_fail_mem(err);
	d->file->used = true;
	ptc_origin_life(d->origin, d->file->pid, sb.id.time, &since, &until);
	if (!len || ptc_poked_pages_have(&names->poked, j->addr, len, since, until)) {
		sb.misc |= PTC_SIDEBAND_NAME;
		return ptc_sideband_add(d->s, &sb, err);
	}
	d->code += len;
	if (d->code > JIT_CODE_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "it has more code than is believable");
	return ptc_sideband_add(d->s, &sb, err);
}

static int take_dump(struct dump *d, const uint8_t *bytes, size_t len, struct ptc_err *err)
{
	struct ptc_jit_iter it;
	struct ptc_jit_head head;
	struct ptc_jit_code j;
	int r = ptc_jit_begin(&it, bytes, len, &head, err);

	if (r < 0)
		return r;
	d->tsc = head.tsc;
	while ((r = ptc_jit_next(&it, &j, err)) > 0) {
		r = add_code(d, &j, err);
		if (r < 0)
			break;
	}
	ptc_jit_end(&it);
	return r;
}

/* Does the recording use the clock of dumps that do not use the TSC? */
static bool is_monotonic(const struct ptc_file *f)
{
	size_t i;

	for (i = 0; i < ptc_file_nattrs(f); i++) {
		const struct perf_event_attr *a = &ptc_file_attr(f, i)->attr;

		if (!a->use_clockid || a->clockid != CLOCK_MONOTONIC)
			return false;
	}
	return true;
}

/* Read the clocks in the recording's ledger. */
static int read_clocks(struct dump *d, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_ledger ledger;
	struct ptc_ledger_clock c;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int r;

	while ((r = ptc_file_next(f, &pos, &rec, err)) > 0) {
		if (ptc_ledger_parse(&rec, &ledger, err) <= 0)
			continue;
		while (ptc_ledger_next_clock(&ledger, &c)) {
			d->last = c;
			if (!d->first.time_ns)
				d->first = c;
		}
	}
	return r == PTC_E_NO_MEMORY ? r : 0;
}

/* Returns all bytes of an open file. NULL: not available. */
static uint8_t *read_all(int fd, size_t len)
{
	uint8_t *bytes = malloc(len);
	size_t done = 0;
	ssize_t r = 1;

	while (bytes && done < len && (r > 0 || (r < 0 && errno == EINTR))) {
		r = pread(fd, bytes + done, len - done, (off_t)done);
		if (r > 0)
			done += (size_t)r;
	}
	if (done == len)
		return bytes;
	free(bytes);
	return NULL;
}

/* A dump has code that is decoded, so only files of the user or of root are trusted. */
static int may_be_read(const struct ptc_found *found, struct stat *ret_st, struct ptc_err *err)
{
	if (found->fd < 0 && found->special) {
		*err = found->why;
		return err->code;
	}
	if (found->fd < 0 || fstat(found->fd, ret_st))
		return ptc_fail(err, PTC_E_NOT_EXIST, "it cannot be read");
	if (found->len > DUMP_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "it has more than %d MiB", DUMP_MAX >> 20);
	return ptc_untrusted_owner(ret_st, geteuid(), found->path, PTC_ORIGIN_WAY_OUT, err);
}

/* Returns an earlier dump that is the same file. NULL: there is none. */
static const struct ptc_dump *same_file(const struct dump *d)
{
	const struct ptc_dump *v = d->origin->dumps.dumps;

	for (; v < d->file; v++)
		if (v->len == d->file->len && v->ino == d->file->ino && v->dev == d->file->dev)
			return v;
	return NULL;
}

/*
 * Get the dump's bytes: from an earlier dump of the same file, or from @fd. No bytes: the file is
 * empty, or over the budget.
 */
static int get_bytes(struct dump *d, int fd, struct ptc_err *err)
{
	struct ptc_dump *file = d->file;
	const struct ptc_dump *same = same_file(d);

	if (same) {
		file->shared = true;
		file->bytes = same->bytes;
		return 0;
	}
	if (!ptc_elf_memory_allows(file->len, "code", file->path, &d->origin->files.left))
		return 0;
	file->bytes = read_all(fd, (size_t)file->len);
	return file->bytes ? 0 : ptc_fail(err, PTC_E_NOT_EXIST, "it cannot be read");
}

static int read_dump(struct dump *d, struct ptc_err *err)
{
	const struct ptc_build_id none = { .len = 0 };
	struct ptc_found found;
	struct stat st = { .st_ino = 0 };
	int r;

	ptc_search_file(&d->origin->files.search, d->file->path, &none, d->file->pid, &found);
	r = may_be_read(&found, &st, err);
	if (!r) {
		d->file->len = found.len;
		d->file->ino = st.st_ino;
		d->file->dev = st.st_dev;
		r = get_bytes(d, found.fd, err);
	}
	ptc_found_release(&found);
	if (r || !d->file->bytes)
		return r;
	d->code = 0;
	r = take_dump(d, d->file->bytes, (size_t)d->file->len, err);
	if (!d->file->used)
		release(d->file);
	if (r != PTC_E_NO_MEMORY)
		return r;
	ptc_omitted_data_add(&d->origin->files.left, d->file->path, "rest of the code", 0);
	return 0;
}

int ptc_dumps_read(struct ptc_origin *c, struct ptc_sideband *s, const struct ptc_file *f,
		   const struct ptc_tsc_clock *clock, struct ptc_err *err)
{
	struct dump d = { .origin = c, .s = s, .clock = clock, .same = is_monotonic(f) };
	/* Keep half of the budget for later steps, without which nothing can be decoded. */
	const uint64_t kept = ptc_budget_left() / 2;
	size_t i;
	int r = c->dumps.n ? read_clocks(&d, f, err) : 0;

	if (r < 0)
		return r;
	ptc_budget_hold(kept);
	for (i = 0; i < c->dumps.n; i++) {
		d.file = &c->dumps.dumps[i];
		r = read_dump(&d, err);
		if (r < 0)
			ptc_origin_remark(c, "jitdump '%s': %s", d.file->path, err->msg);
		else if (!d.tsc && !d.same && !d.first.time_ns)
			ptc_origin_remark(c,
					  "assumed: the times in '%s' (CLOCK_MONOTONIC) are of the "
					  "recording's clock",
					  d.file->path);
	}
	ptc_budget_drop(kept);
	ptc_sideband_sort(s);
	return 0;
}
