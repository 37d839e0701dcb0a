/* SPDX-License-Identifier: MIT */
/*
 * What side records ahead have to do with a lane: most are about others, or say what is known; some
 * bring another thread to it. Until when may it run without anybody having to look at anything
 * else?
 */
#ifndef PTC_DECODE_CALM_H
#define PTC_DECODE_CALM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_addrspace;
struct ptc_decode;
struct ptc_event;
struct ptc_lane;
struct ptc_piece_user;

/* Of a lane; d NULL: nothing is known. */
struct ptc_calm {
	struct ptc_decode *d;	  /* lent */
	const struct ptc_lane *l; /* lent */
};

/* Who runs on a lane from a time on. */
struct ptc_turn {
	uint64_t time;
	int32_t pid, tid, cpu;
	int32_t code;  /* the process that as is of: pid, or what that is yet to be forked from, */
	uint64_t born; /* then; or 0 */
	const struct ptc_addrspace *as; /* lent, until records are applied */
	bool known;			/* there is such a process */
};

enum { PTC_TURNS = 128 };

/* The first is who runs now. */
struct ptc_turns {
	struct ptc_turn v[PTC_TURNS]; /* by time */
	size_t n;
	uint64_t until; /* in front of this there is nothing else that makes a difference, but for
			 * changes of code, */
	bool changes;	/* and those of theirs are known, too */
};

/*
 * When, up to @time, included, is code of process @pid first mapped or written at @ip, as far as
 * side records ahead tell? 0: none does.
 */
uint64_t ptc_calm_next_code(const struct ptc_calm *w, int32_t pid, uint64_t ip, uint64_t time);

/* Tell the lane's replay; before each of its steps. */
void ptc_calm_tell(struct ptc_decode *d, const struct ptc_lane *l);

/* Who will run on the lane up to @time, included, as far as that can be told. */
void ptc_calm_foresee(const struct ptc_calm *w, uint64_t time, struct ptc_turns *ret);
/*
 * Up to @time, included, is that all there is, and does none of the code change that was used?
 * @user knows what was (NULL: nobody knows).
 */
bool ptc_calm_lasts(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		    const struct ptc_piece_user *user);

/*
 * @take those records up to @time, included, that change code of a process in @t: those of the file
 * first, then those that were added. False: it said so, or there is more to it than that.
 */
bool ptc_calm_changes(const struct ptc_calm *w, const struct ptc_turns *t, uint64_t time,
		      bool (*take)(void *ctx, const struct ptc_event *ev), void *ctx);

#endif
