/* SPDX-License-Identifier: MIT */
/*
 * The kernel's code: from a copy of its memory (kcore), or from vmlinux, moved to where it ran.
 * kcore is exact. vmlinux lacks the patches that a kernel makes to itself. Code of modules comes
 * from kcore only: the files of modules are not linked yet, so they only give names.
 */
#ifndef PTC_DECODE_IMAGE_KERNEL_H
#define PTC_DECODE_IMAGE_KERNEL_H

#include <stdbool.h>

#include "auxtrace/record/sideband.h"
#include "decode/image/addrspace.h"
#include "decode/image/bpf.h"
#include "decode/image/text_symbols.h"
#include "ptcap/decode.h"

struct ptc_codefile;
struct ptc_codefiles;
struct ptc_core;

/* Code of vmlinux, at its link addresses. */
struct ptc_kernel_segment {
	uint64_t addr, off, len;
};

/* The part that sideband records change. */
struct ptc_kernel_maps {
	struct ptc_addrspace as;
	struct ptc_addrspace modules; /* location of each module, to find names in its file */
	bool other_boot;	      /* kallsyms beside kcore is not from the recorded kernel */
};

struct ptc_kernel {
	struct ptc_addrspace brought;  /* all of a kcore that came with the recording */
	struct ptc_core *kcore;	       /* owned; NULL: none */
	struct ptc_text_symbols names; /* from kallsyms beside kcore */
	struct ptc_text_symbols live;  /* from KSYMBOL; "": nothing is there from then on */
	struct ptc_bpf bpf;
	struct ptc_codefile *vmlinux;	 /* lent; NULL: none */
	struct ptc_kernel_segment *segs; /* owned; of vmlinux */
	size_t nsegs, segs_cap;
	uint64_t text; /* _text of vmlinux; 0: none */
	bool wanted;   /* the trace includes the kernel */
	bool unplaced; /* there is a vmlinux, but no record of where it ran */
};

/*
 * Open the files that @opts (may be NULL) names. @id: build-id of the recorded kernel (len 0:
 * unknown). A named file that cannot be read is an error. If no file is named, use @kcore_dir if it
 * is not NULL: the folder that came with the recording, kcore_dir in perf. Else use the kcore of
 * the bundle, else search for vmlinux by @id.
 */
int ptc_kernel_init(struct ptc_kernel *k, struct ptc_codefiles *files,
		    const struct ptc_code_opts *opts, const struct ptc_build_id *id,
		    const char *kcore_dir, struct ptc_err *err);
void ptc_kernel_release(struct ptc_kernel *k);

/* Reset @maps to the state before any record: only the code that came with the recording. */
void ptc_kernel_begin(const struct ptc_kernel *k, struct ptc_kernel_maps *maps);

/* Make @maps, which is zeroed, a copy of @from with the same versions. */
void ptc_kernel_maps_copy(struct ptc_kernel_maps *maps, const struct ptc_kernel_maps *from);
void ptc_kernel_maps_release(struct ptc_kernel_maps *maps);

/* Apply a mapping of the kernel to @maps. Returns false if out of memory. */
bool ptc_kernel_mmap(struct ptc_kernel *k, struct ptc_kernel_maps *maps,
		     struct ptc_codefiles *files, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id);

/* Add the name of a KSYMBOL record when it is read: valid from @time on. False: out of memory. */
bool ptc_kernel_name(struct ptc_kernel *k, const struct ptc_sb_ksymbol *s, uint64_t time);

/* Apply the code of a KSYMBOL record when its time has come. Returns false if out of memory. */
bool ptc_kernel_ksymbol(struct ptc_kernel *k, struct ptc_kernel_maps *maps,
			struct ptc_codefiles *files, const struct ptc_sb_ksymbol *s);

/* Is @name the kernel itself, not a module? */
bool ptc_kernel_is_image(const char *name);

#endif
