/* SPDX-License-Identifier: MIT */
/*
 * Bundles: a recording with the files that decoding needs, in one tar archive packed by zstd
 * (doc/format.md). ptc_file_open and ptc_decode_open read a bundle in place of a recording. They
 * unpack it to a temporary file without a name, and no member gets a name on this machine.
 *
 * Structs that the library lends may grow at their end in a later version. So copy none, and reach
 * each through its function.
 */
#ifndef PTCAP_BUNDLE_H
#define PTCAP_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/cursor.h"
#include "ptcap/error.h"
#include "ptcap/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_decode;
struct ptc_file;
struct ptc_item;

enum {
	PTC_BUNDLE_MAGIC = 4,	   /* bytes that distinguish a bundle from a recording */
	PTC_BUNDLE_SUM = 32,	   /* bytes of a SHA-256 checksum */
	PTC_BUNDLE_LEVEL = 3,	   /* zstd's level, the default */
	PTC_BUNDLE_LEVEL_MAX = 19, /* the highest level */
};

/*
 * Returns whether a bundle can begin with these bytes. They may be fewer than PTC_BUNDLE_MAGIC, but
 * not 0.
 */
PTC_API bool ptc_bundle_is(const void *bytes, size_t len);

/*
 * Load libarchive, once. It stays loaded. The library loads it itself when it opens or writes the
 * first bundle. A program that later forbids itself to load code calls this function before.
 * Thread-safe. PTC_E_UNSUPPORTED: libarchive is not installed, or cannot be loaded.
 */
PTC_API int ptc_bundle_load_library(struct ptc_err *err);

/* --- reading --- */

/* What a member is. */
enum ptc_member_kind {
	PTC_MEMBER_RECORDING, /* perf.data; the first member is this, or FOLDER */
	PTC_MEMBER_CODE,      /* an ELF file that the recording maps */
	PTC_MEMBER_VDSO,
	PTC_MEMBER_DEBUG,    /* separate or alternate debug information */
	PTC_MEMBER_DATA,     /* another file that the recording names: a jitdump, a perf-PID.map */
	PTC_MEMBER_FOLDER,   /* the file "data" of a recording that is a folder */
	PTC_MEMBER_PART,     /* "data.0" and so on, of a folder; they follow in their order */
	PTC_MEMBER_KCORE,    /* the kernel's code in a folder, kcore_dir/kcore */
	PTC_MEMBER_KALLSYMS, /* kcore_dir/kallsyms */
	PTC_MEMBER_MODULES,  /* kcore_dir/modules */
};

/* A member of a bundle. */
struct ptc_bundle_member {
	enum ptc_member_kind kind;
	const char *name;	/* in the archive */
	const char *path;	/* as recorded, untrusted; NULL: not known, or not needed */
	struct ptc_build_id id; /* len 0: none, then the member is found by its path */
	uint64_t size;		/* bytes */
	const uint8_t *sha256;	/* PTC_BUNDLE_SUM bytes, which the content has */
	bool partial; /* opts.reached: the file has more, and the member has zeros in its place */
};

/* A bundle that was opened. */
struct ptc_bundle;

/* Returns the bundle that @f was read from, lent until ptc_file_free. NULL: @f is no bundle. */
PTC_API struct ptc_bundle *ptc_file_bundle(const struct ptc_file *f);

/* Return the number of members, and member @i, lent until ptc_file_free. NULL: no more. */
PTC_API size_t ptc_bundle_nmembers(const struct ptc_bundle *b);
PTC_API const struct ptc_bundle_member *ptc_bundle_member(const struct ptc_bundle *b, size_t i);

/* Returns the bytes of member @i, which must exist, lent until ptc_file_free. */
PTC_API struct ptc_cur ptc_bundle_bytes(const struct ptc_bundle *b, size_t i);

/* --- writing --- */

/* Initialize with PTC_ARCHIVE_OPTS_INIT. */
struct ptc_archive_opts {
	size_t size;   /* sizeof(struct ptc_archive_opts) */
	bool all;      /* add all mapped files, not only files that the trace reached */
	bool no_debug; /* add no separate debug files */
	bool reached;  /* of each file only names, and the pages of code that the trace reached */
	unsigned int level; /* of zstd, at most PTC_BUNDLE_LEVEL_MAX; 0: PTC_BUNDLE_LEVEL */
	/* Gets a message about each file that is not in the bundle. May be NULL. */
	void (*left_out)(void *ctx, const char *why);
	void *ctx;
};

/* The files that the trace reached, with their debug files. */
#ifdef __cplusplus
static inline struct ptc_archive_opts ptc_archive_opts_init(void)
{
	struct ptc_archive_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_ARCHIVE_OPTS_INIT ptc_archive_opts_init()
#else
/* clang-format off */
#define PTC_ARCHIVE_OPTS_INIT                                                                  \
	{                                                                                          \
		.size = sizeof(struct ptc_archive_opts)                                            \
	}
/* clang-format on */
#endif

/* A bundle to write. */
struct ptc_archive;

/*
 * Prepare a bundle of the recording that @d decodes, before the decode runs. @d must outlive it.
 * The caller owns *@ret. PTC_E_USAGE: options without a size, or the level is too high.
 * PTC_E_UNSUPPORTED: unknown options of a newer caller, or @d decodes a bare trace.
 * PTC_E_NO_MEMORY.
 */
PTC_API int ptc_archive_new(struct ptc_decode *d, const struct ptc_archive_opts *opts,
			    struct ptc_archive **ret, struct ptc_err *err);
/* @a may be NULL. */
PTC_API void ptc_archive_free(struct ptc_archive *a);

/*
 * Take the items of the decode, to note which files the trace reached: on_items of a struct
 * ptc_sink whose ctx is the struct ptc_archive. Returns 0, or PTC_E_NO_MEMORY, which stops the
 * decode.
 */
PTC_API int ptc_archive_items(void *archive, const struct ptc_item *items, size_t n);

/*
 * Write the bundle to @path after the decode, once. It appears when it is complete, and an existing
 * file becomes PATH.old. If the recording has the state of a process, all mapped files are added. A
 * file that cannot be read is reported and left out. Each file stays open until ptc_archive_free,
 * so the limit of open files (RLIMIT_NOFILE) must allow their number.
 *
 * PTC_E_UNSUPPORTED: libarchive cannot be loaded. PTC_E_LIMIT: no reader would accept the bundle.
 * PTC_E_IO: also if a file changed meanwhile. PTC_E_USAGE: the bundle was written before.
 */
PTC_API int ptc_archive_write(struct ptc_archive *a, const char *path, struct ptc_err *err);

/* Return the number of files beside the recording, and the bytes of the bundle, as written. */
PTC_API size_t ptc_archive_nfiles(const struct ptc_archive *a);
PTC_API uint64_t ptc_archive_size(const struct ptc_archive *a);

#ifdef __cplusplus
}
#endif
#endif
