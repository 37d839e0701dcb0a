/* SPDX-License-Identifier: MIT */
/* libipt: its configuration, its images of the code, its errors. */
#ifndef PTC_DECODE_IMAGE_IPT_IMAGE_H
#define PTC_DECODE_IMAGE_IPT_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"
#include "ptcap/decode.h"

struct pt_block_decoder;
struct pt_image;
struct pt_image_section_cache;
struct ptc_addrspace;
struct ptc_ipt_images;

/* How the trace was recorded. Zeros where unknown. */
struct ptc_ipt_params {
	struct ptc_cpu_id cpu;	       /* selects the errata */
	uint8_t mtc_freq;	       /* IA32_RTIT_CTL.MTCFreq */
	uint8_t nom_freq;	       /* maximum non-turbo ratio */
	uint32_t tsc_ctc_n, tsc_ctc_d; /* CPUID 15h ebx, eax */
};

/*
 * Limits: images that are kept (the least recently used one is dropped for another address space);
 * addresses in the code that an image waits for.
 */
enum { PTC_IPT_IMAGES = 128, PTC_IPT_WANTED = 8 };

/* The image of an address space, as it was when libipt got it. */
struct ptc_ipt_image {
	struct pt_image *image; /* owned; NULL: none */
	const struct ptc_addrspace *as;
	uint64_t serial; /* the image belongs to @as if its key has the same serial; 0: free */
	uint64_t layout; /* layout of @as at that time */
	uint64_t used;
	enum ptc_mode mode;
	/* Addresses where code was read that libipt can read from a file: ptc_ipt_image adds it. */
	uint64_t wanted[PTC_IPT_WANTED];
	size_t nwanted;
};

/* Used by one thread at a time. */
struct ptc_ipt {
	struct ptc_ipt_params params;
	struct pt_image_section_cache *caches[PTC_MODES]; /* owned; shared by all images */
	struct ptc_ipt_images *images;			  /* owned */
	/* images dropped so far: if it changes, each decoder must get its image again */
	uint64_t drops;
};

int ptc_ipt_init(struct ptc_ipt *ipt, const struct ptc_ipt_params *params, struct ptc_err *err);
/* Release all decoders that use its images first. A zeroed @ipt is fine. */
void ptc_ipt_release(struct ptc_ipt *ipt);

/* Create a block decoder for @bytes, which must outlive it. Blocks end at every call and jump. */
int ptc_ipt_decoder(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		    struct pt_block_decoder **ret, struct ptc_err *err);

/* Returns the configuration of any decoder of libipt for @bytes. */
struct pt_config ptc_ipt_config(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len);

/*
 * Returns the image of @as, as it is now, for code of @mode. @as stores which image that is. The
 * image is made again if the layout of @as has changed, or if it was dropped.
 *
 * libipt remembers the mode of blocks that it found in a file, and keeps that mode for ever. A
 * damaged MODE.Exec must not affect them, so each mode has its own images. With PTC_MODES (no mode)
 * libipt remembers nothing, and uses nothing that it remembers.
 *
 * Bytes that are in no file, and ranges with patches, are read from @as, which must outlive the use
 * of the image. Files are read from @as first, too. libipt gets a file's range after it has read
 * there, so unused mappings cost nothing.
 *
 * The image is lent until ipt->drops changes. Ask again when the image has wanted addresses, too.
 */
int ptc_ipt_image(struct ptc_ipt *ipt, struct ptc_addrspace *as, enum ptc_mode mode,
		  const struct ptc_ipt_image **ret, struct ptc_err *err);
/* Call before @as is released or replaced. It has no images afterwards. */
void ptc_ipt_forget_images(struct ptc_addrspace *as);

/* Returns the cause of a gap for a decoder's negative status. */
enum ptc_gap_cause ptc_ipt_cause(int status);

#endif
