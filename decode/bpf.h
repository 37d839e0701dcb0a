/* SPDX-License-Identifier: MIT */
/*
 * Code that the kernel makes of BPF programs: KSYMBOL records tell when it came and
 * went, the feature BPF_PROG_INFO may have its bytes.
 */
#ifndef PTC_DECODE_BPF_H
#define PTC_DECODE_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/sideband.h"

struct ptc_codefile;
struct ptc_codefiles;
struct ptc_file;

/* The code of one function of a program. */
struct ptc_bpf_code {
	uint64_t addr;
	const uint8_t *bytes; /* lent from the recording */
	uint32_t len;
	uint8_t tag[8];		   /* of what it was made of */
	struct ptc_codefile *file; /* lent; once it was asked for */
};

/* Zeroed: none. */
struct ptc_bpf {
	struct ptc_bpf_code *codes; /* owned */
	size_t n, cap;
};

void ptc_bpf_release(struct ptc_bpf *b);

/* Keep what BPF_PROG_INFO of @f (which must outlive @b) has. Where it is damaged it ends. */
int ptc_bpf_read(struct ptc_bpf *b, const struct ptc_file *f, struct ptc_err *err);

/* The code that @k tells of, as a file of @s: without bytes, if they are not to be had. NULL: no
 * memory. */
struct ptc_codefile *ptc_bpf_file(struct ptc_bpf *b, struct ptc_codefiles *s,
				  const struct ptc_sb_ksymbol *k);

#endif
