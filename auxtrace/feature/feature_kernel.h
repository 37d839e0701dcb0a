/* SPDX-License-Identifier: MIT */
/* Writing the features about the kernel: the inverse of the parsers in ptcap/feature.h. */
#ifndef PTC_AUXTRACE_FEATURE_FEATURE_KERNEL_H
#define PTC_AUXTRACE_FEATURE_FEATURE_KERNEL_H

#include "auxtrace/feature/feature_base.h"
#include "ptcap/feature.h"

/* Write the parsed form. The iterators' remaining entries are copied. */
void ptc_feature_put_tracing_data(struct ptc_buf *b, const struct ptc_tracing_data *t);
/* Write arrays, info and data of each program, no other fields. */
void ptc_feature_put_bpf_progs(struct ptc_buf *b, const struct ptc_bpf_prog *p, size_t n);
void ptc_feature_put_bpf_btfs(struct ptc_buf *b, const struct ptc_bpf_btf *p, size_t n);

#endif
