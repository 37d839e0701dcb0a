/* SPDX-License-Identifier: MIT */
#include "decode/crash/crash_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

enum { PIDS_SHOWN = 6, PIDS_TEXT = 192 /* as many numbers of 64 bits */ };

static void clear_crash_state(struct ptc_crash_state *d)
{
	size_t i;

	for (i = 0; i < d->nmaps; i++)
		free((char *)(uintptr_t)d->maps[i].name);
	for (i = 0; i < d->npieces; i++)
		free(d->pieces[i].copy);
	d->nthreads = d->nmaps = d->npieces = d->nmessages = d->npython = 0;
	d->python_runtime = 0;
	d->siginfo = d->auxv = (struct ptc_cur){ .pos = NULL };
	d->cut = 0;
	d->live = (struct ptc_crash_live){ .pid = 0 };
}

void ptc_crash_state_release(struct ptc_crash_state *d)
{
	clear_crash_state(d);
	free(d->threads);
	free(d->maps);
	free(d->pieces);
	free(d->python);
	*d = (struct ptc_crash_state){ .states = 0 };
}

/* --- reading --- */

static bool add_thread(struct ptc_crash_state *d, const struct ptc_crash *c)
{
	struct ptc_crash_state_thread *t;
	size_t n = ptc_cur_left(&c->bytes);

	if (!ptc_grow(&d->threads, &d->threads_cap, d->nthreads + 1, sizeof(*t)))
		return false;
	t = &d->threads[d->nthreads++];
	*t = (struct ptc_crash_state_thread){ .state = c->u.thread };
	if (n > sizeof(t->name) - 1)
		n = sizeof(t->name) - 1;
	if (n)
		memcpy(t->name, c->bytes.pos, n);
	return true;
}

/* A task record belongs to the thread in front of it. */
static void add_task(struct ptc_crash_state *d, const struct ptc_crash *c)
{
	struct ptc_crash_state_thread *t = d->nthreads ? &d->threads[d->nthreads - 1] : NULL;

	if (!t || t->state.tid != c->u.task.tid)
		return;
	t->task = c->u.task;
	t->file = c->bytes;
}

static bool add_map(struct ptc_crash_state *d, const struct ptc_crash *c)
{
	char *name = strndup((const char *)c->bytes.pos, ptc_cur_left(&c->bytes));
	struct ptc_crash_state_map *m;

	if (!name || !ptc_grow(&d->maps, &d->maps_cap, d->nmaps + 1, sizeof(*m))) {
		free(name);
		return false;
	}
	d->maps[d->nmaps++] = (struct ptc_crash_state_map){ c->u.map, name };
	return true;
}

static bool add_piece(struct ptc_crash_state *d, const struct ptc_crash *c)
{
	if (__builtin_add_overflow(d->cut, c->u.memory.cut, &d->cut))
		d->cut = UINT64_MAX;
	if (!ptc_grow(&d->pieces, &d->pieces_cap, d->npieces + 1, sizeof(*d->pieces)))
		return false;
	d->pieces[d->npieces++] =
		(struct ptc_crash_state_piece){ c->u.memory.addr, c->bytes, NULL };
	return true;
}

bool ptc_crash_state_add_message(struct ptc_crash_state *d, const struct ptc_crash_message *m)
{
	if (m->what == PTC_CRASH_PYTHON_RUNTIME) {
		d->python_runtime = m->addr;
		return true;
	}
	if (m->what < PTC_CRASH_PYTHON_3_11 || m->what > PTC_CRASH_PYTHON_3_13) {
		if (d->nmessages < PTC_CRASH_STATE_MESSAGES)
			d->messages[d->nmessages++] = *m;
		return true;
	}
	if (d->npython == PTC_CRASH_STATE_PYTHON)
		return true;
	if (!ptc_grow(&d->python, &d->python_cap, d->npython + 1, sizeof(*d->python)))
		return false;
	d->python[d->npython++] = *m;
	return true;
}

static bool add_crash_record(struct ptc_crash_state *d, const struct ptc_crash *c)
{
	switch (c->kind) {
	case PTC_CRASH_THREAD:
		return add_thread(d, c);
	case PTC_CRASH_MAP:
		return add_map(d, c);
	case PTC_CRASH_MEMORY:
		return add_piece(d, c);
	case PTC_CRASH_AUXV:
		d->auxv = c->bytes;
		return true;
	case PTC_CRASH_MESSAGE:
		return ptc_crash_state_add_message(d, &c->u.message);
	case PTC_CRASH_TASK:
		add_task(d, c);
		return true;
	case PTC_CRASH_LIVE:
		d->live = c->u.live;
		return true;
	default:
		return true;
	}
}

/*
 * Reads the last state of process @pid (0: any). @live: states of live processes count too. *@ret:
 * there was one.
 */
static int read_last(struct ptc_crash_state *d, const struct ptc_file *f, uint64_t pid, bool live,
		     bool *ret, struct ptc_err *err)
{
	struct ptc_crash c;
	struct ptc_rec rec;
	bool wanted = false;
	uint64_t pos = 0;
	int rc, is;

	*ret = false;
	while ((rc = ptc_file_next(f, &pos, &rec, err)) == 1) {
		is = ptc_crash_parse(&rec, &c, err);
		if (is < 0)
			return ptc_file_err_name(f, err);
		if (is && c.kind == PTC_CRASH_SIGNAL) {
			wanted = (!pid || c.u.signal.pid == pid) && (live || c.u.signal.signo);
			d->states += live || c.u.signal.signo;
		}
		if (!is || !wanted)
			continue;
		*ret = true;
		if (c.kind == PTC_CRASH_SIGNAL) {
			clear_crash_state(d);
			d->signal = c.u.signal;
			d->siginfo = c.bytes;
		} else if (!add_crash_record(d, &c)) {
			return ptc_fail_mem(err);
		}
	}
	return rc < 0 ? rc : 0;
}

int ptc_crash_state_read(struct ptc_crash_state *d, const struct ptc_file *f, uint64_t pid,
			 struct ptc_err *err)
{
	struct ptc_crash_pids pids;
	bool found;
	int rc = read_last(d, f, pid, false, &found, err);

	if (rc || found)
		return rc;
	if (pid)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"'%s' has no crash of process %" PRIu64
				"; `ptcap info` shows which process was killed",
				ptc_file_name(f), pid);
	rc = ptc_crash_state_pids(f, &pids, err);
	if (rc)
		return rc;
	if (pids.n)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"'%s' has no crash: no signal killed a process; `ptcap stacks` "
				"shows what the threads did, and `ptcap crash core` writes a core",
				ptc_file_name(f));
	return ptc_fail(err, PTC_E_NOT_EXIST,
			"'%s' has no saved crash; record one with `ptcap crash`", ptc_file_name(f));
}

int ptc_crash_state_read_any(struct ptc_crash_state *d, const struct ptc_file *f, uint64_t pid,
			     struct ptc_err *err)
{
	bool found;
	const int rc = read_last(d, f, pid, true, &found, err);

	if (rc || found)
		return rc;
	return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' has no state of process %" PRIu64,
			ptc_file_name(f), pid);
}

/* Gets the next state's signal of @f, from @pos on. Returns 1, 0 at the end, or an error. */
static int next_signal(const struct ptc_file *f, uint64_t *pos, struct ptc_crash_signal *ret,
		       struct ptc_err *err)
{
	struct ptc_crash c;
	struct ptc_rec rec;
	int rc, is;

	while ((rc = ptc_file_next(f, pos, &rec, err)) == 1) {
		is = ptc_crash_parse(&rec, &c, err);
		if (is < 0)
			return ptc_file_err_name(f, err);
		if (!is || c.kind != PTC_CRASH_SIGNAL)
			continue;
		*ret = c.u.signal;
		return 1;
	}
	return rc < 0 ? rc : 0;
}

int ptc_crash_state_pids(const struct ptc_file *f, struct ptc_crash_pids *ret, struct ptc_err *err)
{
	struct ptc_crash_signal s = { .signo = 0 };
	uint64_t pos = 0;
	size_t i;
	int rc;

	ret->n = ret->left_out = 0;
	while ((rc = next_signal(f, &pos, &s, err)) == 1) {
		for (i = 0; i < ret->n && ret->pids[i] != s.pid; i++)
			;
		if (i == PTC_CRASH_PIDS_MAX)
			ret->left_out++;
		else if (i == ret->n)
			ret->pids[ret->n++] = s.pid;
	}
	return rc;
}

static void add_death(struct ptc_crash_deaths *d, const struct ptc_crash_signal *s)
{
	if (d->n == PTC_CRASH_DEATHS_MAX) {
		memmove(d->items, d->items + 1, sizeof(d->items) - sizeof(d->items[0]));
		d->n--;
		d->left_out++;
	}
	d->items[d->n++] = *s;
}

int ptc_crash_state_deaths(const struct ptc_file *f, struct ptc_crash_deaths *ret,
			   struct ptc_err *err)
{
	struct ptc_crash_signal s = { .signo = 0 };
	uint64_t pos = 0;
	int rc;

	ret->n = ret->left_out = 0;
	while ((rc = next_signal(f, &pos, &s, err)) == 1)
		if (s.signo)
			add_death(ret, &s);
	return rc;
}

/* Prints the processes into @ret: "12, 34 and 5 more". */
static void list_pids(const struct ptc_crash_pids *p, char ret[PIDS_TEXT])
{
	const size_t shown = p->n < PIDS_SHOWN ? p->n : PIDS_SHOWN;
	size_t i, len = 0;

	ret[0] = '\0';
	for (i = 0; i < shown; i++)
		len += (size_t)snprintf(ret + len, PIDS_TEXT - len, "%s%" PRIu64, i ? ", " : "",
					p->pids[i]);
	if (p->n + p->left_out > shown)
		(void)snprintf(ret + len, PIDS_TEXT - len, " and %" PRIu64 " more",
			       p->n + p->left_out - shown);
}

int ptc_crash_state_read_killed_or_live(struct ptc_crash_state *d, const struct ptc_file *f,
					uint64_t pid, struct ptc_err *err)
{
	struct ptc_crash_pids pids;
	char text[PIDS_TEXT];
	bool found;
	int rc = read_last(d, f, pid, false, &found, err);

	if (rc || found)
		return rc;
	rc = ptc_crash_state_pids(f, &pids, err);
	if (rc)
		return rc;
	list_pids(&pids, text);
	if (!pid && pids.n > 1)
		return ptc_fail(err, PTC_E_USAGE,
				"'%s' has states of several processes: %s; choose one with --pid",
				ptc_file_name(f), text);
	rc = read_last(d, f, pid, true, &found, err);
	if (rc || found)
		return rc;
	if (pids.n)
		return ptc_fail(err, PTC_E_NOT_EXIST,
				"'%s' has no state of process %" PRIu64 ", but of process %s",
				ptc_file_name(f), pid, text);
	return ptc_fail(err, PTC_E_NOT_EXIST,
			"'%s' has no state of a process; record one with `ptcap crash` or `ptcap "
			"stacks -p PID -o FILE`",
			ptc_file_name(f));
}
