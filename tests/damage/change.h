/* SPDX-License-Identifier: MIT */
/* What is done to a recording: one change, made from a number. */
#ifndef PTC_TESTS_DAMAGE_CHANGE_H
#define PTC_TESTS_DAMAGE_CHANGE_H

#include "base.h"

enum change_kind {
	CHANGE_BITS,	/* one to four bits of trace */
	CHANGE_BYTES,	/* some bytes of trace are others */
	CHANGE_TIME,	/* a bit of a packet that tells the time */
	CHANGE_NO_PSB,	/* a PSB becomes PADs */
	CHANGE_NO_PSBS, /* a PSB+ becomes PADs */
	CHANGE_PACKET,	/* a packet becomes PADs */
	CHANGE_CLOSED,	/* bytes are gone, and those behind them moved up */
	CHANGE_HOLE,	/* bytes are gone, and offsets tell */
	CHANGE_TAIL,	/* the end is gone */
	CHANGE_TWICE,	/* bytes are there twice, and offsets tell */
	CHANGE_OVERLAP, /* a piece says that it begins where others' bytes are */
	CHANGE_SIDE,	/* a bit of a side record */
	CHANGE_AUX,	/* a bit of an AUX record */
	CHANGE_FILE,	/* a bit of anything but trace */
	CHANGE_COUNT
};

struct change {
	enum change_kind kind;
	size_t lane;	   /* whose trace */
	bool placed;	   /* [from, upto) of its trace are not what they were, or not there */
	size_t from, upto; /* in the undamaged trace */
	bool structural;   /* has to be told of, unless it costs nothing */
	bool told;	   /* has to be told of */
	uint64_t until;	   /* SIDE: what is earlier cannot be otherwise */
	uint8_t *bytes;	   /* owned: the recording then */
	size_t len;
	char what[160];
};

const char *change_name(enum change_kind kind);

/* The change that the number @seed stands for. False: there is no such place in @b. */
bool change_make(const struct base *b, uint64_t seed, struct change *ret);
void change_release(struct change *c);

/* Leave out the index of AUXTRACE records, which a change would make wrong. */
void change_drop_index(struct base *b);

#endif
