/* SPDX-License-Identifier: MIT */
#include "cli/decode/address_text.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "cli/decode/line_buffer.h"

/* What a text depends on, apart from the settings of its printer. */
struct address_key {
	uint64_t ip;
	uint64_t code; /* number of the code at ip (ptc_decode_code_part) */
	/* INSN, DISASM: bytes of the instruction; BRANCH: target, and number of the code there */
	uint64_t more[2];
	/* column; INSN, DISASM: length of the instruction; BRANCH: kind and flags */
	uint64_t what;
};

struct address_text {
	struct address_key key;
	uint32_t older;	     /* offset of the next older text with the same hash; 0: none */
	uint32_t next;	     /* offset of the text that was wanted after this one; 0: none */
	uint16_t first, len; /* of the first part; of the whole text */
	char text[];
};

enum {
	/* Memory of the texts. When it is full, all texts are made again. */
	BYTES_MIN = 1 << 16,
	BYTES_MAX = 32 << 20,
	BUDGET_PART = 16,    /* the part of the memory budget that texts may take: 1/16 */
	BYTES_OF_HEAD = 128, /* for each hash; about the size of a text */
	FIRST = alignof(struct address_text), /* 0 is no offset of a text */
	TEXT_MAX = 4096,
	PROBES = 32, /* texts with one hash that are looked at: a recording may choose addresses */
	PATIENCE = 4096, /* texts that are not kept until memory is asked for again */
};

static_assert(sizeof(((struct ptc_item *)NULL)->insn) == 15, "an instruction and its length");
static_assert(TEXT_MAX <= UINT16_MAX, "ends of parts");

void ptc_address_texts_release(struct ptc_address_texts *t)
{
	free(t->bytes);
	free(t->heads);
	*t = (struct ptc_address_texts){ .cap = 0 };
}

static struct address_text *text_at(const struct ptc_address_texts *t, uint32_t off)
{
	return off ? (struct address_text *)(void *)(t->bytes + off) : NULL;
}

static struct address_key key_of(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip,
				 enum ptc_address_column column)
{
	struct address_key key = { .ip = ip, .what = column };

	key.code = ptc_code_parts_at(&p->texts.code, p->d, it, ip)->number;
	if (column == PTC_ADDRESS_INSN || column == PTC_ADDRESS_DISASM) {
		memcpy(key.more, it->insn, sizeof(it->insn));
		key.what |= (uint64_t)it->insn_len << 8;
	} else if (column == PTC_ADDRESS_BRANCH) {
		key.more[0] = it->to;
		key.more[1] = ptc_code_parts_at(&p->texts.code, p->d, it, it->to)->number;
		key.what |= (uint64_t)it->flags << 16 | (uint64_t)it->kind << 8;
	}
	return key;
}

static bool is_same_key(const struct address_key *a, const struct address_key *b)
{
	return a->ip == b->ip && a->code == b->code && a->more[0] == b->more[0] &&
	       a->more[1] == b->more[1] && a->what == b->what;
}

static uint32_t *head_of(const struct ptc_address_texts *t, const struct address_key *key)
{
	const uint64_t hash = (key->ip * 0x9e3779b97f4a7c15) ^
			      ((key->code << 8 ^ key->what) * 0xc2b2ae3d27d4eb4f) ^
			      (key->more[0] * 0x165667b19e3779f9);

	return &t->heads[(hash >> 32) & (t->cap / BYTES_OF_HEAD - 1)];
}

static void forget_texts(struct ptc_address_texts *t)
{
	memset(t->heads, 0, t->cap / BYTES_OF_HEAD * sizeof(*t->heads));
	t->used = FIRST;
	t->last = 0;
}

static uint32_t size_of_text(size_t len)
{
	const size_t align = alignof(struct address_text);

	return (uint32_t)((sizeof(struct address_text) + len + align - 1) / align * align);
}

/* Finds the heads of all texts anew, because there are more heads now. */
static void index_texts(struct ptc_address_texts *t)
{
	struct address_text *e;
	uint32_t at, *head;

	memset(t->heads, 0, t->cap / BYTES_OF_HEAD * sizeof(*t->heads));
	for (at = FIRST; at < t->used; at += size_of_text(e->len)) {
		e = text_at(t, at);
		head = head_of(t, &e->key);
		e->older = *head;
		*head = at;
	}
}

/* Doubles the memory of the texts. Returns false if there is not enough memory. */
static bool grow_texts(struct ptc_address_texts *t)
{
	const uint32_t cap = t->cap ? 2 * t->cap : BYTES_MIN;
	uint32_t *heads;
	uint8_t *bytes;

	if (cap > BYTES_MAX || t->patience) {
		t->patience -= t->patience > 0;
		return false;
	}
	if (cap > ptc_budget_left() / BUDGET_PART / (t->others + 1)) {
		t->patience = PATIENCE;
		return false;
	}
	bytes = realloc(t->bytes, cap);
	if (!bytes)
		return false;
	t->bytes = bytes;
	heads = realloc(t->heads, cap / BYTES_OF_HEAD * sizeof(*heads));
	if (!heads)
		return false;
	t->heads = heads;
	if (!t->cap)
		t->used = FIRST;
	t->cap = cap;
	index_texts(t);
	return true;
}

/* Makes space for @size bytes. Returns false if there is no memory for texts. */
static bool reserve_text(struct ptc_address_texts *t, uint32_t size)
{
	while (t->used + size > t->cap) {
		if (grow_texts(t))
			continue;
		if (!t->cap)
			return false;
		forget_texts(t);
		return FIRST + size <= t->cap;
	}
	return true;
}

/* Fetches the text that came after @e the last time: it will probably be wanted next. */
static void fetch_next(const struct ptc_address_texts *t, const struct address_text *e)
{
	const uint8_t *next = t->bytes + e->next;

	__builtin_prefetch(next);
	__builtin_prefetch(next + 64);
	__builtin_prefetch(next + 128);
}

/* Returns the text of @key, NULL: there is none. */
static const struct address_text *find_text(struct ptc_address_texts *t,
					    const struct address_key *key)
{
	struct address_text *last, *found;
	unsigned int probes;
	uint32_t at;

	if (!t->cap)
		return NULL;
	last = text_at(t, t->last);
	found = last ? text_at(t, last->next) : NULL;
	if (found && is_same_key(&found->key, key)) {
		t->last = last->next;
		fetch_next(t, found);
		return found;
	}
	at = *head_of(t, key);
	for (probes = 0; probes < PROBES && at; probes++, at = found->older) {
		found = text_at(t, at);
		if (!is_same_key(&found->key, key))
			continue;
		if (last)
			last->next = at;
		t->last = at;
		fetch_next(t, found);
		return found;
	}
	return NULL;
}

/* Keeps the text of @key, unless it is too long or there is no memory. */
static void keep_text(struct ptc_address_texts *t, const struct address_key *key, const char *text,
		      size_t first, size_t len)
{
	const uint32_t size = size_of_text(len);
	struct address_text *new, *last;
	uint32_t *head;

	if (len > TEXT_MAX || !reserve_text(t, size))
		return;
	head = head_of(t, key);
	new = text_at(t, t->used);
	*new = (struct address_text){
		.key = *key, .older = *head, .first = (uint16_t)first, .len = (uint16_t)len
	};
	memcpy(new->text, text, len);
	*head = t->used;
	last = text_at(t, t->last);
	if (last)
		last->next = t->used;
	t->last = t->used;
	t->used += size;
}

size_t ptc_address_print_once(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip,
			      enum ptc_address_column column, ptc_address_print *print)
{
	const struct address_key key = key_of(p, it, ip, column);
	const struct address_text *seen = find_text(&p->texts, &key);
	struct ptc_line *l = p->line;
	const uint64_t flushes = l->flushes;
	size_t begin, second;

	if (seen) {
		ptc_line_bytes(l, seen->text, seen->len);
		return l->n - seen->len + seen->first;
	}
	begin = l->n;
	if (p->texts.code.lock)
		(void)pthread_mutex_lock(p->texts.code.lock);
	second = print(p, it, ip);
	if (p->texts.code.lock)
		(void)pthread_mutex_unlock(p->texts.code.lock);
	if (l->flushes == flushes)
		keep_text(&p->texts, &key, l->buf + begin, second - begin, l->n - begin);
	return second;
}
