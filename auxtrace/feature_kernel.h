/* SPDX-License-Identifier: MIT */
/*
 * Features that carry what the kernel said: the formats of tracepoints, BPF
 * programs and their types. Parsing and writing as feature_base.h says.
 */
#ifndef PTC_AUXTRACE_FEATURE_KERNEL_H
#define PTC_AUXTRACE_FEATURE_KERNEL_H

#include "auxtrace/feature_base.h"

/* Bytes behind a u64 size: a file of tracefs. */
int ptc_feature_next_blob(struct ptc_feature_iter *it, struct ptc_cur *ret, struct ptc_err *err);

/* One folder of events in TRACING_DATA. */
struct ptc_trace_system {
	const char *name;		 /* lent */
	struct ptc_feature_iter formats; /* blobs: texts, one an event */
};

/* TRACING_DATA: files of tracefs (tools/perf/util/trace-event-info.c). */
struct ptc_tracing_data {
	const char *version; /* "0.6"; lent */
	uint8_t long_size;
	uint32_t page_size;
	struct ptc_cur header_page, header_event; /* texts, without a NUL */
	struct ptc_feature_iter ftrace;		  /* blobs: formats of ftrace's own events */
	struct ptc_feature_iter systems;
	struct ptc_cur kallsyms, printk, cmdlines;
	struct ptc_cur rest; /* what a newer writer put behind */
};
/* PTC_E_UNSUPPORTED: of a big-endian machine. */
int ptc_feature_parse_tracing_data(struct ptc_cur section, uint64_t off,
				   struct ptc_tracing_data *ret, struct ptc_err *err);
int ptc_feature_next_trace_system(struct ptc_feature_iter *it, struct ptc_trace_system *ret,
				  struct ptc_err *err);
/* From the parsed form: what is copied is what the iterators have left. */
void ptc_feature_put_tracing_data(struct ptc_buf *b, const struct ptc_tracing_data *t);

/* BPF_PROG_INFO */
struct ptc_bpf_prog {
	uint64_t arrays;     /* which arrays the data has: bits of enum perf_bpil_array_types */
	struct ptc_cur info; /* struct bpf_prog_info, of the writer's size; lent */
	struct ptc_cur data; /* the arrays, to which info has offsets; lent */
	/* of info; 0 where it is shorter */
	uint32_t type, id;
	uint8_t tag[8];
	uint32_t jited_len, xlated_len;
	uint64_t load_time_ns; /* since boot */
	uint32_t uid;
	char name[17];
};
int ptc_feature_next_bpf_prog(struct ptc_feature_iter *it, struct ptc_bpf_prog *ret,
			      struct ptc_err *err);
/* Of each only arrays, info and data are written. */
void ptc_feature_put_bpf_progs(struct ptc_buf *b, const struct ptc_bpf_prog *p, size_t n);

/* BPF_BTF */
struct ptc_bpf_btf {
	uint32_t id;
	struct ptc_cur data; /* lent */
};
int ptc_feature_next_bpf_btf(struct ptc_feature_iter *it, struct ptc_bpf_btf *ret,
			     struct ptc_err *err);
void ptc_feature_put_bpf_btfs(struct ptc_buf *b, const struct ptc_bpf_btf *p, size_t n);

#endif
