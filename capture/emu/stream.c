/* SPDX-License-Identifier: MIT */
/* A guest thread's stream of words, written to a ring that the trace unit reads. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/emu/owner_liveness.h"
#include "capture/emu/plugin.h"

enum { LOOK_NS = 50000000 /* interval of checks that ptcap still lives */ };

/* Ring for words that are discarded. */
static uint32_t nowhere[PTC_EMU_WORDS];
static struct ptc_emu_slot no_slot;

static void stop(void)
{
	atomic_store(&ptc_emu_proc.sh->stop, 1);
}

static long futex(atomic_uint *word, int op, unsigned int val, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, val, timeout, NULL, 0);
}

void ptc_emu_ring_bell(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;

	(void)atomic_fetch_add(&sh->bell, 1);
	if (atomic_load(&sh->sleeping))
		(void)futex(&sh->bell, FUTEX_WAKE, 1, NULL);
}

void ptc_emu_await(atomic_uint *word, unsigned int seen)
{
	static const struct timespec look = { .tv_nsec = LOOK_NS };

	ptc_emu_ring_bell();
	if (futex(word, FUTEX_WAIT, seen, &look) && errno == ETIMEDOUT &&
	    !ptc_emu_owner_lives(ptc_emu_proc.sh))
		stop();
}

void ptc_emu_wake(atomic_uint *word)
{
	(void)futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

/* Waits until the trace unit has read this thread's stream up to @want. */
static void wait_tail(struct ptc_emu_me *m, uint64_t want)
{
	struct ptc_emu_slot *slot = m->slot;
	const int saved = errno;

	while (!ptc_emu_stopped()) {
		const unsigned int seen = atomic_load(&slot->room);

		atomic_store(&slot->waiting, 1);
		if (atomic_load(&slot->tail) >= want)
			break;
		ptc_emu_await(&slot->room, seen);
	}
	atomic_store(&slot->waiting, 0);
	errno = saved;
}

void ptc_emu_to_nowhere(struct ptc_emu_me *m)
{
	m->slot = &no_slot;
	m->ring = nowhere;
	m->limit = UINT64_MAX;
}

static void set_limit(struct ptc_emu_me *m, uint64_t tail)
{
	const uint64_t full = tail + PTC_EMU_WORDS;

	m->limit = m->pos + PTC_EMU_WAKE < full ? m->pos + PTC_EMU_WAKE : full;
}

void ptc_emu_make_room(struct ptc_emu_me *m)
{
	uint64_t tail;

	if (ptc_emu_stopped()) {
		ptc_emu_to_nowhere(m);
		return;
	}
	tail = atomic_load_explicit(&m->slot->tail, memory_order_acquire);
	if (m->pos - tail >= PTC_EMU_WORDS) {
		wait_tail(m, m->pos - PTC_EMU_WORDS / 2);
		if (ptc_emu_stopped()) {
			ptc_emu_to_nowhere(m);
			return;
		}
		tail = atomic_load_explicit(&m->slot->tail, memory_order_acquire);
	} else {
		ptc_emu_ring_bell();
	}
	set_limit(m, tail);
}

static void put_word(struct ptc_emu_me *m, uint32_t word)
{
	if (m->pos == m->limit)
		ptc_emu_make_room(m);
	m->ring[m->pos % PTC_EMU_WORDS] = word;
	m->pos++;
}

static void put_bytes_as_words(struct ptc_emu_me *m, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint32_t word;

	for (; len; p += sizeof(word)) {
		const size_t n = len < sizeof(word) ? len : sizeof(word);

		word = 0;
		memcpy(&word, p, n);
		put_word(m, word);
		len -= n;
	}
}

static uint32_t words_of(size_t len)
{
	return (uint32_t)((len + 3) / 4);
}

void ptc_emu_put_text(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len,
		      const char *text)
{
	const size_t text_len = text ? strnlen(text, PTC_EMU_PATH - 1) + 1 : 0;

	put_word(m, ptc_emu_event(type, words_of(len) + words_of(text_len)));
	put_bytes_as_words(m, payload, len);
	put_bytes_as_words(m, text, text_len);
	ptc_emu_publish(m);
}

void ptc_emu_put(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len)
{
	ptc_emu_put_text(m, type, payload, len, NULL);
}

bool ptc_emu_has_stream(const struct ptc_emu_me *m)
{
	return m->slot && m->slot != &no_slot;
}

bool ptc_emu_is_nowhere(const struct ptc_emu_me *m)
{
	return m->slot == &no_slot;
}

void ptc_emu_open(struct ptc_emu_me *m, struct ptc_emu_slot *slot, uint32_t index)
{
	m->slot = slot;
	m->ring = ptc_emu_ring(ptc_emu_proc.sh, index);
	m->pos = atomic_load(&slot->head);
	atomic_store(&slot->parked, 0);
	atomic_store(&slot->call, m->in_call ? (unsigned int)m->call + 1 : 0);
	ptc_emu_show_env(m);
	set_limit(m, atomic_load(&slot->tail));
}

void ptc_emu_sync(struct ptc_emu_me *m)
{
	if (ptc_emu_has_stream(m))
		wait_tail(m, m->pos);
}
