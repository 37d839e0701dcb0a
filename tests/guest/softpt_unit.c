// SPDX-License-Identifier: GPL-2.0
/*
 * softpt - a PMU named "intel_pt" without the hardware.
 *
 * Shows perf the same interface as the kernel's own Intel PT driver (sysfs,
 * capabilities, AUX handling). Makes a genuine user-mode PT stream by
 * single-stepping the traced task with EFLAGS.TF. For throw-away guests only:
 * while loaded it swallows every foreign single-step trap from user mode.
 *
 * How it follows a task: on every return to user mode of a traced CPU a
 * user-return notifier sets TF and keeps the next instruction's bytes. After
 * that instruction the debug trap calls on_debug(), which makes a TNT or TIP.
 * A return to user mode without a step of ours means that the task was in the
 * kernel (system call, fault, interrupt, signal, switch). Then it writes a
 * TIP.PGD (after a FUP unless a branch entered the kernel), and a TIP.PGE.
 *
 * Not implemented: CYC, PIP, PTW, EXSTOP, RET compression (legal: compression
 * is an option of the processor), 32-bit code; pauses (PERF_EF_PAUSE of
 * attr.aux_pause needs Linux 6.13). cyc in the config is accepted but has no
 * effect.
 *
 * softpt_packet.c writes packets, softpt_buffer.c sets the AUX area's marks,
 * softpt_filter.c has the address filters, softpt_sysfs.c the sysfs files, and
 * softpt_kept.c keeps the written bytes for tests.
 */
#include "softpt.h"
#include <asm/debugreg.h>
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <linux/user-return-notifier.h>

static char *name = "intel_pt"; /* name of the PMU */
module_param(name, charp, 0444);
static unsigned int pad; /* PAD bytes behind every TIP: more trace data */
module_param(pad, uint, 0644);
static unsigned int birth_ms; /* extra time to inherit an event */
module_param(birth_ms, uint, 0644);
static unsigned long steps; /* single steps, all CPUs (approximate) */
module_param(steps, ulong, 0644);
static unsigned long reps; /* number of these that did not move the IP */
module_param(reps, ulong, 0644);

static DEFINE_PER_CPU(struct unit, units);
static struct pmu pmu;

/* ---- following the task ----------------------------------------------- */

/* Keeps the readable bytes at ip: up to 15, at least up to the page's end. */
static void fetch(struct unit *u, u64 ip)
{
	int n = min_t(u64, sizeof(u->insn), PAGE_SIZE - (ip & ~PAGE_MASK));

	u->ip = ip;
	u->task = current;
	u->len = 0;
	if (!copy_from_user_nofault(u->insn, (void __user *)ip, sizeof(u->insn)))
		u->len = sizeof(u->insn);
	else if (!copy_from_user_nofault(u->insn, (void __user *)ip, n))
		u->len = n;
}

enum kind { OTHER, COND, DIRECT, INDIRECT, SYSCALL, PUSHF };

/* Returns the kind of the kept instruction; *next: its fall-through address (COND only). */
static enum kind classify(struct unit *u, u64 *next)
{
	int i = 0;
	u8 op, op2;

	while (i < u->len) {
		op = u->insn[i];
		if (op == 0x66 || op == 0x67 || op == 0xf2 || op == 0xf3 || op == 0xf0 ||
		    op == 0x2e || op == 0x36 || op == 0x3e || op == 0x26 || op == 0x64 ||
		    op == 0x65 || (op & 0xf0) == 0x40)
			i++;
		else
			break;
	}
	if (i >= u->len)
		return OTHER;
	op = u->insn[i];
	op2 = i + 1 < u->len ? u->insn[i + 1] : 0;
	if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3)) {
		*next = u->ip + i + 2;
		return COND;
	}
	if (op == 0x0f) {
		*next = u->ip + i + 6;
		return (op2 & 0xf0) == 0x80 ? COND : op2 == 0x05 ? SYSCALL : OTHER;
	}
	if (op == 0xc3 || op == 0xc2 || op == 0xcb || op == 0xca || op == 0xcf)
		return INDIRECT;
	if (op == 0xff && ((op2 >> 3) & 7) >= 2 && ((op2 >> 3) & 7) <= 5)
		return INDIRECT;
	if (op == 0xe8 || op == 0xe9 || op == 0xeb)
		return DIRECT;
	return op == 0x9c ? PUSHF : OTHER;
}

/* The task left user mode at u->ip; regs are its registers, or NULL if unknown. */
static void leave_user(struct unit *u, struct pt_regs *regs)
{
	u64 next;
	u8 pgd = PGD;

	/* An interrupt may arrive just before a SYSCALL runs. */
	bool by_branch = !u->stepped && classify(u, &next) == SYSCALL &&
			 !(regs && regs->orig_ax == -1 && regs->ip == u->ip);

	if (!by_branch)
		put_ip(u, FUP, u->ip);
	put_tnt(u);
	put(u, &pgd, 1);
	u->in_user = u->stepped = false;
}

/* A branch led to untraced code: this packet replaces its TNT or TIP. */
static void leave_range(struct unit *u, u64 ip)
{
	put_ip(u, PGD, ip);
	u->in_user = u->stepped = false;
	if (!stops_at(u, ip))
		return;
	put(u, "\x02\x83", 2); /* TraceStop */
	u->halted = true;
}

static void enter_user(struct unit *u, u64 ip)
{
	/*
	 * Real hardware continues with MTC or CYC here. A TSC also gives the exact time, so that
	 * the code mapped at this time is known.
	 */
	if (u->since_psb >= u->psb_period)
		put_psb(u);
	else
		put_tsc(u);
	keep_turn(current->pid);
	put_ip(u, PGE, ip);
	u->in_user = true;
	u->stepped = false;
	fetch(u, ip);
}

/* ---- the two hooks ---------------------------------------------------- */

/* Handles the buffer interrupt, if it is due. */
static void maybe_pmi(struct unit *u)
{
	struct perf_event *event = u->handle.event;

	if (!pmi_due(u))
		return;
	if (u->in_user) {
		put_ip(u, FUP, u->ip);
		put(u, "\x01", 1);
		u->in_user = false;
	}
	give_space(u);
	if (event->hw.state || get_space(u, event)) {
		event->hw.state = PERF_HES_STOPPED;
		u->on = false;
	}
}

static void on_return(struct user_return_notifier *urn)
{
	struct unit *u = container_of(urn, struct unit, urn);
	struct pt_regs *regs = task_pt_regs(current);
	bool same = u->task == current;

	if (u->on && u->in_user && !(u->stepped && same && u->ip == regs->ip))
		leave_user(u, same ? regs : NULL);
	if (u->on)
		maybe_pmi(u);
	if (!u->on) {
		regs->flags &= ~X86_EFLAGS_TF;
		return;
	}
	if (!u->in_user && traces_at(u, regs->ip))
		enter_user(u, regs->ip);
	else if (!u->in_user)
		fetch(u, regs->ip);
	u->stepped = false;
	regs->flags |= X86_EFLAGS_TF;
}

/* Hides our TF in the flags that the program pushed. */
static void hide_pushed(struct unit *u, struct pt_regs *regs)
{
	u64 next, flags;

	if (classify(u, &next) != PUSHF ||
	    copy_from_user_nofault(&flags, (void __user *)regs->sp, 8))
		return;
	flags &= ~(u64)X86_EFLAGS_TF;
	copy_to_user_nofault((void __user *)regs->sp, &flags, 8);
}

static int on_debug(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *a = data;
	struct unit *u = this_cpu_ptr(&units);
	unsigned long *dr6;
	enum kind kind;
	u64 next = 0;

	if (what != DIE_DEBUG || !user_mode(a->regs))
		return NOTIFY_DONE;
	dr6 = (unsigned long *)a->err;
	if (!(*dr6 & DR_STEP) || test_thread_flag(TIF_SINGLESTEP))
		return NOTIFY_DONE;
	a->regs->flags &= ~X86_EFLAGS_TF; /* on_return() sets it again */
	if (!u->on || u->task != current)
		return NOTIFY_STOP; /* left over from before a stop */
	if (!u->in_user) {	    /* filtered out */
		hide_pushed(u, a->regs);
		return NOTIFY_STOP;
	}

	steps++;
	reps += a->regs->ip == u->ip;
	put_mtc(u);
	if (u->len < sizeof(u->insn))
		fetch(u, u->ip);
	kind = classify(u, &next);
	if ((kind == COND || kind == DIRECT || kind == INDIRECT) && !traces_at(u, a->regs->ip)) {
		leave_range(u, a->regs->ip);
		return NOTIFY_STOP;
	}
	switch (kind) {
	case COND:
		put_outcome(u, a->regs->ip != next);
		break;
	case INDIRECT:
		put_ip(u, TIP, a->regs->ip);
		for (next = 0; next < pad; next++)
			put(u, "", 1);
		break;
	case PUSHF:
		hide_pushed(u, a->regs);
		break;
	default:
		break;
	}
	fetch(u, a->regs->ip);
	u->stepped = true;
	if (u->since_psb >= u->psb_period)
		put_psb(u);
	maybe_pmi(u);
	return NOTIFY_STOP;
}

static struct notifier_block debug_nb = { .notifier_call = on_debug, .priority = INT_MAX };

/* ---- the PMU ---------------------------------------------------------- */

static void start(struct perf_event *event, int mode)
{
	struct unit *u = this_cpu_ptr(&units);

	if (get_space(u, event)) {
		event->hw.state = PERF_HES_STOPPED;
		return;
	}
	perf_event_addr_filters_sync(event);
	event->hw.state = 0;
	u->halted = false;
	u->psb_period = 2048ull << (event->attr.config >> PSB_PERIOD & 15);
	u->in_user = u->stepped = false;
	u->tnt = u->ntnt = 0;
	if (!event->hw.config) {			   /* its first start */
		event->attach_state |= PERF_ATTACH_ITRACE; /* perf_event_itrace_started() */
		event->hw.config = event->attr.config | 1;
		put_psb(u);
	} else if (u->since_psb >= u->psb_period) {
		put_psb(u);
	} else {
		u->last_ip = NO_IP;
		put_tsc(u);
	}
	u->on = true;
	user_return_notifier_register(&u->urn);
	u->urn_on = true;
}

static void stop(struct perf_event *event, int mode)
{
	struct unit *u = this_cpu_ptr(&units);

	if (u->urn_on) {
		user_return_notifier_unregister(&u->urn);
		u->urn_on = false;
		if (!(current->flags & PF_KTHREAD))
			task_pt_regs(current)->flags &= ~X86_EFLAGS_TF;
	}
	u->on = false;
	if (event->hw.state == PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED;
	if (!(mode & PERF_EF_UPDATE) || !perf_get_aux(&u->handle))
		return;
	if (WARN_ON_ONCE(u->handle.event != event))
		return;
	if (u->in_user)
		leave_user(u, u->task == current ? task_pt_regs(current) : NULL);
	keep_turn(0);
	give_space(u);
}

/* The trace is off during the copy and continues when the task runs. */
static long snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
			 unsigned long size)
{
	struct unit *u = this_cpu_ptr(&units);
	struct buf *b = perf_get_aux(&u->handle);

	if (!b || !b->area.snapshot)
		return 0;
	if (u->in_user)
		leave_user(u, u->task == current ? task_pt_regs(current) : NULL);
	return copy_newest(&b->area, &u->handle, handle, u->pos, size);
}

static int add(struct perf_event *event, int mode)
{
	if (this_cpu_ptr(&units)->handle.event)
		return -EBUSY;
	if (!(mode & PERF_EF_START)) {
		event->hw.state = PERF_HES_STOPPED;
		return 0;
	}
	start(event, 0);
	return event->hw.state == PERF_HES_STOPPED ? -EINVAL : 0;
}

static void del(struct perf_event *event, int mode)
{
	stop(event, PERF_EF_UPDATE);
}

static void nothing(struct perf_event *event)
{
}

static int event_init(struct perf_event *event)
{
	if (event->attr.type != pmu.type)
		return -ENOENT;
	if (event->parent && birth_ms)
		msleep(birth_ms); /* the kernel has checked the parent, and holds no lock */
	return config_ok(event->attr.config) ? make_filters(event) : -EINVAL;
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.capabilities = PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE,
	.attr_groups = softpt_groups,
	.task_ctx_nr = perf_sw_context,
	.event_init = event_init,
	.add = add,
	.del = del,
	.start = start,
	.stop = stop,
	.read = nothing,
	.setup_aux = setup_aux,
	.free_aux = free_aux,
	.snapshot_aux = snapshot_aux,
	.nr_addr_filters = RANGES,
	.addr_filters_validate = addr_filters_validate,
	.addr_filters_sync = addr_filters_sync,
};

static int __init load(void)
{
	int cpu, err = find_copy_aux();

	if (err)
		return err;
	for_each_possible_cpu(cpu) per_cpu(units, cpu).urn.on_user_return = on_return;
	err = keep_init(name);
	if (err)
		return err;
	err = register_die_notifier(&debug_nb);
	if (!err) {
		err = perf_pmu_register(&pmu, name, -1);
		if (err)
			unregister_die_notifier(&debug_nb);
	}
	if (err)
		keep_exit();
	return err;
}

static void __exit unload(void)
{
	perf_pmu_unregister(&pmu);
	unregister_die_notifier(&debug_nb);
	keep_exit();
}

module_init(load);
module_exit(unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Intel PT made in software, for tests");
