/* SPDX-License-Identifier: MIT */
/* "did you mean 'X'?": the names that are most similar to a mistyped name. */
#ifndef PTC_BASE_SIMILAR_H
#define PTC_BASE_SIMILAR_H

#include <stddef.h>

/* Longer names are never similar. */
enum { PTC_SIMILAR_NAMES = 3, PTC_SIMILAR_LEN = 48 };

struct ptc_similar {
	const char *wanted; /* lent */
	size_t n;
	struct {
		char name[PTC_SIMILAR_LEN + 1];
		unsigned int distance;
	} names[PTC_SIMILAR_NAMES];				   /* the most similar one first */
	char text[PTC_SIMILAR_NAMES * (PTC_SIMILAR_LEN + 8) + 32]; /* of ptc_similar_text */
};

/* Starts a search for names similar to @wanted, which must live as long as @s. */
void ptc_similar_begin(struct ptc_similar *s, const char *wanted);

/* Keeps @name if it is among the most similar names so far. A repeated name counts once. */
void ptc_similar_add(struct ptc_similar *s, const char *name);

/* The same for a name of @len bytes. */
void ptc_similar_add_part(struct ptc_similar *s, const char *name, size_t len);

/*
 * Returns the end of a message, " (did you mean 'X'?)", with up to PTC_SIMILAR_NAMES names. Returns
 * "" if no name is similar. The text is in @s.
 */
const char *ptc_similar_text(struct ptc_similar *s);

/*
 * Returns the number of insertions, deletions, replacements and swaps of neighbours that turn @a
 * into
 * @b (optimal string alignment). Returns @limit + 1 if the number is over @limit. @na, @nb: bytes.
 */
unsigned int ptc_edit_distance(const char *a, size_t na, const char *b, size_t nb,
			       unsigned int limit);

#endif
