/* SPDX-License-Identifier: MIT */
#include "decode/image/used_pages.h"

#include <stdlib.h>

#include "decode/image/codefile.h"

enum { PAGE = 4096 };

size_t ptc_used_pages_words(uint64_t len)
{
	return (len / PAGE + 1) / 64 + 1;
}

bool ptc_used_pages_make(struct ptc_codefile *f, uint64_t len)
{
	free(f->used_pages);
	f->used_pages = calloc(ptc_used_pages_words(len), sizeof(*f->used_pages));
	return f->used_pages;
}

bool ptc_used_pages_begin(struct ptc_codefiles *s)
{
	size_t i;

	s->note_used = true;
	for (i = 0; i < s->n; i++)
		if (s->files[i]->bytes && !ptc_used_pages_make(s->files[i], s->files[i]->len))
			return false;
	return true;
}

void ptc_used_pages_note(struct ptc_codefile *f, uint64_t off, uint64_t len)
{
	uint64_t page;

	if (!f->used_pages || !len || off >= f->len)
		return;
	if (len > f->len - off)
		len = f->len - off;
	for (page = off / PAGE; page <= (off + len - 1) / PAGE; page++)
		(void)__atomic_fetch_or(&f->used_pages[page / 64], (uint64_t)1 << (page % 64),
					__ATOMIC_RELAXED);
}
