/* SPDX-License-Identifier: MIT */
/*
 * Code that the kernel generates from BPF programs. KSYMBOL records tell when the code appears and
 * disappears. The feature BPF_PROG_INFO may contain its bytes.
 */
#ifndef PTC_DECODE_IMAGE_BPF_H
#define PTC_DECODE_IMAGE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/sideband.h"

struct ptc_codefile;
struct ptc_codefiles;
struct ptc_file;

/* The code of one function of a BPF program. */
struct ptc_bpf_code {
	uint64_t addr;
	const uint8_t *bytes; /* lent from the recording */
	uint32_t len;
	uint8_t tag[8];		   /* the BPF program tag */
	struct ptc_codefile *file; /* lent; set by the first ptc_bpf_file() */
};

/* Zeroed: none. */
struct ptc_bpf {
	struct ptc_bpf_code *codes; /* owned */
	size_t n, cap;
};

void ptc_bpf_release(struct ptc_bpf *b);

/* Read the programs in BPF_PROG_INFO of @f (which must outlive @b). Stops at damaged data. */
int ptc_bpf_read(struct ptc_bpf *b, const struct ptc_file *f, struct ptc_err *err);

/*
 * Returns the code of @k as a file of @s, without bytes if they are not available. NULL: out of
 * memory.
 */
struct ptc_codefile *ptc_bpf_file(struct ptc_bpf *b, struct ptc_codefiles *s,
				  const struct ptc_sb_ksymbol *k);

#endif
