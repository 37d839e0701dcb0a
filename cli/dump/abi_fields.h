/* SPDX-License-Identifier: MIT */
/*
 * The structures of include/uapi/linux/perf_event.h as tables of field names and positions. A test
 * compares the tables with the header.
 */
#ifndef PTC_CLI_DUMP_ABI_FIELDS_H
#define PTC_CLI_DUMP_ABI_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A field of a structure: @bits bits from bit @at, counted from the lowest bit of the first byte.
 */
struct ptc_field {
	const char *name;
	unsigned int at, bits; /* bits: at most 64 */
	bool is_signed;
	bool alias; /* another name, in a union, of an earlier field */
};

struct ptc_fields {
	const char *of; /* "perf_event_attr" */
	const struct ptc_field *list;
	size_t n;
};

extern const struct ptc_fields ptc_fields_attr;
extern const struct ptc_fields ptc_fields_mmap_page;
extern const struct ptc_fields ptc_fields_branch_entry;
extern const struct ptc_fields ptc_fields_mem_data_src;
extern const struct ptc_fields ptc_fields_weight;
/* Terminated by NULL. */
extern const struct ptc_fields *const ptc_fields_all[];

/*
 * Returns the value of @f in the structure at @object, which must be as large as in the vendored
 * header.
 */
uint64_t ptc_field_get(const struct ptc_field *f, const void *object);

/* Bit-fields have no offsetof: each entry is name, position in the word, width. */
/* The word after read_format in perf_event_attr. */
#define PTC_ATTR_BITS(X)                                                                           \
	X(disabled, 0, 1)                                                                          \
	X(inherit, 1, 1)                                                                           \
	X(pinned, 2, 1)                                                                            \
	X(exclusive, 3, 1)                                                                         \
	X(exclude_user, 4, 1)                                                                      \
	X(exclude_kernel, 5, 1)                                                                    \
	X(exclude_hv, 6, 1)                                                                        \
	X(exclude_idle, 7, 1)                                                                      \
	X(mmap, 8, 1)                                                                              \
	X(comm, 9, 1)                                                                              \
	X(freq, 10, 1)                                                                             \
	X(inherit_stat, 11, 1)                                                                     \
	X(enable_on_exec, 12, 1)                                                                   \
	X(task, 13, 1)                                                                             \
	X(watermark, 14, 1)                                                                        \
	X(precise_ip, 15, 2)                                                                       \
	X(mmap_data, 17, 1)                                                                        \
	X(sample_id_all, 18, 1)                                                                    \
	X(exclude_host, 19, 1)                                                                     \
	X(exclude_guest, 20, 1)                                                                    \
	X(exclude_callchain_kernel, 21, 1)                                                         \
	X(exclude_callchain_user, 22, 1)                                                           \
	X(mmap2, 23, 1)                                                                            \
	X(comm_exec, 24, 1)                                                                        \
	X(use_clockid, 25, 1)                                                                      \
	X(context_switch, 26, 1)                                                                   \
	X(write_backward, 27, 1)                                                                   \
	X(namespaces, 28, 1)                                                                       \
	X(ksymbol, 29, 1)                                                                          \
	X(bpf_event, 30, 1)                                                                        \
	X(aux_output, 31, 1)                                                                       \
	X(cgroup, 32, 1)                                                                           \
	X(text_poke, 33, 1)                                                                        \
	X(build_id, 34, 1)                                                                         \
	X(inherit_thread, 35, 1)                                                                   \
	X(remove_on_exec, 36, 1)                                                                   \
	X(sigtrap, 37, 1)                                                                          \
	X(defer_callchain, 38, 1)                                                                  \
	X(defer_output, 39, 1)

/* perf_event_attr.aux_action */
#define PTC_ATTR_AUX_BITS(X)                                                                       \
	X(aux_start_paused, 0, 1)                                                                  \
	X(aux_pause, 1, 1)                                                                         \
	X(aux_resume, 2, 1)

/* perf_event_mmap_page.capabilities */
#define PTC_CAP_BITS(X)                                                                            \
	X(cap_bit0, 0, 1)                                                                          \
	X(cap_bit0_is_deprecated, 1, 1)                                                            \
	X(cap_user_rdpmc, 2, 1)                                                                    \
	X(cap_user_time, 3, 1)                                                                     \
	X(cap_user_time_zero, 4, 1)                                                                \
	X(cap_user_time_short, 5, 1)

/* The third word of perf_branch_entry. */
#define PTC_BRANCH_BITS(X)                                                                         \
	X(mispred, 0, 1)                                                                           \
	X(predicted, 1, 1)                                                                         \
	X(in_tx, 2, 1)                                                                             \
	X(abort, 3, 1)                                                                             \
	X(cycles, 4, 16)                                                                           \
	X(type, 20, 4)                                                                             \
	X(spec, 24, 2)                                                                             \
	X(new_type, 26, 4)                                                                         \
	X(priv, 30, 3)

/* perf_mem_data_src */
#define PTC_MEM_BITS(X)                                                                            \
	X(mem_op, 0, 5)                                                                            \
	X(mem_lvl, 5, 14)                                                                          \
	X(mem_snoop, 19, 5)                                                                        \
	X(mem_lock, 24, 2)                                                                         \
	X(mem_dtlb, 26, 7)                                                                         \
	X(mem_lvl_num, 33, 4)                                                                      \
	X(mem_remote, 37, 1)                                                                       \
	X(mem_snoopx, 38, 2)                                                                       \
	X(mem_blk, 40, 3)                                                                          \
	X(mem_hops, 43, 3)                                                                         \
	X(mem_region, 46, 5)

#endif
