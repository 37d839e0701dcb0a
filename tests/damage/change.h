/* SPDX-License-Identifier: MIT */
/* One change to a recording, derived from a number. */
#ifndef PTC_TESTS_DAMAGE_CHANGE_H
#define PTC_TESTS_DAMAGE_CHANGE_H

#include "base.h"

enum change_kind {
	CHANGE_BITS,	/* one to four bits of trace */
	CHANGE_BYTES,	/* some bytes of trace get other values */
	CHANGE_TIME,	/* a bit of a time packet */
	CHANGE_NO_PSB,	/* a PSB becomes PADs */
	CHANGE_NO_PSBS, /* a PSB+ becomes PADs */
	CHANGE_PACKET,	/* a packet becomes PADs */
	CHANGE_CLOSED,	/* bytes removed, later ones move up */
	CHANGE_HOLE,	/* bytes removed, offsets show it */
	CHANGE_TAIL,	/* the end is removed */
	CHANGE_TWICE,	/* bytes duplicated, offsets show it */
	CHANGE_OVERLAP, /* a chunk claims an offset inside earlier bytes */
	CHANGE_SIDE,	/* a bit of a sideband record */
	CHANGE_AUX,	/* a bit of an AUX record */
	CHANGE_FILE,	/* a bit outside the trace */
	CHANGE_COUNT
};

struct change {
	enum change_kind kind;
	size_t lane;	   /* the damaged lane */
	bool placed;	   /* [from, upto) of its trace is changed or missing */
	size_t from, upto; /* in the undamaged trace */
	bool structural;   /* must be reported, unless no branch is lost */
	bool told;	   /* must be reported */
	uint64_t until;	   /* SIDE: output before this time must not change */
	uint8_t *bytes;	   /* owned: the changed recording */
	size_t len;
	char what[160];
};

const char *change_name(enum change_kind kind);

/* Makes the change for the number @seed. False: @b has no place for it. */
bool change_make(const struct base *b, uint64_t seed, struct change *ret);
void change_release(struct change *c);

/* Drops the index of AUXTRACE records, which a change would make wrong. */
void change_drop_index(struct base *b);

#endif
