/* SPDX-License-Identifier: MIT */
#include "cli/timeline/fxt_writer.h"

#include <string.h>

#include "base/err.h"
#include "base/io.h"

enum {
	WORD = 8,
	BUFFER_MAX = 1 << 16,
	INLINE = 0x8000, /* in the index of a string: its length, and the text follows */
	/* types of records */
	METADATA = 0,
	INITIALIZATION = 1,
	STRING = 2,
	THREAD = 3,
	EVENT = 4,
	OBJECT = 7,
	/* types of metadata */
	PROVIDER_INFO = 1,
	PROVIDER_SECTION = 2,
	PROVIDER = 1, /* number of the only provider */
	/* types of arguments */
	U32 = 2,
	U64 = 4,
	TEXT = 6,
	KOID = 8,
};

#define MAGIC	       UINT64_C(0x0016547846040010)
#define TICKS_A_SECOND UINT64_C(1000000000)

void ptc_fxt_release(struct ptc_fxt_writer *w)
{
	ptc_buf_release(&w->buf);
}

static uint64_t words_of(const char *text)
{
	return (strlen(text) + WORD - 1) / WORD;
}

/* Begins a record of @words words, the header included. */
static void put_header_word(struct ptc_fxt_writer *w, uint64_t type, uint64_t words, uint64_t rest)
{
	ptc_buf_le64(&w->buf, type | words << 4 | rest);
}

static void put_text_words(struct ptc_fxt_writer *w, const char *text)
{
	const size_t len = strlen(text);

	ptc_buf_put(&w->buf, text, len);
	ptc_buf_zero(&w->buf, words_of(text) * WORD - len);
}

int ptc_fxt_flush(struct ptc_fxt_writer *w, struct ptc_err *err)
{
	int rc;

	if (ptc_buf_failed(&w->buf))
		return ptc_fail_mem(err);
	rc = ptc_write_all(w->fd, w->buf.bytes, w->buf.len, w->name, err);
	w->written += w->buf.len;
	ptc_buf_reset(&w->buf);
	return rc;
}

static int end_fxt_record(struct ptc_fxt_writer *w, struct ptc_err *err)
{
	if (ptc_buf_failed(&w->buf) || w->buf.len >= BUFFER_MAX)
		return ptc_fxt_flush(w, err);
	return 0;
}

int ptc_fxt_begin(struct ptc_fxt_writer *w, const char *provider, struct ptc_err *err)
{
	const uint64_t id = (uint64_t)PROVIDER << 20;

	ptc_buf_le64(&w->buf, MAGIC);
	put_header_word(w, METADATA, 1 + words_of(provider),
			(uint64_t)PROVIDER_INFO << 16 | id | (uint64_t)strlen(provider) << 52);
	put_text_words(w, provider);
	put_header_word(w, METADATA, 1, (uint64_t)PROVIDER_SECTION << 16 | id);
	put_header_word(w, INITIALIZATION, 2, 0);
	ptc_buf_le64(&w->buf, TICKS_A_SECOND);
	return end_fxt_record(w, err);
}

uint64_t ptc_fxt_string_bytes(const char *text)
{
	return (1 + words_of(text)) * WORD;
}

int ptc_fxt_string(struct ptc_fxt_writer *w, uint16_t index, const char *text, struct ptc_err *err)
{
	put_header_word(w, STRING, 1 + words_of(text),
			(uint64_t)index << 16 | (uint64_t)strlen(text) << 32);
	put_text_words(w, text);
	return end_fxt_record(w, err);
}

int ptc_fxt_thread(struct ptc_fxt_writer *w, uint8_t index, int32_t pid, int32_t tid,
		   struct ptc_err *err)
{
	put_header_word(w, THREAD, 3, (uint64_t)index << 16);
	ptc_buf_le64(&w->buf, (uint32_t)pid);
	ptc_buf_le64(&w->buf, (uint32_t)tid);
	return end_fxt_record(w, err);
}

int ptc_fxt_object(struct ptc_fxt_writer *w, enum ptc_fxt_object type, int32_t id, const char *name,
		   uint16_t process_arg, int32_t pid, struct ptc_err *err)
{
	const uint64_t name_ref = *name ? INLINE | (uint64_t)strlen(name) : 0;
	const uint64_t args = process_arg ? 1 : 0;

	put_header_word(w, OBJECT, 2 + words_of(name) + 2 * args,
			(uint64_t)type << 16 | name_ref << 24 | args << 40);
	ptc_buf_le64(&w->buf, (uint32_t)id);
	put_text_words(w, name);
	if (process_arg) {
		put_header_word(w, KOID, 2, (uint64_t)process_arg << 16);
		ptc_buf_le64(&w->buf, (uint32_t)pid);
	}
	return end_fxt_record(w, err);
}

static bool is_long_number(const struct ptc_fxt_arg *a)
{
	return !a->string && a->number > UINT32_MAX;
}

static void put_arg(struct ptc_fxt_writer *w, const struct ptc_fxt_arg *a)
{
	const uint64_t name = (uint64_t)a->name << 16;

	if (a->string) {
		put_header_word(w, TEXT, 1, name | (uint64_t)a->string << 32);
	} else if (is_long_number(a)) {
		put_header_word(w, U64, 2, name);
		ptc_buf_le64(&w->buf, a->number);
	} else {
		put_header_word(w, U32, 1, name | a->number << 32);
	}
}

int ptc_fxt_event(struct ptc_fxt_writer *w, enum ptc_fxt_event type, uint8_t thread,
		  uint16_t category, uint16_t name, const char *text, uint64_t ns,
		  const struct ptc_fxt_args *args, struct ptc_err *err)
{
	const uint64_t name_ref = text ? INLINE | (uint64_t)strlen(text) : name;
	uint64_t words = 2 + (text ? words_of(text) : 0);
	size_t i;

	for (i = 0; i < args->n; i++)
		words += is_long_number(&args->v[i]) ? 2 : 1;
	put_header_word(w, EVENT, words,
			(uint64_t)type << 16 | (uint64_t)args->n << 20 | (uint64_t)thread << 24 |
				(uint64_t)category << 32 | name_ref << 48);
	ptc_buf_le64(&w->buf, ns);
	if (text)
		put_text_words(w, text);
	for (i = 0; i < args->n; i++)
		put_arg(w, &args->v[i]);
	return end_fxt_record(w, err);
}
