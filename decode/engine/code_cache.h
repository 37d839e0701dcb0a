/* SPDX-License-Identifier: MIT */
/*
 * The second engine's cached knowledge about code: one cache of blocks and chains for each process.
 * A forked process shares the cache of its parent until the code of one of the two changes. A
 * change of code drops only what was cached for that code. If there are too many caches, or they
 * take too much memory, the least recently used ones are freed.
 *
 * Threads share caches. Threads that decode with the same state of some code use the same cache,
 * and each adds to it. Removing from a cache, because code changed or the cache is too large, is
 * only allowed to its sole user. A thread that needs another state while the cache is in use takes
 * an unused cache of that process, or begins a new one. A thread that reaches that state later
 * joins.
 */
#ifndef PTC_DECODE_ENGINE_CODE_CACHE_H
#define PTC_DECODE_ENGINE_CODE_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/tnt_chain.h"

struct ptc_addrspace;

/*
 * Limits: unused caches; all caches; users of caches. PTC_SEGMENT_CODE_BYTES: total memory above
 * which a user that begins frees unused caches.
 */
enum { PTC_SEGMENT_CODES = 64, PTC_SEGMENT_CODES_ALL = 512, PTC_SEGMENT_USERS = 256 };
#define PTC_SEGMENT_CODE_BYTES ((size_t)250 << 20)

/*
 * Views count kernel changes ahead of time, apart from the current kernel. So the two have
 * independent version numbers.
 */
enum ptc_segment_kernel { PTC_SEGMENT_NO_KERNEL, PTC_SEGMENT_KERNEL_NOW, PTC_SEGMENT_KERNEL_VIEW };

struct ptc_segment_code {
	struct ptc_fast_code code;
	struct ptc_fast_chains chains;
	struct ptc_fast_hand *hands[PTC_SEGMENT_USERS]; /* by user number */
	int32_t pid;					/* owner of the code, */
	enum ptc_segment_kernel kernel;			/* and the kernel behind it */
	uint64_t state;					/* see struct ptc_addrspace */
	uint64_t version, kernel_version;		/* the same, counted by pid and kernel */
	uint64_t used;					/* last use, counted in uses */
	unsigned int users; /* number of users. Only a sole user may change the above */
	bool retired;	    /* full: no new user joins until all users leave */
};

/* All caches. */
struct ptc_segment_codes {
	pthread_mutex_t lock;				       /* protects all members below */
	struct ptc_segment_code *codes[PTC_SEGMENT_CODES_ALL]; /* owned */
	size_t n;
	uint64_t uses;
	unsigned int users;  /* of this struct; the last user frees it */
	unsigned int halved; /* halve the size limit this often if a larger cache exists */
};

/* One thread that uses the caches. */
struct ptc_segment_user {
	struct ptc_segment_codes *codes; /* shared with other users */
	unsigned int number;
	bool counts; /* needs no records: chains have KINDS; equal for all users */
	/*
	 * Caches in use by the segment being made, or by the last one. Nobody removes anything from
	 * them.
	 */
	struct ptc_segment_code *held[PTC_SEGMENT_CODES_ALL];
	size_t nheld;
};

/* Creates a user with caches of its own. Returns false if out of memory. */
bool ptc_segment_user_init(struct ptc_segment_user *u);
/* Makes @u share the caches of @other, which must not be in the middle of a use. */
void ptc_segment_user_join(struct ptc_segment_user *u, const struct ptc_segment_user *other);
/* Users may be released in any order; the last one frees the caches. A zeroed @u is fine. */
void ptc_segment_user_release(struct ptc_segment_user *u);

/*
 * Returns the cache of @pid for the code of @as, its address space or a view of it. @begins: a
 * segment begins; else the segment goes on with this code. The user holds the cache until the next
 * segment begins. NULL: out of memory.
 */
struct ptc_segment_code *ptc_segment_codes_use(struct ptc_segment_user *u,
					       const struct ptc_addrspace *as, int32_t pid,
					       bool begins);

/*
 * Returns the arena of this user, who holds @k, for the code that @source provides. NULL: out of
 * memory.
 */
struct ptc_fast_hand *ptc_segment_code_hand(const struct ptc_segment_user *u,
					    struct ptc_segment_code *k,
					    const struct ptc_fast_source *source);

/*
 * Returns true if the last segment may have used code in [start, end), or if that is unknown
 * because the segment used no cache of this code.
 */
bool ptc_segment_codes_know(const struct ptc_segment_user *u, const struct ptc_addrspace *as,
			    int32_t pid, uint64_t start, uint64_t end);

#endif
