/* SPDX-License-Identifier: MIT */
#include "decode/dumps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "auxtrace/reader.h"
#include "base/err.h"
#include "decode/clock.h"
#include "decode/grow.h"
#include "decode/jitdump.h"
#include "decode/process.h"
#include "decode/sideband.h"

enum { DUMPS_MAX = 256, DUMP_MAX = 256 << 20 };

/* Code that a jitdump may bring, moved code again: more is not to be believed. */
#define JIT_CODE_MAX ((uint64_t)1 << 30)

/* What one dump is read into. */
struct dump {
	struct ptc_procs *ps;
	struct ptc_sideband *s;
	const struct ptc_tsc_clock *clock;
	const char *path;
	int32_t pid;
	bool tsc;
	bool saved; /* the recording has the process's code itself: names are enough */
	uint64_t code;
};

bool ptc_dumps_is_one(const struct ptc_sb *sb, uint32_t *ret)
{
	return (sb->type == PERF_RECORD_MMAP || sb->type == PERF_RECORD_MMAP2) &&
	       sb->u.mmap.pid >= 0 && ptc_jit_path(sb->u.mmap.filename, ret);
}

/* Does the recording have code of @pid itself? It knows better when it changed. */
static bool has_saved_code(const struct ptc_sideband *s, int32_t pid)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct ptc_sb *sb = &s->events[i].sb;

		if (sb->type == PERF_RECORD_TEXT_POKE && sb->id.pid == pid &&
		    (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
			return true;
	}
	return false;
}

static int add_code(struct dump *d, const struct ptc_jit_code *j, struct ptc_err *err)
{
	struct ptc_jit_names *names = ptc_origin_jit(&d->ps->origin, d->pid);
	const size_t len = ptc_cur_left(&j->code);
	struct ptc_sb sb = {
		.type = PERF_RECORD_TEXT_POKE,
		.misc = PERF_RECORD_MISC_USER,
		.id = { .has = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .pid = d->pid, .tid = d->pid },
		.u.poke = { .addr = j->addr, .new_bytes = j->code },
	};

	sb.id.time = j->time;
	if (d->tsc)
		sb.id.time = d->clock->valid ? ptc_tsc_to_ns(&d->clock->conv, j->time) : 0;
	if (!names || !ptc_names_add(&names->names, j->addr, len ? len : 1, sb.id.time, j->name,
				     strlen(j->name)))
		return ptc_fail_mem(err);
	if (d->saved || !len)
		return 0;
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

/* Does the recording use the clock that dumps have, unless it is the TSC? */
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

/* All of an open file, NULL if it cannot be had. */
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

static int read_dump(struct dump *d, struct ptc_err *err)
{
	const struct ptc_build_id none = { .len = 0 };
	struct ptc_origin *c = &d->ps->origin;
	struct ptc_found found;
	uint8_t *bytes = NULL;
	size_t len;

	if (!ptc_grow(&c->dumps, &c->dumps_cap, c->ndumps + 1, sizeof(*c->dumps)))
		return ptc_fail_mem(err);
	ptc_search_file(&d->ps->files.search, d->path, &none, d->pid, &found);
	if (found.fd >= 0 && found.len <= DUMP_MAX)
		bytes = read_all(found.fd, (size_t)found.len);
	if (!bytes) {
		ptc_found_release(&found);
		return ptc_fail(err, PTC_E_NOT_EXIST, "it cannot be read");
	}
	c->dumps[c->ndumps++] = bytes;
	len = (size_t)found.len;
	ptc_found_release(&found);
	d->code = 0;
	d->saved = has_saved_code(d->s, d->pid);
	return take_dump(d, bytes, len, err);
}

/* The dumps that were read, by who mapped them. */
struct seen {
	const char *path[DUMPS_MAX]; /* lent */
	int32_t pid[DUMPS_MAX];
	size_t n;
};

static bool is_seen(const struct seen *seen, const char *path, int32_t pid)
{
	size_t i;

	for (i = 0; i < seen->n; i++)
		if (seen->pid[i] == pid && !strcmp(seen->path[i], path))
			return true;
	return false;
}

int ptc_dumps_read(struct ptc_procs *ps, struct ptc_sideband *s, const struct ptc_file *f,
		   const struct ptc_tsc_clock *clock, struct ptc_err *err)
{
	struct dump d = { .ps = ps, .s = s, .clock = clock };
	const size_t n = s->n; /* it grows */
	struct seen seen;
	uint32_t number;
	size_t i;
	int r;

	seen.n = 0;
	for (i = 0; i < n && seen.n < DUMPS_MAX; i++) {
		if (!ptc_dumps_is_one(&s->events[i].sb, &number))
			continue;
		d.path = s->events[i].sb.u.mmap.filename;
		d.pid = s->events[i].sb.u.mmap.pid;
		if (is_seen(&seen, d.path, d.pid))
			continue;
		seen.path[seen.n] = d.path;
		seen.pid[seen.n++] = d.pid;
		r = read_dump(&d, err);
		if (r == PTC_E_NO_MEMORY)
			return r;
		if (r < 0)
			ptc_origin_remark(&ps->origin, "jitdump '%s': %s", d.path, err->msg);
		else if (!d.tsc && !d.saved && !is_monotonic(f))
			ptc_origin_remark(&ps->origin,
					  "assumed: the times in '%s' (CLOCK_MONOTONIC) are of the "
					  "recording's clock",
					  d.path);
	}
	return 0;
}
