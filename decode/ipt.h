/* SPDX-License-Identifier: MIT */
/* libipt: its configuration, its image of the code, its errors. */
#ifndef PTC_DECODE_IPT_H
#define PTC_DECODE_IPT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "ptcap/decode.h"

struct pt_block_decoder;
struct pt_image;
struct ptc_ipt_track;
struct pt_image_section_cache;
struct ptc_addrspace;
struct ptc_ipt_images;

/* How the trace was made. Zeros where not known. */
struct ptc_ipt_params {
	struct ptc_cpu_id cpu;	       /* selects the errata */
	uint8_t mtc_freq;	       /* IA32_RTIT_CTL.MTCFreq */
	uint8_t nom_freq;	       /* maximum non-turbo ratio */
	uint32_t tsc_ctc_n, tsc_ctc_d; /* CPUID 15h ebx, eax */
};

/*
 * Images that are kept: of more address spaces the one not used for the longest time is dropped.
 * Places in the code that an image waits for.
 */
enum { PTC_IPT_IMAGES = 128, PTC_IPT_WANTED = 8 };

/* An image, of an address space as it was when libipt was told of it. */
struct ptc_ipt_image {
	struct pt_image *image; /* owned; NULL: none */
	const struct ptc_addrspace *as;
	uint64_t serial; /* the same number in @as: it is of that; 0: of nobody */
	uint64_t layout; /* of @as, then */
	uint64_t used;
	enum ptc_mode mode;
	/* Where code was read that libipt can have from a file: ptc_ipt_image tells it so. */
	uint64_t wanted[PTC_IPT_WANTED];
	size_t nwanted;
};

/* One thread uses it at a time. */
struct ptc_ipt {
	struct ptc_ipt_params params;
	struct pt_image_section_cache *caches[PTC_MODES]; /* owned; shared by all images */
	struct ptc_ipt_images *images;			  /* owned */
	uint64_t drops; /* images that are gone: each decoder needs to be given its own again */
};

int ptc_ipt_init(struct ptc_ipt *ipt, const struct ptc_ipt_params *params, struct ptc_err *err);
/* No decoder may use its images any more. One that is zeroed is fine. */
void ptc_ipt_release(struct ptc_ipt *ipt);

/* A block decoder for @bytes, which must outlive it. Blocks end at every call and jump. */
int ptc_ipt_decoder(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		    struct pt_block_decoder **ret, struct ptc_err *err);

/* @t for such a decoder, of the same bytes. */
int ptc_ipt_track(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		  struct ptc_ipt_track *t, struct ptc_err *err);

/*
 * The image of @as as it is now, for code of @mode; @as knows which one that is. It is made anew
 * when the layout of @as has changed, or when it was dropped. libipt remembers of which mode the
 * blocks were that it found in a file, and then takes them to be that for ever: a MODE.Exec that is
 * damaged must not spoil them, hence the modes apart. With PTC_MODES, which is none, it remembers
 * nothing, and what it remembers is not used. Bytes that are in no file, and ranges with patches,
 * are read from @as, which must outlive the use of the image. So are files at first: libipt is
 * told of a file's range when it has read there, so that mappings without use cost nothing.
 * The image is lent until ipt->drops changes; ask again when it has something wanted, too.
 */
int ptc_ipt_image(struct ptc_ipt *ipt, struct ptc_addrspace *as, enum ptc_mode mode,
		  const struct ptc_ipt_image **ret, struct ptc_err *err);
/* @as is about to be gone, or to be another one: it has no images. */
void ptc_ipt_forget_images(struct ptc_addrspace *as);

/* The cause of a gap for a decoder's negative status. */
enum ptc_gap_cause ptc_ipt_cause(int status);

#endif
