/* SPDX-License-Identifier: MIT */
/*
 * The kernel's code: from a copy of its memory (kcore), which is exact, or
 * from vmlinux, moved to where it ran; that lacks what a kernel patches in
 * itself. Code of modules comes from kcore alone: their files are not linked
 * yet, and have names only.
 */
#ifndef PTC_DECODE_KERNEL_H
#define PTC_DECODE_KERNEL_H

#include <stdbool.h>

#include "auxtrace/sideband.h"
#include "decode/addrspace.h"
#include "decode/bpf.h"
#include "decode/labels.h"
#include "ptcap/decode.h"

struct ptc_codefile;
struct ptc_codefiles;
struct ptc_core;

/* Code of vmlinux, at the addresses it was linked for. */
struct ptc_kernel_segment {
	uint64_t addr, off, len;
};

/* What records change of it: the members of struct ptc_kernel of the same names. */
struct ptc_kernel_now {
	struct ptc_addrspace as, modules;
	bool other_boot;
};

struct ptc_kernel {
	struct ptc_addrspace as;
	struct ptc_addrspace modules; /* which module is where, for the names in its file */
	struct ptc_addrspace brought; /* all of a kcore that came with the recording */
	struct ptc_core *kcore;	      /* owned; NULL: none */
	struct ptc_labels names;      /* of kallsyms beside kcore */
	struct ptc_labels live;	      /* of KSYMBOL; "": from then on there is nothing more */
	struct ptc_bpf bpf;
	struct ptc_codefile *vmlinux;	 /* lent; NULL: none */
	struct ptc_kernel_segment *segs; /* owned; of vmlinux */
	size_t nsegs, segs_cap;
	uint64_t text;	 /* _text of vmlinux; 0: it has none */
	bool wanted;	 /* the trace is of the kernel too */
	bool other_boot; /* kallsyms beside kcore is not of the kernel that was recorded */
	bool unplaced;	 /* there is a vmlinux, and no record of where it ran */
};

/*
 * Open what @opts (may be NULL) names; @id is that of the recorded kernel (len
 * 0: not known). What was named and cannot be read is an error. If nothing is, take what came with
 * the recording, if that is not NULL: a folder that perf calls kcore_dir.
 */
int ptc_kernel_init(struct ptc_kernel *k, struct ptc_codefiles *files,
		    const struct ptc_code_opts *opts, const struct ptc_build_id *id,
		    const char *kcore_dir, struct ptc_err *err);
void ptc_kernel_release(struct ptc_kernel *k);

/* As it is before any record: only what came with the recording is there. */
void ptc_kernel_begin(struct ptc_kernel *k);

/* Make @ret, which is zeroed, a copy of what it is now, with the same versions. */
void ptc_kernel_copy_now(const struct ptc_kernel *k, struct ptc_kernel_now *ret);
void ptc_kernel_release_now(struct ptc_kernel_now *now);
/* Exchange what it is with @now: it is at the same addresses, with another content. */
void ptc_kernel_swap(struct ptc_kernel *k, struct ptc_kernel_now *now);

/* A mapping of the kernel's. False: out of memory. */
bool ptc_kernel_mmap(struct ptc_kernel *k, struct ptc_codefiles *files, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id);

/* KSYMBOL, when it is seen: the name, which holds from @time on. False: out of memory. */
bool ptc_kernel_name(struct ptc_kernel *k, const struct ptc_sb_ksymbol *s, uint64_t time);

/* The same when its time has come: the code. False: out of memory. */
bool ptc_kernel_ksymbol(struct ptc_kernel *k, struct ptc_codefiles *files,
			const struct ptc_sb_ksymbol *s);

/* The name of what is at @ip at @time, and the offset into it; NULL: not known. Lent. */
const char *ptc_kernel_symbol(const struct ptc_kernel *k, uint64_t ip, uint64_t time,
			      uint64_t *ret_off);

/* Is @name that of the kernel itself, not of a module? */
bool ptc_kernel_is_image(const char *name);

#endif
