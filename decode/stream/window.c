/* SPDX-License-Identifier: MIT */
#include "decode/stream/window.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"

/*
 * BEHIND: bytes kept behind the position, because recently read bytes are read again. TOGETHER:
 * bytes freed at once, because each call interrupts the other threads of the process.
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
	/* The space in front is the end of a separate page. */
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
	w->low = SIZE_MAX;
	return 0;
}

void ptc_window_release(struct ptc_window *w)
{
	if (w->map)
		(void)munmap(w->map, w->map_len);
	ptc_mask_release(&w->mask);
	*w = (struct ptc_window)PTC_WINDOW_INIT;
}

static void fill(struct ptc_window *w, size_t from, size_t upto)
{
	if (from < w->low)
		w->low = from;
	ptc_span_read(w->span, from, w->map + (w->bytes - w->map) + from, upto - from);
}

void ptc_window_need(struct ptc_window *w, size_t at, size_t n)
{
	size_t end;

	if (!w->map || at >= w->span->len)
		return;
	end = w->span->len - at < n ? w->span->len : at + n;
	if (w->from == w->upto) {
		w->from = w->upto = at;
		ptc_mask_restart(&w->mask, at);
	}
	if (at < w->from) {
		fill(w, at, w->from);
		w->from = at;
	}
	if (end > w->upto) {
		fill(w, w->upto, end);
		w->upto = end;
		ptc_mask_run(&w->mask, w->map + (w->bytes - w->map), w->from, end,
			     end == w->span->len);
	}
}

/* Frees whole pages in front of @at. */
static void free_pages_before(struct ptc_window *w, size_t at)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t from = w->low - w->low % page, upto = at - at % page;

	if (upto <= from)
		return;
	(void)madvise(w->map + page + from, upto - from, MADV_DONTNEED);
	w->low = upto;
	if (w->from < upto)
		w->from = upto;
}

static void forget_what_is_far(struct ptc_window *w, size_t at)
{
	if (at > TOGETHER && at - TOGETHER > w->low)
		free_pages_before(w, at - BEHIND);
}

/* Fills [at, at + n). Bytes between that and the window are not needed. */
static void fill_at(struct ptc_window *w, size_t at, size_t n)
{
	if (at > w->upto) {
		w->from = w->upto = at;
		ptc_mask_restart(&w->mask, at);
	}
	ptc_window_need(w, at, n);
	forget_what_is_far(w, at);
}

void ptc_window_move(struct ptc_window *w, size_t at)
{
	const size_t near = (at / PTC_WINDOW_NEAR + 1) * PTC_WINDOW_NEAR;

	if (!w->map || !ptc_window_is_stale(w, at))
		return;
	fill_at(w, at, near + PTC_WINDOW_NEAR - at);
	w->near = w->upto == w->span->len ? SIZE_MAX : near;
}

void ptc_window_peek(struct ptc_window *w, size_t at)
{
	if (!w->map || (at >= w->from && at < w->near))
		return;
	fill_at(w, at, PTC_WINDOW_PEEK);
	/* A TNT packet: libipt reads no further. */
	if (w->upto < w->span->len)
		ptc_window_put(w, (ptrdiff_t)w->upto, 0x06);
}
