/* SPDX-License-Identifier: MIT */
/* Notes which pages of code a decode uses, for a bundle of these pages only. */
#ifndef PTC_DECODE_IMAGE_USED_PAGES_H
#define PTC_DECODE_IMAGE_USED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_codefile;
struct ptc_codefiles;

/*
 * Note from now on which pages of code ptc_addrspace_read() uses, in ptc_codefile.used_pages.
 * libipt then gets all code from ptc_addrspace_read(), which is slower. Returns false if out of
 * memory.
 */
bool ptc_used_pages_begin(struct ptc_codefiles *s);

/* Note that the @len bytes at @off of @f are used. Thread-safe. */
void ptc_used_pages_note(struct ptc_codefile *f, uint64_t off, uint64_t len);

/* Allocate f->used_pages, all unused, for a file of @len bytes. Returns false if out of memory. */
bool ptc_used_pages_make(struct ptc_codefile *f, uint64_t len);

/* Returns how many 64-bit words have one bit for each page of a file of @len bytes. */
size_t ptc_used_pages_words(uint64_t len);

#endif
