/* SPDX-License-Identifier: MIT */
/*
 * The bytes of one DSO: of a file found by build-id (search.h), or of what is
 * in no file (the vdso, a core, code saved with the recording). They are
 * copied when they are mapped, not mapped themselves: a file that is written
 * to or cut short while it is decoded with must not take the process with it.
 */
#ifndef PTC_DECODE_CODEFILE_H
#define PTC_DECODE_CODEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"
#include "decode/codemem.h"
#include "decode/leftout.h"
#include "decode/search.h"
#include "ptcap/error.h"

struct ptc_symtab;

/* What was lost because code was missing. */
struct ptc_cost {
	uint64_t gaps;
	uint64_t bytes;	   /* of trace */
	uint64_t branches; /* at least: those that have a packet or a TNT bit */
};

enum ptc_code_from {
	PTC_CODE_NONE,	/* could not be had */
	PTC_CODE_GIVEN, /* bytes of the caller */
	PTC_CODE_FILE,	/* the file `path` */
	PTC_CODE_CORE,	/* memory: of a core, of the kernel */
	PTC_CODE_SAVED, /* the recording itself */
	PTC_CODE_OWN,	/* the running kernel's vdso */
};

/* What tells files of one name apart if they have no build-id. Zeros: nothing is known. */
struct ptc_file_mark {
	uint64_t ino;
	uint32_t maj, min; /* of the device */
	bool low; /* of a vdso: it is below 4 GiB, so it is that of 32-bit processes, or of x32 */
};

struct ptc_codefile {
	char *name;		   /* owned; as recorded */
	struct ptc_build_id id;	   /* as recorded; len 0: not known */
	struct ptc_file_mark mark; /* as recorded, if there is no id */
	enum ptc_code_from from;
	const uint8_t *bytes; /* NULL: could not be had; else zeros where not ptc_codefile_has */
	size_t len;
	char *path;  /* owned; the file whose bytes these are; NULL: none */
	size_t root; /* bytes of path that are the root it was found below */
	bool assumed;
	bool unreadable; /* not all of it could be read, or kept, */
	bool changed;	 /* because it was not the same file any more */
	bool special;	 /* the name is that of a FIFO, a device or the like now */
	bool saved;	 /* the recording itself has code of it */
	bool in_core;	 /* a core has what this does not */
	bool kernel;	 /* of the kernel: a path is not opened */
	bool bpf;	 /* of the kernel: what it made of a BPF program */
	bool anonymous;	 /* memory without a file: the name is not one */

	struct ptc_codepiece piece; /* owned; what `bytes` points to, if it is ours */
	uint64_t *pages;   /* owned; a bit for each page that was read; NULL: all are there */
	void *mapped;	   /* owned; a whole file, mapped */
	uint64_t ino, dev; /* of `path` when it was found */
	int64_t mtime_s, mtime_ns;

	/* The file that is now at the path, which is another one. */
	char *other_path; /* owned; NULL: there is none */
	struct ptc_build_id other_id;

	struct ptc_cost cost;
	struct ptc_symtab *syms; /* owned; read when first asked for */
	bool syms_tried;
	uint8_t *saved_image;	     /* owned; what syms are of, if that is not a file */
	struct ptc_codefiles *store; /* lent; what it is in */
};

/* All of a decode's files. They live until the store is released. Zeroed: empty. */
struct ptc_codefiles {
	struct ptc_codefile **files; /* owned */
	size_t n, cap;
	size_t *slots; /* owned; a hash: index in files + 1, 0: free; nslots is a power of two */
	size_t nslots;
	struct ptc_codemem mem;
	struct ptc_search search;
	struct ptc_leftout left; /* what search.left is, if it is set */
	bool look_only;		 /* find files, read nothing */
	bool mangled;		 /* names as the linker has them */
	bool at_home; /* the recording is of this machine, and its paths are used as they are */
};

void ptc_codefiles_release(struct ptc_codefiles *s);

/*
 * The file @name as it was recorded by process @pid (-1: not known); @id (may
 * be NULL, or len 0) is its build-id when known. One object for each pair of
 * name and id. A file that cannot be had is no error: its bytes are NULL. NULL
 * when out of memory.
 */
struct ptc_codefile *ptc_codefiles_get(struct ptc_codefiles *s, const char *name,
				       const struct ptc_build_id *id, int32_t pid);

/*
 * The same of a file that had @mark. Files of one name without a build-id are told apart by it, and
 * what has another inode on the machine that recorded is another file, and not used.
 */
struct ptc_codefile *ptc_codefiles_get_mapped(struct ptc_codefiles *s, const char *name,
					      const struct ptc_build_id *id,
					      const struct ptc_file_mark *mark, int32_t pid);

/* The same, but nothing is looked for: the kernel's, whose bytes come from elsewhere. */
struct ptc_codefile *ptc_codefiles_absent(struct ptc_codefiles *s, const char *name,
					  const struct ptc_build_id *id);

/* What was found (released) as @name, an object of its own. NULL: no memory. */
struct ptc_codefile *ptc_codefiles_add_found(struct ptc_codefiles *s, const char *name,
					     const struct ptc_build_id *id,
					     struct ptc_found *found);

/* An object of its own, without bytes yet, that ptc_codefiles_get does not find. NULL: no memory.
 */
struct ptc_codefile *ptc_codefiles_new(struct ptc_codefiles *s, const char *name);

/* @bytes (lent: they must outlive the store) as a code file of their own. */
struct ptc_codefile *ptc_codefiles_add_bytes(struct ptc_codefiles *s, const char *name,
					     const void *bytes, size_t len);

/* The file at @path, now; failing is an error (raw mode). Its bytes are read as it is mapped. */
int ptc_codefiles_open(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		       struct ptc_err *err);
/* The same, all of it, mapped: for what is no code (the trace of raw mode). */
int ptc_codefiles_map(struct ptc_codefiles *s, const char *path, struct ptc_codefile **ret,
		      struct ptc_err *err);

/*
 * Read what of [off, off + len) is in the file @f and was not read yet. A
 * failure shows in ptc_codefile_has, and in f->unreadable.
 */
void ptc_codefile_fill(struct ptc_codefile *f, uint64_t off, uint64_t len);

/*
 * Give @f, which has no bytes yet or those of an earlier call, @len bytes at
 * @off (whole pages, or up to its end) from the file @fd at @src. @size is how
 * long @f is in all. False: they could not be had.
 */
bool ptc_codefile_supply(struct ptc_codefile *f, uint64_t size, uint64_t off, uint64_t len, int fd,
			 uint64_t src);

/*
 * The recording itself has @len bytes at @off (whole pages, or up to the end) of the file, of @size
 * bytes, because it was gone or replaced when the recording ended. They are used unless the file
 * was found by its build-id. False: @f cannot have them.
 */
bool ptc_codefile_give(struct ptc_codefile *f, uint64_t size, uint64_t off, const uint8_t *bytes,
		       size_t len);

/* How many bytes there are from @off on, without a hole, of at most @len. */
size_t ptc_codefile_has(const struct ptc_codefile *f, uint64_t off, uint64_t len);

/* f->path, if it is still the file that was found; -1 if not. The caller closes it. */
int ptc_codefile_reopen(const struct ptc_codefile *f);

#endif
