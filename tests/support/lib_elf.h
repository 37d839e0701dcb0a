/* SPDX-License-Identifier: MIT */
/* ELF files, cores and jitdumps by hand, for tests. Out of memory aborts. */
#ifndef PTC_TESTS_LIB_ELF_H
#define PTC_TESTS_LIB_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { LE_CODE_OFF = 0x1000 };

/*
 * A program: @code at file offset LE_CODE_OFF, linked for @addr + LE_CODE_OFF,
 * in an executable segment; symbols "_text" (at the code) and "code_start".
 * @id: the first byte of a build-id of 20, the others are 0x11; 0: without one.
 */
void le_program(struct ptc_buf *b, uint64_t addr, uint8_t id, const void *code, size_t len);

/* The build-id of le_program in hex. */
const char *le_id(uint8_t id);

/*
 * A kernel module: code sections .noinstr.text (0x11 bytes), .init.text (0x40), .text (0x30),
 * .exit.text (8) and .text.late (0x10), aligned to 0x10 but for .exit.text, with a function in
 * each, all of it: m_noinstr, m_init, m_text, m_exit, m_late; and .data between them, with the
 * label m_data. @id as above. @vermagic: NULL: without a .modinfo.
 */
void le_module(struct ptc_buf *b, uint8_t id, const char *vermagic);
/* Index of what is first in it. */
enum { LE_NOINSTR = 1, LE_INIT, LE_DATA, LE_TEXT, LE_EXIT, LE_LATE };

struct le_segment {
	uint64_t addr;
	const void *bytes;
	size_t len; /* in the file; padded there to a page */
};

struct le_mapped {
	uint64_t start, end, page; /* page: offset in pages */
	const char *name;
};

/* A core of @pid (0: without the note that says so). */
void le_core(struct ptc_buf *b, int32_t pid, const struct le_segment *segs, size_t nsegs,
	     const struct le_mapped *maps, size_t nmaps);

/* jitdump: its header, and one record each. */
void le_jit(struct ptc_buf *b, uint32_t pid, uint64_t flags);
void le_jit_load(struct ptc_buf *b, uint64_t time, uint64_t addr, uint64_t index, const char *name,
		 const void *code, size_t len);
void le_jit_move(struct ptc_buf *b, uint64_t time, uint64_t from, uint64_t to, uint64_t index,
		 size_t len);
void le_jit_other(struct ptc_buf *b, uint32_t id, size_t len);

/* Write @b as DIR/NAME (folders in NAME are made); the path is static, until the next call. */
const char *le_write(const char *dir, const char *name, const struct ptc_buf *b);
/* A fresh folder, and all of it removed. */
void le_folder(char *ret, size_t size);
void le_folder_remove(const char *dir);

#endif
