/* SPDX-License-Identifier: MIT */
/*
 * The constants of include/uapi/linux/perf_event.h as tables from value or bit to name. A test
 * compares the tables with the header.
 */
#ifndef PTC_CLI_DUMP_ABI_NAMES_H
#define PTC_CLI_DUMP_ABI_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct ptc_name {
	uint64_t value; /* a number, or one bit */
	const char *name;
};

struct ptc_names {
	const char *prefix, *suffix; /* a name in the header is PREFIX name SUFFIX */
	const struct ptc_name *list;
	size_t n;
};

/* Returns the name of a value, static; NULL for an unknown value. */
const char *ptc_names_find(const struct ptc_names *t, uint64_t value);

extern const struct ptc_names ptc_names_type;	  /* attr.type */
extern const struct ptc_names ptc_names_hw;	  /* attr.config of PERF_TYPE_HARDWARE */
extern const struct ptc_names ptc_names_cache;	  /* attr.config of PERF_TYPE_HW_CACHE, bits 0-7 */
extern const struct ptc_names ptc_names_cache_op; /* bits 8-15 */
extern const struct ptc_names ptc_names_cache_result;	    /* bits 16-23 */
extern const struct ptc_names ptc_names_sw;		    /* attr.config of PERF_TYPE_SOFTWARE */
extern const struct ptc_names ptc_names_sample_type;	    /* bits of attr.sample_type */
extern const struct ptc_names ptc_names_branch_sample_type; /* bits of attr.branch_sample_type */
extern const struct ptc_names ptc_names_read_format;	    /* bits of attr.read_format */
extern const struct ptc_names ptc_names_attr_size;	    /* attr.size */
extern const struct ptc_names ptc_names_branch_type;	    /* ptc_branch.type */
extern const struct ptc_names ptc_names_branch_spec;	    /* ptc_branch.spec */
extern const struct ptc_names ptc_names_branch_new_type;    /* ptc_branch.new_type */
extern const struct ptc_names ptc_names_branch_priv;	    /* ptc_branch.priv */
extern const struct ptc_names ptc_names_regs_abi;	    /* ptc_regs.abi */
extern const struct ptc_names ptc_names_txn;		    /* bits of ptc_sample.transaction */
extern const struct ptc_names ptc_names_context;	    /* markers in a callchain */
extern const struct ptc_names ptc_names_cpumode;  /* misc & PERF_RECORD_MISC_CPUMODE_MASK */
extern const struct ptc_names ptc_names_aux_flag; /* bits of ptc_sb_aux.flags */
/* flags & PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK (CoreSight) */
extern const struct ptc_names ptc_names_aux_format;
extern const struct ptc_names ptc_names_ns;	      /* links of NAMESPACES */
extern const struct ptc_names ptc_names_ksymbol_type; /* ptc_sb_ksymbol.ksym_type */
extern const struct ptc_names ptc_names_ksymbol_flag; /* bits of ptc_sb_ksymbol.flags */
extern const struct ptc_names ptc_names_bpf_event;    /* ptc_sb_bpf.type */
extern const struct ptc_names ptc_names_ioctl;	      /* ioctl requests */
extern const struct ptc_names ptc_names_ioc_flag;     /* bits of the ioctl argument */
extern const struct ptc_names ptc_names_fd_flag;      /* bits of perf_event_open's flags */
extern const struct ptc_names ptc_names_mem_op;	      /* data_src: bits of mem_op */
extern const struct ptc_names ptc_names_mem_lvl;      /* bits of mem_lvl */
extern const struct ptc_names ptc_names_mem_remote;   /* mem_remote */
extern const struct ptc_names ptc_names_mem_lvlnum;   /* mem_lvl_num */
extern const struct ptc_names ptc_names_mem_snoop;    /* bits of mem_snoop */
extern const struct ptc_names ptc_names_mem_snoopx;   /* bits of mem_snoopx */
extern const struct ptc_names ptc_names_mem_lock;     /* bits of mem_lock */
extern const struct ptc_names ptc_names_mem_tlb;      /* bits of mem_dtlb */
extern const struct ptc_names ptc_names_mem_blk;      /* bits of mem_blk */
extern const struct ptc_names ptc_names_mem_hops;     /* mem_hops */
extern const struct ptc_names ptc_names_mem_region;   /* mem_region */

/* Terminated by NULL. Without the bits of misc: ptc_names_misc. */
extern const struct ptc_names *const ptc_names_all[];

/*
 * Returns the names of the bits of misc above the CPU mode, which depend on the record type. A type
 * without bits of its own gets EXT_RESERVED. Never NULL.
 */
const struct ptc_names *ptc_names_misc(uint32_t type);

/*
 * Returns the name of a bit of sample_regs_user and _intr on x86 (perf_regs.h): "AX", "R15",
 * "XMM0"; NULL: no such register.
 */
const char *ptc_reg_name(unsigned int bit);

#endif
