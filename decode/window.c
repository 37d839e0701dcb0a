/* SPDX-License-Identifier: MIT */
#include "decode/window.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"

/*
 * Bytes behind the place that are kept: what was read last is looked at again. More wait to be
 * given back together, as each time the process's other threads are interrupted.
 */
enum { BEHIND = 4096, TOGETHER = 1 << 20 };

int ptc_window_open(struct ptc_window *w, const struct ptc_span *span, bool writable,
		    struct ptc_err *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map;

	*w = (struct ptc_window){
		.span = span, .bytes = span->bytes, .upto = span->len, .near = SIZE_MAX
	};
	if (span->bytes && !writable)
		return 0;
	/* The room is the end of a page of its own. */
	if (span->len > SIZE_MAX / 2)
		return ptc_fail_mem(err);
	map = mmap(NULL, page + span->len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return ptc_fail_sys(err, errno, "cannot reserve %zu bytes of address space",
				    span->len);
	w->map = map;
	w->map_len = page + span->len;
	w->bytes = w->map + page;
	w->upto = w->near = 0;
	return 0;
}

void ptc_window_release(struct ptc_window *w)
{
	if (w->map)
		(void)munmap(w->map, w->map_len);
	*w = (struct ptc_window)PTC_WINDOW_INIT;
}

static void fill(struct ptc_window *w, size_t from, size_t upto)
{
	ptc_span_read(w->span, from, w->map + (w->bytes - w->map) + from, upto - from);
}

void ptc_window_need(struct ptc_window *w, size_t at, size_t n)
{
	size_t end;

	if (!w->map || at >= w->span->len)
		return;
	end = w->span->len - at < n ? w->span->len : at + n;
	if (w->from == w->upto)
		w->from = w->upto = at;
	if (at < w->from) {
		fill(w, at, w->from);
		w->from = at;
	}
	if (end > w->upto) {
		fill(w, w->upto, end);
		w->upto = end;
		w->near = end == w->span->len	? SIZE_MAX :
			  end > PTC_WINDOW_NEAR ? end - PTC_WINDOW_NEAR :
						  0;
	}
}

/* Give back whole pages in front of @at. */
static void forget(struct ptc_window *w, size_t at)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t from = w->from - w->from % page, upto = at - at % page;

	if (upto <= from)
		return;
	(void)madvise(w->map + page + from, upto - from, MADV_DONTNEED);
	w->from = upto;
}

void ptc_window_move(struct ptc_window *w, size_t at)
{
	if (!w->map || !ptc_window_is_stale(w, at))
		return;
	/* A jump: nothing of what lies between is wanted. */
	if (at > w->upto) {
		forget(w, w->upto);
		w->from = w->upto = at;
	}
	ptc_window_need(w, at, PTC_WINDOW_AHEAD);
	if (at > TOGETHER && at - TOGETHER > w->from)
		forget(w, at - BEHIND);
}
