/* SPDX-License-Identifier: MIT */
/* Builds ELF files, cores and jitdumps for tests. Out of memory aborts. */
#ifndef PTC_TESTS_LIB_ELF_H
#define PTC_TESTS_LIB_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { LE_CODE_OFF = 0x1000 };

/*
 * Builds a program: @code at file offset LE_CODE_OFF, linked for @addr + LE_CODE_OFF, in an
 * executable segment; symbols "_text" (at the code) and "code_start". @id: the first byte of a
 * 20-byte build-id whose other bytes are 0x11; 0: no build-id.
 */
void le_program(struct ptc_buf *b, uint64_t addr, uint8_t id, const void *code, size_t len);

/* Returns the build-id of le_program in hex. */
const char *le_id(uint8_t id);

/*
 * Builds a kernel module. Code sections: .noinstr.text (0x11 bytes), .init.text (0x40), .text
 * (0x30), .exit.text (8) and .text.late (0x10). All but .exit.text are aligned to 0x10. Each
 * section is one function: m_noinstr, m_init, m_text, m_exit, m_late. Between them is .data with
 * the label m_data. @id as in le_program. @vermagic NULL: no .modinfo.
 */
void le_module(struct ptc_buf *b, uint8_t id, const char *vermagic);
/* Indexes of the sections. */
enum { LE_NOINSTR = 1, LE_INIT, LE_DATA, LE_TEXT, LE_EXIT, LE_LATE };

struct le_segment {
	uint64_t addr;
	const void *bytes;
	size_t len; /* length in the file, padded to a page */
};

struct le_mapped {
	uint64_t start, end, page; /* page: offset in pages */
	const char *name;
};

/* Builds a core of @pid (0: without the note that has the pid). */
void le_core(struct ptc_buf *b, int32_t pid, const struct le_segment *segs, size_t nsegs,
	     const struct le_mapped *maps, size_t nmaps);

/* Append a jitdump header, and one record each. */
void le_jit(struct ptc_buf *b, uint32_t pid, uint64_t flags);
void le_jit_load(struct ptc_buf *b, uint64_t time, uint64_t addr, uint64_t index, const char *name,
		 const void *code, size_t len);
void le_jit_move(struct ptc_buf *b, uint64_t time, uint64_t from, uint64_t to, uint64_t index,
		 size_t len);
void le_jit_other(struct ptc_buf *b, uint32_t id, size_t len);

/*
 * Writes @b to DIR/NAME and makes the folders in NAME. The returned path is static, valid until the
 * next call.
 */
const char *le_write(const char *dir, const char *name, const struct ptc_buf *b);
/* Make a new folder; remove it with its contents. */
void le_folder(char *ret, size_t size);
void le_folder_remove(const char *dir);

#endif
