/* SPDX-License-Identifier: MIT */
#include "cli/decode/address_text.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/decode/line_buffer.h"

/* What a text depends on, apart from the settings of its printer. */
struct address_key {
	uint64_t ip;
	uint64_t code; /* ptc_decode_code_state, which has 56 bits, and the column */
	/* INSN, DISASM: bytes of the instruction, and their number; BRANCH: target, kind, flags */
	uint64_t more[2];
};

struct address_text {
	struct address_key key;
	uint32_t older;	     /* offset of the next older text with the same hash; 0: none */
	uint32_t next;	     /* offset of the text that was wanted after this one; 0: none */
	uint16_t first, len; /* of the first part; of the whole text */
	char text[];
};

enum {
	HASH_BITS = 18,
	/* Memory of the texts. When it is full, all texts are made again. */
	BYTES = 32 << 20,
	FIRST = alignof(struct address_text), /* 0 is no offset of a text */
	TEXT_MAX = 4096,
	COLUMN_BITS = 8,
};

static_assert(sizeof(((struct ptc_item *)NULL)->insn) == 15, "an instruction and its length");
static_assert(TEXT_MAX <= UINT16_MAX, "ends of parts");

void ptc_address_texts_release(struct ptc_address_texts *t)
{
	free(t->bytes);
	free(t->heads);
	t->bytes = NULL;
	t->heads = NULL;
}

static void forget_texts(struct ptc_address_texts *t)
{
	memset(t->heads, 0, sizeof(*t->heads) << HASH_BITS);
	t->used = FIRST;
	t->last = 0;
}

/* Returns false if there is no memory for texts. */
static bool start_texts(struct ptc_address_texts *t)
{
	if (t->bytes)
		return true;
	t->bytes = malloc(BYTES);
	t->heads = malloc(sizeof(*t->heads) << HASH_BITS);
	if (!t->bytes || !t->heads) {
		ptc_address_texts_release(t);
		return false;
	}
	forget_texts(t);
	return true;
}

static struct address_text *text_at(const struct ptc_address_texts *t, uint32_t off)
{
	return off ? (struct address_text *)(void *)(t->bytes + off) : NULL;
}

static struct address_key key_of(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip,
				 enum ptc_address_column column)
{
	struct address_key key = { .ip = ip,
				   .code = ptc_batch_state_of(&p->texts.states, p->d, it)
						   << COLUMN_BITS |
					   (uint64_t)column };

	if (column == PTC_ADDRESS_INSN || column == PTC_ADDRESS_DISASM) {
		memcpy(key.more, it->insn, sizeof(it->insn));
		key.more[1] |= (uint64_t)it->insn_len << 56;
	} else if (column == PTC_ADDRESS_BRANCH) {
		key.more[0] = it->to;
		key.more[1] = (uint64_t)it->flags << 8 | it->kind;
	}
	return key;
}

static bool is_same_key(const struct address_key *a, const struct address_key *b)
{
	return a->ip == b->ip && a->code == b->code && a->more[0] == b->more[0] &&
	       a->more[1] == b->more[1];
}

static uint32_t *head_of(const struct ptc_address_texts *t, const struct address_key *key)
{
	const uint64_t hash = (key->ip * 0x9e3779b97f4a7c15) ^ (key->code * 0xc2b2ae3d27d4eb4f) ^
			      (key->more[0] * 0x165667b19e3779f9);

	return &t->heads[hash >> (64 - HASH_BITS)];
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
	uint32_t at;

	if (!t->bytes)
		return NULL;
	last = text_at(t, t->last);
	found = last ? text_at(t, last->next) : NULL;
	if (found && is_same_key(&found->key, key)) {
		t->last = last->next;
		fetch_next(t, found);
		return found;
	}
	for (at = *head_of(t, key); (found = text_at(t, at)) != NULL; at = found->older) {
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
	const size_t align = alignof(struct address_text);
	const size_t size = (sizeof(struct address_text) + len + align - 1) / align * align;
	struct address_text *new, *last;
	uint32_t *head;

	if (len > TEXT_MAX || !start_texts(t))
		return;
	if (t->used + size > BYTES)
		forget_texts(t);
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
	t->used += (uint32_t)size;
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
	second = print(p, it, ip);
	if (l->flushes == flushes)
		keep_text(&p->texts, &key, l->buf + begin, second - begin, l->n - begin);
	return second;
}
