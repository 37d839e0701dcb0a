/* SPDX-License-Identifier: MIT */
#include "seedrecordings.h"

#include <string.h>
#include <sys/mman.h>

#include "auxtrace/feature/feature_base.h"
#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/ledger.h"
#include "lib_elf.h"
#include "lib_flow.h"
#include "lib_gopcln.h"
#include "seedfiles.h"

static void set_cpu(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_string(&b, "GenuineIntel,6,158,10");
	pd_feature(p, PTC_FEAT_CPUID, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void begin(struct pd *p)
{
	static const struct ptc_time_conv one_ns = { .mult = 1 };

	pd_init_pt(p, &one_ns);
	set_cpu(p);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_comm(p, SR_PID, 1, "a", true);
}

/* Maps a page of @name, with the program's build-id if @has_id. */
static void map(struct pd *p, int32_t pid, uint64_t addr, uint64_t off, const char *name,
		bool has_id)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = pid, .tid = pid, .time = 2 },
			     .u.mmap = { .pid = pid,
					 .tid = pid,
					 .addr = addr,
					 .len = 0x1000,
					 .pgoff = off,
					 .prot = PROT_READ | PROT_EXEC,
					 .filename = name } };

	if (has_id) {
		memset(sb.u.mmap.build_id.bytes, 0x11, 20);
		sb.u.mmap.build_id.bytes[0] = SR_CODE_ID;
		sb.u.mmap.build_id.len = 20;
	}
	pd_sb(p, &sb);
}

static void map_kernel(struct pd *p, uint64_t addr, uint64_t len, uint64_t off, const char *name)
{
	const struct ptc_sb sb = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1, .time = 2 },
		.u.mmap = { .pid = -1, .addr = addr, .len = len, .pgoff = off, .filename = name },
	};

	p->attrs[0].attr.exclude_kernel = 0;
	pd_sb(p, &sb);
}

static void put_trace(struct pd *p, uint32_t idx, int32_t tid, int32_t cpu, struct ptc_buf *b)
{
	const struct ptc_auxtrace aux = { .idx = idx, .tid = tid, .cpu = cpu };

	pd_auxtrace(p, &aux, b->bytes, b->len);
	ptc_buf_release(b);
}

void sr_walk(struct ptc_buf *b, uint64_t seed, bool timed, unsigned int insns)
{
	struct fl_walk w = { .b = b, .seed = seed, .timed = timed, .mtc_freq = 3 };

	fl_walk(&w, insns);
}

/* Puts a syscall in the code at @base, at @time. */
static void put_syscall(struct ptc_buf *b, uint64_t time, uint64_t base)
{
	pt_psb_off(b);
	pt_tsc(b, time);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

void sr_plain(struct pd *p, bool has_id)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(p);
	map(p, SR_PID, PT_CODE, LE_CODE_OFF, "/bin/a", has_id);
	map(p, SR_PID, PT_HIGH + PT_CODE, LE_CODE_OFF, "/bin/a", has_id);
	pd_itrace_start(p, SR_PID, 0, 3);
	sr_walk(&b, 1, true, 60);
	pd_aux(p, SR_PID, 0, 50, 0, b.len, 0);
	put_trace(p, 0, SR_PID, -1, &b);
	sr_walk(&b, 2, true, 40);
	pd_aux(p, SR_PID, 0, 90, 0, b.len, PERF_AUX_FLAG_TRUNCATED);
	put_trace(p, 0, SR_PID, -1, &b);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
}

void sr_crowd(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t i;

	begin(p);
	map(p, SR_PID, PT_CODE, LE_CODE_OFF, "/bin/a", false);
	pd_task(p, PERF_RECORD_FORK, SR_PID + 1, SR_PID + 1, SR_PID, 5);
	map(p, SR_PID + 1, PT_HIGH + PT_CODE, LE_CODE_OFF, "/bin/a", false);
	pd_switch(p, SR_PID, 0, 6, false);
	pd_switch(p, SR_PID + 1, 1, 6, false);
	for (i = 1; i < 5; i++) {
		put_syscall(&b, i * 100, PT_CODE);
		put_trace(p, 0, -1, 0, &b);
		put_syscall(&b, i * 100 + 20, PT_CODE);
		put_trace(p, 1, -1, 1, &b);
		pd_switch(p, i & 1 ? SR_PID : SR_PID + 1, 0, i * 100 + 50, true);
		pd_switch(p, i & 1 ? SR_PID + 1 : SR_PID, 0, i * 100 + 51, false);
	}
	pd_task(p, PERF_RECORD_EXIT, SR_PID + 1, SR_PID + 1, SR_PID, 900);
}

void sr_jit(struct pd *p)
{
	static const struct ptc_ledger_clock clocks[] = { { 1, 1001 }, { 1001, 2101 } };
	struct ptc_buf b = PTC_BUF_INIT;

	begin(p);
	pd_mmap2(p, SR_PID, 1, 0x5000, 0x2000, 0, "//anon");
	pd_mmap2(p, SR_PID, 1, 0x70000, 0x1000, 0, "/tmp/jit-7.dump");
	pd_poke(p, SR_PID, 20, 0x6000, pt_code, PT_CODE_LEN);
	ptc_ledger_put_clocks(&p->data, clocks, 2);
	put_syscall(&b, 10, 0x5000);
	put_syscall(&b, 30, 0x5000);
	put_syscall(&b, 50, 0x6000);
	put_trace(p, 0, SR_PID, -1, &b);
}

void sr_kernel(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const struct ptc_sb bpf = {
		.type = PERF_RECORD_KSYMBOL,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1, .time = 4 },
		.u.ksymbol = { .addr = SR_MODULE + 0x1000,
			       .len = 0x40,
			       .ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			       .name = "bpf_prog_0102030405060708_first" }
	};

	begin(p);
	pd_feature(p, PTC_FEAT_OSRELEASE, "\4\0\0\0001\0\0", 8);
	map_kernel(p, SR_KERNEL, 0x1000000, SR_KERNEL, "[kernel.kallsyms]_text");
	map_kernel(p, SR_MODULE, 0x1000, 0, "/lib/modules/1/kernel/mod.ko");
	pd_sb(p, &bpf);
	put_syscall(&b, 10, SR_KERNEL);
	put_syscall(&b, 20, SR_MODULE);
	put_syscall(&b, 30, SR_MODULE + 0x1000);
	put_trace(p, 0, SR_PID, -1, &b);
}

void sr_crash(struct pd *p)
{
	const struct ptc_filecode code = { .size = 0x3000,
					   .off = LE_CODE_OFF,
					   .name = "/bin/gone",
					   .bytes = ptc_cur_init(pt_code, PT_CODE_LEN) };
	static const uint8_t auxv[32] = { 33, [8] = 0x10 };
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL };
	uint64_t stack[32] = { PT_CODE + 0xb };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_filecode whole = code;
	static uint8_t page[0x1000];

	begin(p);
	memcpy(page, pt_code, PT_CODE_LEN);
	whole.bytes = ptc_cur_init(page, sizeof(page));
	ptc_filecode_put(&p->data, &whole);
	map(p, SR_PID, PT_CODE, LE_CODE_OFF, "/bin/gone", false);
	pd_itrace_start(p, SR_PID, 0, 3);
	sr_walk(&b, 3, true, 40);
	put_trace(p, 0, SR_PID, -1, &b);
	c.u.signal = (struct ptc_crash_signal){
		.pid = SR_PID, .tid = SR_PID, .signo = 11, .code = 1, .addr = 8, .time_ns = 1000000
	};
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_THREAD, .bytes = ptc_cur_init("worker", 6) };
	c.u.thread.pid = c.u.thread.tid = SR_PID;
	c.u.thread.regs[PTC_REG_RIP] = PT_CODE + 0x24;
	c.u.thread.regs[PTC_REG_RSP] = SF_STACK;
	c.u.thread.regs[PTC_REG_RBP] = SF_STACK + 16;
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_MAP, .bytes = ptc_cur_init("/bin/gone", 9) };
	c.u.map = (struct ptc_crash_map){ .pid = SR_PID,
					  .start = PT_CODE,
					  .end = PT_CODE + 0x1000,
					  .off = LE_CODE_OFF,
					  .prot = PROT_READ | PROT_EXEC };
	ptc_crash_put(&p->data, &c);
	stack[2] = SF_STACK + 48;
	stack[3] = PT_CODE + 0x10;
	c = (struct ptc_crash){ .kind = PTC_CRASH_MEMORY,
				.bytes = ptc_cur_init((const uint8_t *)stack, sizeof(stack)) };
	c.u.memory.pid = SR_PID;
	c.u.memory.addr = SF_STACK;
	ptc_crash_put(&p->data, &c);
	c = (struct ptc_crash){ .kind = PTC_CRASH_AUXV, .bytes = ptc_cur_init(auxv, sizeof(auxv)) };
	c.u.auxv.pid = SR_PID;
	ptc_crash_put(&p->data, &c);
}

void sr_go(struct pd *p)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(p);
	map(p, SR_PID, GP_TEXT, LE_CODE_OFF, "/bin/a", false);
	put_syscall(&b, 10, GP_TEXT + GP_MAIN);
	put_trace(p, 0, SR_PID, -1, &b);
}
