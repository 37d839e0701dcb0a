/* SPDX-License-Identifier: MIT */
/*
 * The files that the code of a recorded program is mapped from. Each is opened when its first
 * mapping is seen, and stays open: whatever its name means later, it can be read.
 */
#ifndef PTC_CAPTURE_SOFT_MAPPED_H
#define PTC_CAPTURE_SOFT_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/elfnote.h"
#include "capture/maps.h"
#include "capture/samefile.h"

enum { PTC_MAPPED_CODE_MAX = 256 << 20 };
/* So many stay open. Of more, the one is forgotten that was mapped or read the longest time ago. */
enum { PTC_MAPPED_OPEN = 200 };

/* A part of a file that was mapped executable: offsets in bytes. */
struct ptc_mapped_range {
	uint64_t off, end;
};

struct ptc_mapped_file {
	char *name; /* owned */
	struct ptc_inode inode;
	int fd;				 /* -1: it could not be opened when it was mapped */
	struct stat st;			 /* then */
	struct ptc_build_id id;		 /* len 0: it has none */
	struct ptc_mapped_range *ranges; /* owned */
	size_t nranges, cap;
};

/* A struct of zeros has none. */
struct ptc_mapped {
	struct ptc_mapped_file *files; /* owned */
	size_t n, cap;
	size_t nopen;
};

void ptc_mapped_release(struct ptc_mapped *m);

/*
 * Notes that @map, one of @maps of process @pid, is executable. Returns its file, lent until the
 * next call; its fd is -1 if the name means another file by now. NULL if it is no file, or there is
 * no memory.
 */
const struct ptc_mapped_file *ptc_mapped_note(struct ptc_mapped *m, const struct ptc_maps *maps,
					      const struct ptc_map *map, pid_t pid);

/* Reads all of [off, off + len) of that file; false if that cannot be had. */
bool ptc_mapped_read(struct ptc_mapped *m, const struct ptc_maps *maps, const struct ptc_map *map,
		     pid_t pid, uint64_t off, uint8_t *out, size_t len);

/*
 * Appends records (auxtrace/filecode.h) with the code of each file that was mapped and is now gone
 * or replaced: its name means no file, or another one. At most PTC_MAPPED_CODE_MAX bytes of code in
 * all; the rest is left out. A file that was written to meanwhile is left out, too.
 */
void ptc_mapped_put_code(const struct ptc_mapped *m, struct ptc_buf *b);

#endif
