/* SPDX-License-Identifier: MIT */
#include "cli/dump/abi_fields.h"

#include <linux/perf_event.h>

#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))
#define AT(member)    ((unsigned int)offsetof(STRUCT, member) * 8)
#define WIDTH(member) ((unsigned int)sizeof(((STRUCT *)0)->member) * 8)
#define F(member)                                                                                  \
	{                                                                                          \
#member, AT(member), WIDTH(member), false, false                                   \
	}
#define S(member)                                                                                  \
	{                                                                                          \
#member, AT(member), WIDTH(member), true, false                                    \
	}
#define A(member)                                                                                  \
	{                                                                                          \
#member, AT(member), WIDTH(member), false, true                                    \
	}
#define BITS(name, at, width)	    { #name, BASE + (at), width, false, false },
#define ALIAS_BITS(name, at, width) { #name, BASE + (at), width, false, true },
#define FIELDS(name, of)                                                                           \
	const struct ptc_fields ptc_fields_##name = { of, name##_fields, COUNT(name##_fields) }

#define STRUCT struct perf_event_attr
static const struct ptc_field attr_fields[] = {
	F(type),
	F(size),
	F(config),
	F(sample_period),
	A(sample_freq),
	F(sample_type),
	F(read_format),
#define BASE (AT(read_format) + 64)
	PTC_ATTR_BITS(BITS)
#undef BASE
		F(wakeup_events),
	A(wakeup_watermark),
	F(bp_type),
	F(bp_addr),
	A(kprobe_func),
	A(uprobe_path),
	A(config1),
	F(bp_len),
	A(kprobe_addr),
	A(probe_offset),
	A(config2),
	F(branch_sample_type),
	F(sample_regs_user),
	F(sample_stack_user),
	S(clockid),
	F(sample_regs_intr),
	F(aux_watermark),
	F(sample_max_stack),
	F(aux_sample_size),
	F(aux_action),
#define BASE AT(aux_action)
	PTC_ATTR_AUX_BITS(ALIAS_BITS)
#undef BASE
		F(sig_data),
	F(config3),
	F(config4),
};
FIELDS(attr, "perf_event_attr");
#undef STRUCT

#define STRUCT struct perf_event_mmap_page
static const struct ptc_field mmap_page_fields[] = {
	F(version),
	F(compat_version),
	F(lock),
	F(index),
	S(offset),
	F(time_enabled),
	F(time_running),
	F(capabilities),
#define BASE AT(capabilities)
	PTC_CAP_BITS(ALIAS_BITS)
#undef BASE
		F(pmc_width),
	F(time_shift),
	F(time_mult),
	F(time_offset),
	F(time_zero),
	F(size),
	F(time_cycles),
	F(time_mask),
	F(data_head),
	F(data_tail),
	F(data_offset),
	F(data_size),
	F(aux_head),
	F(aux_tail),
	F(aux_offset),
	F(aux_size),
};
FIELDS(mmap_page, "perf_event_mmap_page");
#undef STRUCT

#define STRUCT struct perf_branch_entry
static const struct ptc_field branch_entry_fields[] = { F(from), F(to),
#define BASE 128u
							PTC_BRANCH_BITS(BITS)
#undef BASE
};
FIELDS(branch_entry, "perf_branch_entry");
#undef STRUCT

#define STRUCT union perf_mem_data_src
static const struct ptc_field mem_data_src_fields[] = { F(val),
#define BASE 0u
							PTC_MEM_BITS(ALIAS_BITS)
#undef BASE
};
FIELDS(mem_data_src, "perf_mem_data_src");
#undef STRUCT

#define STRUCT union perf_sample_weight
static const struct ptc_field weight_fields[] = {
	F(full),
	A(var1_dw),
	A(var2_w),
	A(var3_w),
};
FIELDS(weight, "perf_sample_weight");
#undef STRUCT

const struct ptc_fields *const ptc_fields_all[] = {
	&ptc_fields_attr,	  &ptc_fields_mmap_page, &ptc_fields_branch_entry,
	&ptc_fields_mem_data_src, &ptc_fields_weight,	 NULL,
};

uint64_t ptc_field_get(const struct ptc_field *f, const void *object)
{
	const uint8_t *bytes = (const uint8_t *)object + f->at / 8;
	const unsigned int shift = f->at % 8;
	uint64_t v = 0;
	unsigned int i;

	/*
	 * Little endian, as on x86. A field is at most 9 bytes long. A field that starts inside a
	 * byte is at most 56 bits wide.
	 */
	for (i = 0; i * 8 < shift + f->bits; i++)
		v |= (uint64_t)bytes[i] << 8 * i;
	v >>= shift;
	return f->bits < 64 ? v & ((UINT64_C(1) << f->bits) - 1) : v;
}
