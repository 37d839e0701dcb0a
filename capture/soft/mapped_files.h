/* SPDX-License-Identifier: MIT */
/*
 * The files from which the recorded program's code is mapped. A file is opened at its first mapping
 * and stays open. So its content can be read even after its name is gone or names another file.
 */
#ifndef PTC_CAPTURE_SOFT_MAPPED_FILES_H
#define PTC_CAPTURE_SOFT_MAPPED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/elfnote.h"
#include "capture/host/mapped_file.h"
#include "capture/host/maps.h"

enum { PTC_MAPPED_CODE_MAX = 256 << 20 };
/* Limit of open files. Above it the file that was mapped or read least recently is forgotten. */
enum { PTC_MAPPED_OPEN = 200 };

/* Part of a file that was mapped executable, as offsets in bytes. */
struct ptc_mapped_range {
	uint64_t off, end;
};

struct ptc_mapped_file {
	char *name; /* owned */
	struct ptc_inode inode;
	int fd;				 /* -1: could not be opened when it was mapped */
	struct stat st;			 /* from that time */
	struct ptc_build_id id;		 /* len 0: the file has none */
	struct ptc_mapped_range *ranges; /* owned */
	size_t nranges, cap;
};

/* A zeroed struct is empty. */
struct ptc_mapped {
	struct ptc_mapped_file *files; /* owned */
	size_t n, cap;
	size_t nopen;
};

void ptc_mapped_release(struct ptc_mapped *m);

/*
 * Records that @map, one of @maps of process @pid, is executable. Returns its file, borrowed until
 * the next call. The file's fd is -1 if the name meant another file at the first mapping. Returns
 * NULL if @map has no file, or if there is no memory.
 */
const struct ptc_mapped_file *ptc_mapped_note(struct ptc_mapped *m, const struct ptc_maps *maps,
					      const struct ptc_map *map, pid_t pid);

/* Reads all of [off, off + len) of the file of @map. Returns false if that is impossible. */
bool ptc_mapped_read(struct ptc_mapped *m, const struct ptc_maps *maps, const struct ptc_map *map,
		     pid_t pid, uint64_t off, uint8_t *out, size_t len);

/*
 * Appends code records (auxtrace/record/filecode.h) for each mapped file that is now gone or
 * replaced. At most PTC_MAPPED_CODE_MAX bytes of code are appended in all. The rest is left out, as
 * are files that were modified since their mapping.
 */
void ptc_mapped_put_code(const struct ptc_mapped *m, struct ptc_buf *b);

#endif
