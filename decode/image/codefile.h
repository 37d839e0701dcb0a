/* SPDX-License-Identifier: MIT */
/*
 * The code bytes of one DSO. They come from a file found by build-id (decode/elf/file_search.h), or
 * from memory without a file (the vdso, a core, code saved in the recording). Bytes are copied when
 * they are mapped. The file itself is not mapped: writing or truncating it during the decode must
 * not crash the process.
 */
#ifndef PTC_DECODE_IMAGE_CODEFILE_H
#define PTC_DECODE_IMAGE_CODEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "decode/elf/file_search.h"
#include "decode/elf/omitted_data.h"
#include "decode/image/code_memfd.h"
#include "ptcap/error.h"

struct ptc_symtab;

/* Losses caused by missing code. */
struct ptc_cost {
	uint64_t gaps;
	uint64_t bytes;	   /* of trace */
	uint64_t branches; /* at least: branches that have a packet or a TNT bit */
};

enum ptc_code_from {
	PTC_CODE_NONE,	/* not available */
	PTC_CODE_GIVEN, /* bytes from the caller */
	PTC_CODE_FILE,	/* the file `path` */
	PTC_CODE_CORE,	/* memory: from a core, from the kernel */
	PTC_CODE_SAVED, /* the recording itself */
	PTC_CODE_OWN,	/* the running kernel's vdso */
};

/* Distinguishes files of one name that have no build-id. Zeros: unknown. */
struct ptc_file_mark {
	uint64_t ino;
	uint32_t maj, min; /* of the device */
	bool low;	   /* a vdso below 4 GiB: of 32-bit processes, or of x32 */
};

struct ptc_codefile {
	char *name;		   /* owned; as recorded */
	struct ptc_build_id id;	   /* as recorded; len 0: unknown */
	struct ptc_file_mark mark; /* as recorded, if there is no build-id */
	enum ptc_code_from from;
	const uint8_t *bytes; /* NULL: not available; zeros where ptc_codefile_has() finds a hole */
	size_t len;
	char *path;  /* owned; the file that bytes come from; NULL: none */
	size_t root; /* length of the part of path that is the root it was found below */
	bool assumed;
	bool unreadable; /* some of it could not be read or kept */
	bool changed;	 /* reason: the file at path is not the same any more */
	bool special;	 /* the name now belongs to a FIFO, a device or the like */
	bool saved;	 /* the recording itself has code of this file */
	bool in_core;	 /* a core has code that this file lacks */
	bool kernel;	 /* kernel code: path is not opened */
	bool bpf;	 /* kernel code, generated from a BPF program */
	bool anonymous;	 /* memory without a file: the name is no path */
	bool bundled;	 /* it is member `member` of the store's bundle; path is a name only */
	bool partial;	 /* the member lacks pages, and has zeros there */

	struct ptc_codepiece piece; /* owned; the memory of `bytes`, if this file allocated it */
	uint64_t *pages; /* owned; one bit per page that was read; NULL: all are present */
	/* owned; one bit per page whose code was used; NULL: not noted */
	uint64_t *used_pages;
	void *mapped; /* owned; a whole file, mapped with mmap() */
	size_t member;
	uint64_t ino, dev; /* of `path` when it was found */
	int64_t mtime_s, mtime_ns;

	/* A different file that is at the path now. */
	char *other_path; /* owned; NULL: none */
	struct ptc_build_id other_id;

	struct ptc_cost cost;
	struct ptc_symtab *syms; /* owned; read on first use */
	bool syms_tried;
	uint8_t *saved_image;	     /* owned; the ELF image of syms, if they are from no file */
	struct ptc_codefiles *store; /* lent; the store that contains this file */
};

/* All code files of a decode. They live until the store is released. Zeroed: empty. */
struct ptc_codefiles {
	struct ptc_codefile **files; /* owned */
	size_t n, cap;
	/* owned; hash table: index in files + 1, 0: free; nslots is a power of two */
	size_t *slots;
	size_t nslots;
	struct ptc_code_memfd mem;
	struct ptc_search search;
	struct ptc_omitted_data left; /* search.left points to this, if it is set */
	bool look_only;		      /* find files, read nothing */
	bool note_used;		      /* note the used pages of each file */
	bool mangled;		      /* keep symbol names mangled */
	bool at_home; /* recorded on this machine, and its paths are used as they are */
};

void ptc_codefiles_release(struct ptc_codefiles *s);

/*
 * Returns the file @name as process @pid recorded it (-1: unknown). @id (may be NULL, or len 0) is
 * the build-id, if known. There is one object for each pair of name and build-id. A file that is
 * not available is no error: its bytes are NULL. Returns NULL if out of memory.
 */
struct ptc_codefile *ptc_codefiles_get(struct ptc_codefiles *s, const char *name,
				       const struct ptc_build_id *id, int32_t pid);

/*
 * Same, for a file that had @mark. The mark distinguishes files of one name without a build-id. On
 * the machine that recorded, a file with another inode is a different file, and is not used.
 */
struct ptc_codefile *ptc_codefiles_get_mapped(struct ptc_codefiles *s, const char *name,
					      const struct ptc_build_id *id,
					      const struct ptc_file_mark *mark, int32_t pid);

/* Same, without a search: for kernel files, whose bytes come from elsewhere. */
struct ptc_codefile *ptc_codefiles_absent(struct ptc_codefiles *s, const char *name,
					  const struct ptc_build_id *id);

/* Add @found (which is released) as a new object called @name. Returns NULL if out of memory. */
struct ptc_codefile *ptc_codefiles_add_found(struct ptc_codefiles *s, const char *name,
					     const struct ptc_build_id *id,
					     struct ptc_found *found);

/*
 * Add an object without bytes that ptc_codefiles_get() does not find. Returns NULL if out of
 * memory.
 */
struct ptc_codefile *ptc_codefiles_new(struct ptc_codefiles *s, const char *name);

/* Add @bytes (lent: they must outlive the store) as a code file of its own. */
struct ptc_codefile *ptc_codefiles_add_bytes(struct ptc_codefiles *s, const char *name,
					     const void *bytes, size_t len);

/*
 * Open the file at @path (raw mode). Its bytes are read when they are mapped. Failure is an error.
 */
int ptc_codefiles_open(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		       struct ptc_err *err);
/* Same, but map the whole file with mmap(): for a file without code (the trace of raw mode). */
int ptc_codefiles_map(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		      struct ptc_err *err);

/*
 * Read the parts of [off, off + len) of the file @f that were not read yet. On failure sets
 * f->unreadable, and ptc_codefile_has() shows the hole.
 */
void ptc_codefile_fill(struct ptc_codefile *f, uint64_t off, uint64_t len);

/*
 * Add @len bytes at @off of @f (whole pages, or up to its end) from the file @fd at @src. @f has no
 * bytes yet, or bytes from earlier calls. @size: total length of @f. Returns false if the bytes are
 * not available.
 */
bool ptc_codefile_supply(struct ptc_codefile *f, uint64_t size, uint64_t off, uint64_t len, int fd,
			 uint64_t src);

/*
 * Add @len bytes at @off (whole pages, or up to the end) that the recording saved. It saves code of
 * files that are gone or replaced when it ends. @size: size of the file. The bytes are not used if
 * the file was found by its build-id. Returns false if @f cannot have them.
 */
bool ptc_codefile_give(struct ptc_codefile *f, uint64_t size, uint64_t off, const uint8_t *bytes,
		       size_t len);

/* Returns how many bytes are available from @off on, without a hole, at most @len. */
size_t ptc_codefile_has(const struct ptc_codefile *f, uint64_t off, uint64_t len);

/* Open f->path, if it is still the file that was found. The caller closes it. Returns -1 if not. */
int ptc_codefile_reopen(const struct ptc_codefile *f);

#endif
