/* SPDX-License-Identifier: MIT */
/*
 * What the second engine knows of code: one cache of blocks and chains for each process that it
 * met; one that was forked has its parent's, until the code of one of the two changes. A change of
 * some code drops what was made of that, and nothing else. Those that were not used for longest go
 * when there are too many, or all have too much memory.
 *
 * Threads share them: as long as they are about the same state of some code they have the same
 * cache, and each adds to it what it finds out. What takes away from it - a change of the code, or
 * that there is too much - is done by who has it alone. Whoever needs another state while somebody
 * else has the cache takes another one of that process that nobody has, or begins a new one; who
 * comes to that state later joins.
 */
#ifndef PTC_DECODE_PIECE_CODE_H
#define PTC_DECODE_PIECE_CODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/chain.h"

struct ptc_addrspace;

/*
 * Caches that nobody has, and those that somebody has, at most; how many may have them; and what
 * all of them may have, in bytes, when somebody begins with one.
 */
enum { PTC_PIECE_CODES = 64, PTC_PIECE_CODES_ALL = 512, PTC_PIECE_USERS = 256 };
#define PTC_PIECE_CODE_BYTES ((size_t)250 << 20)

/*
 * Views count a kernel's changes ahead of their time, by themselves: that one and the kernel as it
 * is now, each has versions of its own.
 */
enum ptc_piece_kernel { PTC_PIECE_NO_KERNEL, PTC_PIECE_KERNEL_NOW, PTC_PIECE_KERNEL_VIEW };

struct ptc_piece_code {
	struct ptc_fast_code code;
	struct ptc_fast_chains chains;
	struct ptc_fast_hand *hands[PTC_PIECE_USERS]; /* of each user, by its number */
	int32_t pid;				      /* whose it is, */
	enum ptc_piece_kernel kernel;		      /* with what behind it */
	uint64_t state;				      /* see struct ptc_addrspace */
	uint64_t version, kernel_version;	      /* the same, as pid and its kernel count */
	uint64_t used;				      /* when, in uses */
	unsigned int users; /* who have it: only who has it alone may change the above */
	bool retired;	    /* it is full: nobody comes to it as long as it has users */
};

/* All that there are. */
struct ptc_piece_codes {
	pthread_mutex_t lock;				   /* for all that follows */
	struct ptc_piece_code *codes[PTC_PIECE_CODES_ALL]; /* owned */
	size_t n;
	uint64_t uses;
	unsigned int users;  /* of all of it; the last one frees it */
	unsigned int halved; /* so often, what a cache may have is, beside one that is larger */
};

/* One thread that uses them. */
struct ptc_piece_user {
	struct ptc_piece_codes *codes; /* together with the others */
	unsigned int number;
	bool counts; /* it needs no records: chains have KINDS; all users are alike */
	/* What the piece that is made was, or is being, made with: nobody takes anything from it.
	 */
	struct ptc_piece_code *held[PTC_PIECE_CODES_ALL];
	size_t nheld;
};

/* With caches of its own; false: out of memory. */
bool ptc_piece_user_init(struct ptc_piece_user *u);
/* With those of @other, which is not in the middle of a use. */
void ptc_piece_user_join(struct ptc_piece_user *u, const struct ptc_piece_user *other);
/* In any order; the caches go with the last one. Zeroed is fine. */
void ptc_piece_user_release(struct ptc_piece_user *u);

/*
 * The one of @pid with the code of @as, which is its address space or a view of that; NULL: out of
 * memory. For a piece that begins (@begins), or goes on with it: until the next one begins it is
 * this user's, too.
 */
struct ptc_piece_code *ptc_piece_codes_use(struct ptc_piece_user *u, const struct ptc_addrspace *as,
					   int32_t pid, bool begins);

/* That of this user, who has @k, for the code that @source has. NULL: out of memory. */
struct ptc_fast_hand *ptc_piece_code_hand(const struct ptc_piece_user *u, struct ptc_piece_code *k,
					  const struct ptc_fast_source *source);

/*
 * Of what the last piece was made with: may there be code of [start, end) in it? Or nobody knows,
 * as it was made with nothing of that.
 */
bool ptc_piece_codes_know(const struct ptc_piece_user *u, const struct ptc_addrspace *as,
			  int32_t pid, uint64_t start, uint64_t end);

#endif
