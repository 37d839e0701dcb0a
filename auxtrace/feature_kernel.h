/* SPDX-License-Identifier: MIT */
/* Writing the features that tell of the kernel: what ptcap/feature.h reads. */
#ifndef PTC_AUXTRACE_FEATURE_KERNEL_H
#define PTC_AUXTRACE_FEATURE_KERNEL_H

#include "auxtrace/feature_base.h"
#include "ptcap/feature.h"

/* From the parsed form: what is copied is what the iterators have left. */
void ptc_feature_put_tracing_data(struct ptc_buf *b, const struct ptc_tracing_data *t);
/* Of each only arrays, info and data are written. */
void ptc_feature_put_bpf_progs(struct ptc_buf *b, const struct ptc_bpf_prog *p, size_t n);
void ptc_feature_put_bpf_btfs(struct ptc_buf *b, const struct ptc_bpf_btf *p, size_t n);

#endif
