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

/* How the trace was made. Zeros where not known. */
struct ptc_ipt_params {
	struct ptc_cpu_id cpu;	       /* selects the errata */
	uint8_t mtc_freq;	       /* IA32_RTIT_CTL.MTCFreq */
	uint8_t nom_freq;	       /* maximum non-turbo ratio */
	uint32_t tsc_ctc_n, tsc_ctc_d; /* CPUID 15h ebx, eax */
};

struct ptc_ipt {
	struct ptc_ipt_params params;
	struct pt_image_section_cache *caches[PTC_MODES]; /* owned; shared by all images */
};

int ptc_ipt_init(struct ptc_ipt *ipt, const struct ptc_ipt_params *params, struct ptc_err *err);
/* All images made with it must be gone. */
void ptc_ipt_release(struct ptc_ipt *ipt);

/* A block decoder for @bytes, which must outlive it. Blocks end at every call and jump. */
int ptc_ipt_decoder(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		    struct pt_block_decoder **ret, struct ptc_err *err);

/* @t for such a decoder, of the same bytes. */
int ptc_ipt_track(const struct ptc_ipt *ipt, const uint8_t *bytes, size_t len,
		  struct ptc_ipt_track *t, struct ptc_err *err);

/*
 * The image of @as as it is now, for code of @mode; kept in @as, made anew when its layout has
 * changed. libipt remembers of which mode the blocks were that it found in a file, and then takes
 * them to be that for ever: a MODE.Exec that is damaged must not spoil them, hence the modes apart.
 * With PTC_MODES, which is none, it remembers nothing, and what it remembers is not used.
 * Bytes that are in no file, and ranges with patches, are read from @as, which must outlive the
 * image.
 */
int ptc_ipt_image(const struct ptc_ipt *ipt, struct ptc_addrspace *as, enum ptc_mode mode,
		  struct pt_image **ret, struct ptc_err *err);
void ptc_ipt_drop_images(struct ptc_addrspace *as);

/* The cause of a gap for a decoder's negative status. */
enum ptc_gap_cause ptc_ipt_cause(int status);

#endif
