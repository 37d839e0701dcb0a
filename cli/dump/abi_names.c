/* SPDX-License-Identifier: MIT */
#include "cli/dump/abi_names.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include "ptcap/record.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TABLE(name, prefix, suffix)                                                                \
	const struct ptc_names ptc_names_##name = { prefix, suffix, name##_list,                   \
						    COUNT(name##_list) }

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_TYPE_##x, #x                                                                  \
	}
static const struct ptc_name type_list[] = {
	N(HARDWARE), N(SOFTWARE), N(TRACEPOINT), N(HW_CACHE), N(RAW), N(BREAKPOINT),
};
#undef N
TABLE(type, "PERF_TYPE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_COUNT_HW_##x, #x                                                              \
	}
static const struct ptc_name hw_list[] = {
	N(CPU_CYCLES),
	N(INSTRUCTIONS),
	N(CACHE_REFERENCES),
	N(CACHE_MISSES),
	N(BRANCH_INSTRUCTIONS),
	N(BRANCH_MISSES),
	N(BUS_CYCLES),
	N(STALLED_CYCLES_FRONTEND),
	N(STALLED_CYCLES_BACKEND),
	N(REF_CPU_CYCLES),
};
#undef N
TABLE(hw, "PERF_COUNT_HW_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_COUNT_HW_CACHE_##x, #x                                                        \
	}
static const struct ptc_name cache_list[] = {
	N(L1D), N(L1I), N(LL), N(DTLB), N(ITLB), N(BPU), N(NODE),
};
#undef N
TABLE(cache, "PERF_COUNT_HW_CACHE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_COUNT_HW_CACHE_OP_##x, #x                                                     \
	}
static const struct ptc_name cache_op_list[] = {
	N(READ),
	N(WRITE),
	N(PREFETCH),
};
#undef N
TABLE(cache_op, "PERF_COUNT_HW_CACHE_OP_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_COUNT_HW_CACHE_RESULT_##x, #x                                                 \
	}
static const struct ptc_name cache_result_list[] = {
	N(ACCESS),
	N(MISS),
};
#undef N
TABLE(cache_result, "PERF_COUNT_HW_CACHE_RESULT_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_COUNT_SW_##x, #x                                                              \
	}
static const struct ptc_name sw_list[] = {
	N(CPU_CLOCK),	     N(TASK_CLOCK),	 N(PAGE_FAULTS),     N(CONTEXT_SWITCHES),
	N(CPU_MIGRATIONS),   N(PAGE_FAULTS_MIN), N(PAGE_FAULTS_MAJ), N(ALIGNMENT_FAULTS),
	N(EMULATION_FAULTS), N(DUMMY),		 N(BPF_OUTPUT),	     N(CGROUP_SWITCHES),
};
#undef N
TABLE(sw, "PERF_COUNT_SW_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_SAMPLE_##x, #x                                                                \
	}
static const struct ptc_name sample_type_list[] = {
	N(IP),
	N(TID),
	N(TIME),
	N(ADDR),
	N(READ),
	N(CALLCHAIN),
	N(ID),
	N(CPU),
	N(PERIOD),
	N(STREAM_ID),
	N(RAW),
	N(BRANCH_STACK),
	N(REGS_USER),
	N(STACK_USER),
	N(WEIGHT),
	N(DATA_SRC),
	N(IDENTIFIER),
	N(TRANSACTION),
	N(REGS_INTR),
	N(PHYS_ADDR),
	N(AUX),
	N(CGROUP),
	N(DATA_PAGE_SIZE),
	N(CODE_PAGE_SIZE),
	N(WEIGHT_STRUCT),
};
#undef N
TABLE(sample_type, "PERF_SAMPLE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_SAMPLE_BRANCH_##x, #x                                                         \
	}
static const struct ptc_name branch_sample_type_list[] = {
	N(USER),       N(KERNEL),     N(HV),	   N(ANY),	 N(ANY_CALL),
	N(ANY_RETURN), N(IND_CALL),   N(ABORT_TX), N(IN_TX),	 N(NO_TX),
	N(COND),       N(CALL_STACK), N(IND_JUMP), N(CALL),	 N(NO_FLAGS),
	N(NO_CYCLES),  N(TYPE_SAVE),  N(HW_INDEX), N(PRIV_SAVE), N(COUNTERS),
};
#undef N
TABLE(branch_sample_type, "PERF_SAMPLE_BRANCH_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_FORMAT_##x, #x                                                                \
	}
static const struct ptc_name read_format_list[] = {
	N(TOTAL_TIME_ENABLED), N(TOTAL_TIME_RUNNING), N(ID), N(GROUP), N(LOST),
};
#undef N
TABLE(read_format, "PERF_FORMAT_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_ATTR_SIZE_##x, #x                                                             \
	}
static const struct ptc_name attr_size_list[] = {
	N(VER0), N(VER1), N(VER2), N(VER3), N(VER4), N(VER5), N(VER6), N(VER7), N(VER8), N(VER9),
};
#undef N
TABLE(attr_size, "PERF_ATTR_SIZE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_BR_##x, #x                                                                    \
	}
static const struct ptc_name branch_type_list[] = {
	N(UNKNOWN), N(COND),	N(UNCOND), N(IND),	  N(CALL),     N(IND_CALL),
	N(RET),	    N(SYSCALL), N(SYSRET), N(COND_CALL),  N(COND_RET), N(ERET),
	N(IRQ),	    N(SERROR),	N(NO_TX),  N(EXTEND_ABI),
};
#undef N
TABLE(branch_type, "PERF_BR_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_BR_##x, #x                                                                    \
	}
static const struct ptc_name branch_spec_list[] = {
	N(SPEC_NA),
	N(SPEC_WRONG_PATH),
	N(NON_SPEC_CORRECT_PATH),
	N(SPEC_CORRECT_PATH),
};
#undef N
TABLE(branch_spec, "PERF_BR_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_BR_NEW_##x, #x                                                                \
	}
static const struct ptc_name branch_new_type_list[] = {
	N(FAULT_ALGN), N(FAULT_DATA), N(FAULT_INST), N(ARCH_1),
	N(ARCH_2),     N(ARCH_3),     N(ARCH_4),     N(ARCH_5),
};
#undef N
TABLE(branch_new_type, "PERF_BR_NEW_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_BR_PRIV_##x, #x                                                               \
	}
static const struct ptc_name branch_priv_list[] = {
	N(UNKNOWN),
	N(USER),
	N(KERNEL),
	N(HV),
};
#undef N
TABLE(branch_priv, "PERF_BR_PRIV_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_SAMPLE_REGS_ABI_##x, #x                                                       \
	}
static const struct ptc_name regs_abi_list[] = {
	N(NONE),
	N(32),
	N(64),
};
#undef N
TABLE(regs_abi, "PERF_SAMPLE_REGS_ABI_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_TXN_##x, #x                                                                   \
	}
static const struct ptc_name txn_list[] = {
	N(ELISION), N(TRANSACTION), N(SYNC),	       N(ASYNC),
	N(RETRY),   N(CONFLICT),    N(CAPACITY_WRITE), N(CAPACITY_READ),
};
#undef N
TABLE(txn, "PERF_TXN_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_CONTEXT_##x, #x                                                               \
	}
static const struct ptc_name context_list[] = {
	N(HV), N(KERNEL), N(USER), N(USER_DEFERRED), N(GUEST), N(GUEST_KERNEL), N(GUEST_USER),
};
#undef N
TABLE(context, "PERF_CONTEXT_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_RECORD_MISC_##x, #x                                                           \
	}
static const struct ptc_name cpumode_list[] = {
	N(CPUMODE_UNKNOWN), N(KERNEL), N(USER), N(HYPERVISOR), N(GUEST_KERNEL), N(GUEST_USER),
};
#undef N
TABLE(cpumode, "PERF_RECORD_MISC_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_AUX_FLAG_##x, #x                                                              \
	}
static const struct ptc_name aux_flag_list[] = {
	N(TRUNCATED),
	N(OVERWRITE),
	N(PARTIAL),
	N(COLLISION),
};
#undef N
TABLE(aux_flag, "PERF_AUX_FLAG_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_AUX_FLAG_CORESIGHT_FORMAT_##x, #x                                             \
	}
static const struct ptc_name aux_format_list[] = {
	N(CORESIGHT),
	N(RAW),
};
#undef N
TABLE(aux_format, "PERF_AUX_FLAG_CORESIGHT_FORMAT_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		x##_NS_INDEX, #x                                                                   \
	}
static const struct ptc_name ns_list[] = {
	N(NET), N(UTS), N(IPC), N(PID), N(USER), N(MNT), N(CGROUP),
};
#undef N
TABLE(ns, "", "_NS_INDEX");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_RECORD_KSYMBOL_TYPE_##x, #x                                                   \
	}
static const struct ptc_name ksymbol_type_list[] = {
	N(UNKNOWN),
	N(BPF),
	N(OOL),
};
#undef N
TABLE(ksymbol_type, "PERF_RECORD_KSYMBOL_TYPE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_RECORD_KSYMBOL_FLAGS_##x, #x                                                  \
	}
static const struct ptc_name ksymbol_flag_list[] = {
	N(UNREGISTER),
};
#undef N
TABLE(ksymbol_flag, "PERF_RECORD_KSYMBOL_FLAGS_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_BPF_EVENT_##x, #x                                                             \
	}
static const struct ptc_name bpf_event_list[] = {
	N(UNKNOWN),
	N(PROG_LOAD),
	N(PROG_UNLOAD),
};
#undef N
TABLE(bpf_event, "PERF_BPF_EVENT_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_EVENT_IOC_##x, #x                                                             \
	}
static const struct ptc_name ioctl_list[] = {
	N(ENABLE),     N(DISABLE), N(REFRESH), N(RESET),	N(PERIOD),    N(SET_OUTPUT),
	N(SET_FILTER), N(ID),	   N(SET_BPF), N(PAUSE_OUTPUT), N(QUERY_BPF), N(MODIFY_ATTRIBUTES),
};
#undef N
TABLE(ioctl, "PERF_EVENT_IOC_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_IOC_FLAG_##x, #x                                                              \
	}
static const struct ptc_name ioc_flag_list[] = {
	N(GROUP),
};
#undef N
TABLE(ioc_flag, "PERF_IOC_FLAG_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_FLAG_##x, #x                                                                  \
	}
static const struct ptc_name fd_flag_list[] = {
	N(FD_NO_GROUP),
	N(FD_OUTPUT),
	N(PID_CGROUP),
	N(FD_CLOEXEC),
};
#undef N
TABLE(fd_flag, "PERF_FLAG_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_OP_##x, #x                                                                \
	}
static const struct ptc_name mem_op_list[] = {
	N(NA), N(LOAD), N(STORE), N(PFETCH), N(EXEC),
};
#undef N
TABLE(mem_op, "PERF_MEM_OP_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_LVL_##x, #x                                                               \
	}
static const struct ptc_name mem_lvl_list[] = {
	N(NA),	    N(HIT),	 N(MISS),     N(L1),	   N(LFB),	N(L2), N(L3),
	N(LOC_RAM), N(REM_RAM1), N(REM_RAM2), N(REM_CCE1), N(REM_CCE2), N(IO), N(UNC),
};
#undef N
TABLE(mem_lvl, "PERF_MEM_LVL_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_REMOTE_##x, #x                                                            \
	}
static const struct ptc_name mem_remote_list[] = {
	N(REMOTE),
};
#undef N
TABLE(mem_remote, "PERF_MEM_REMOTE_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_LVLNUM_##x, #x                                                            \
	}
static const struct ptc_name mem_lvlnum_list[] = {
	N(L1),	N(L2), N(L3),	     N(L4),  N(L2_MHB), N(MSC),	 N(L0), N(UNC),
	N(CXL), N(IO), N(ANY_CACHE), N(LFB), N(RAM),	N(PMEM), N(NA),
};
#undef N
TABLE(mem_lvlnum, "PERF_MEM_LVLNUM_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_SNOOP_##x, #x                                                             \
	}
static const struct ptc_name mem_snoop_list[] = {
	N(NA), N(NONE), N(HIT), N(MISS), N(HITM),
};
#undef N
TABLE(mem_snoop, "PERF_MEM_SNOOP_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_SNOOPX_##x, #x                                                            \
	}
static const struct ptc_name mem_snoopx_list[] = {
	N(FWD),
	N(PEER),
};
#undef N
TABLE(mem_snoopx, "PERF_MEM_SNOOPX_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_LOCK_##x, #x                                                              \
	}
static const struct ptc_name mem_lock_list[] = {
	N(NA),
	N(LOCKED),
};
#undef N
TABLE(mem_lock, "PERF_MEM_LOCK_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_TLB_##x, #x                                                               \
	}
static const struct ptc_name mem_tlb_list[] = {
	N(NA), N(HIT), N(MISS), N(L1), N(L2), N(WK), N(OS),
};
#undef N
TABLE(mem_tlb, "PERF_MEM_TLB_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_BLK_##x, #x                                                               \
	}
static const struct ptc_name mem_blk_list[] = {
	N(NA),
	N(DATA),
	N(ADDR),
};
#undef N
TABLE(mem_blk, "PERF_MEM_BLK_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_HOPS_##x, #x                                                              \
	}
static const struct ptc_name mem_hops_list[] = {
	N(0),
	N(1),
	N(2),
	N(3),
};
#undef N
TABLE(mem_hops, "PERF_MEM_HOPS_", "");

#define N(x)                                                                                       \
	{                                                                                          \
		PERF_MEM_REGION_##x, #x                                                            \
	}
static const struct ptc_name mem_region_list[] = {
	N(NA),	 N(RSVD), N(L_SHARE), N(L_NON_SHARE), N(O_IO), N(O_SHARE), N(O_NON_SHARE), N(MMIO),
	N(MEM0), N(MEM1), N(MEM2),    N(MEM3),	      N(MEM4), N(MEM5),	   N(MEM6),	   N(MEM7),
};
#undef N
TABLE(mem_region, "PERF_MEM_REGION_", "");

const struct ptc_names *const ptc_names_all[] = {
	&ptc_names_type,
	&ptc_names_hw,
	&ptc_names_cache,
	&ptc_names_cache_op,
	&ptc_names_cache_result,
	&ptc_names_sw,
	&ptc_names_sample_type,
	&ptc_names_branch_sample_type,
	&ptc_names_read_format,
	&ptc_names_attr_size,
	&ptc_names_branch_type,
	&ptc_names_branch_spec,
	&ptc_names_branch_new_type,
	&ptc_names_branch_priv,
	&ptc_names_regs_abi,
	&ptc_names_txn,
	&ptc_names_context,
	&ptc_names_cpumode,
	&ptc_names_aux_flag,
	&ptc_names_aux_format,
	&ptc_names_ns,
	&ptc_names_ksymbol_type,
	&ptc_names_ksymbol_flag,
	&ptc_names_bpf_event,
	&ptc_names_ioctl,
	&ptc_names_ioc_flag,
	&ptc_names_fd_flag,
	&ptc_names_mem_op,
	&ptc_names_mem_lvl,
	&ptc_names_mem_remote,
	&ptc_names_mem_lvlnum,
	&ptc_names_mem_snoop,
	&ptc_names_mem_snoopx,
	&ptc_names_mem_lock,
	&ptc_names_mem_tlb,
	&ptc_names_mem_blk,
	&ptc_names_mem_hops,
	&ptc_names_mem_region,
	NULL,
};

#define M(x)                                                                                       \
	{                                                                                          \
		PERF_RECORD_MISC_##x, #x                                                           \
	}
static const struct ptc_name misc_mmap_list[] = { M(PROC_MAP_PARSE_TIMEOUT), M(MMAP_DATA) };
static const struct ptc_name misc_mmap2_list[] = { M(PROC_MAP_PARSE_TIMEOUT), M(MMAP_DATA),
						   M(MMAP_BUILD_ID) };
static const struct ptc_name misc_comm_list[] = { M(COMM_EXEC) };
static const struct ptc_name misc_fork_list[] = { M(FORK_EXEC) };
static const struct ptc_name misc_switch_list[] = { M(SWITCH_OUT), M(SWITCH_OUT_PREEMPT) };
static const struct ptc_name misc_sample_list[] = { M(EXACT_IP) };
static const struct ptc_name misc_other_list[] = { M(EXT_RESERVED) };
/* Bits defined by perf: tools/lib/perf/include/perf/event.h. */
static const struct ptc_name misc_lost_samples_list[] = { { 1 << 15, "LOST_SAMPLES_BPF" } };
static const struct ptc_name misc_build_id_list[] = { { 1 << 15, "BUILD_ID_SIZE" } };
#undef M
#define MISC(name)                                                                                 \
	{                                                                                          \
		"PERF_RECORD_MISC_", "", misc_##name##_list, COUNT(misc_##name##_list)             \
	}
static const struct ptc_names misc_mmap = MISC(mmap), misc_mmap2 = MISC(mmap2),
			      misc_comm = MISC(comm), misc_fork = MISC(fork),
			      misc_switch = MISC(switch), misc_sample = MISC(sample),
			      misc_lost_samples = MISC(lost_samples),
			      misc_build_id = MISC(build_id), misc_other = MISC(other);

const struct ptc_names *ptc_names_misc(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
		return &misc_mmap;
	case PERF_RECORD_MMAP2:
		return &misc_mmap2;
	case PERF_RECORD_COMM:
		return &misc_comm;
	case PERF_RECORD_FORK:
		return &misc_fork;
	case PERF_RECORD_SAMPLE:
		return &misc_sample;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return &misc_switch;
	case PERF_RECORD_LOST_SAMPLES:
		return &misc_lost_samples;
	case PTC_REC_HEADER_BUILD_ID:
		return &misc_build_id;
	default:
		return &misc_other;
	}
}

const char *ptc_names_find(const struct ptc_names *t, uint64_t value)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->list[i].value == value)
			return t->list[i].name;
	return NULL;
}

const char *ptc_reg_name(unsigned int bit)
{
	static const char *const names[64] = {
		"AX",		"BX",		"CX",		"DX",		"SI",
		"DI",		"BP",		"SP",		"IP",		"FLAGS",
		"CS",		"SS",		"DS",		"ES",		"FS",
		"GS",		"R8",		"R9",		"R10",		"R11",
		"R12",		"R13",		"R14",		"R15",		[32] = "XMM0",
		[34] = "XMM1",	[36] = "XMM2",	[38] = "XMM3",	[40] = "XMM4",	[42] = "XMM5",
		[44] = "XMM6",	[46] = "XMM7",	[48] = "XMM8",	[50] = "XMM9",	[52] = "XMM10",
		[54] = "XMM11", [56] = "XMM12", [58] = "XMM13", [60] = "XMM14", [62] = "XMM15",
	};

	return bit < COUNT(names) ? names[bit] : NULL;
}
