/* SPDX-License-Identifier: MIT */
/* Judges of the rights of this user. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "capture/doctor/judge.h"

/* Ends the value with the reason of @sys, and sets the remedy. */
static void explain_refusal(const struct ptc_facts *f, int sys, struct ptc_check *c)
{
	char why[320];

	ptc_explain_open_text(&f->limits, sys, 1, why, sizeof(why));
	ptc_check_set(c, PTC_CHECK_BROKEN, "perf_event_open: %s; %s", strerrordesc_np(sys), why);
	if (sys == EACCES)
		ptc_check_mend(c, "sudo sysctl kernel.perf_event_paranoid=2");
	else if (f->seccomp > 0 && (sys == EPERM || sys == ENOSYS))
		ptc_check_mend(c, "start the container with --cap-add PERFMON --security-opt "
				  "seccomp=unconfined");
	else if (sys == ENOSYS)
		ptc_check_mend(c, "use a kernel with CONFIG_PERF_EVENTS");
}

void ptc_judge_events(const struct ptc_facts *f, struct ptc_check *c)
{
	if (f->tried.event)
		explain_refusal(f, f->tried.event, c);
	else
		ptc_check_set(c, PTC_CHECK_OK, "perf_event_open works for your own programs");
}

/* What the trials of f allow, from the least to the most. */
static const char *allowed_by_trials(const struct ptc_trials *t)
{
	if (t->event)
		return "nothing";
	if (t->kernel_part)
		return "your own programs in user mode";
	return t->cpu ? "your own programs and their kernel part" : "everything";
}

void ptc_judge_paranoid(const struct ptc_facts *f, struct ptc_check *c)
{
	const struct ptc_trials *t = &f->tried;
	const bool by_level = t->event == EACCES || t->kernel_part == EACCES || t->cpu == EACCES;

	ptc_check_set(c, PTC_CHECK_OK, "%ld: this user may trace %s", f->limits.paranoid,
		      allowed_by_trials(t));
	if (f->limits.paranoid > 0 && !t->cpu) /* at 0 users may open events of CPUs */
		ptc_check_add(c, " (root, or a capability)");
	if (t->event == EACCES) {
		c->state = PTC_CHECK_BROKEN;
		ptc_check_mend(c, "sudo sysctl kernel.perf_event_paranoid=2");
	} else if (by_level) {
		c->state = PTC_CHECK_NOTE;
		ptc_check_mend(c, "for %swhole CPUs (-a): sudo sysctl kernel.perf_event_paranoid=0",
			       t->kernel_part ? "the kernel's part and " : "");
	}
}

/* Capabilities that a recording can use, and what each allows (capture/session/capabilities.c). */
static const struct {
	int cap;
	const char *name, *use;
} useful[] = {
	{ CAP_PERFMON, "perfmon", "all perf events" },
	{ CAP_SYS_ADMIN, "sys_admin", "all perf events, also at perf_event_paranoid above 2" },
	{ CAP_SYS_PTRACE, "sys_ptrace", "processes of other users" },
	{ CAP_IPC_LOCK, "ipc_lock", "rings of any size" },
	{ CAP_SYS_NICE, "sys_nice", "record -r" },
	{ CAP_SYS_RAWIO, "sys_rawio", "--kcore" },
};

enum { USEFUL = sizeof(useful) / sizeof(useful[0]) };

static void list_caps(const struct ptc_facts *f, bool had, struct ptc_check *c)
{
	const char *sep = "";
	size_t i;

	for (i = 0; i < USEFUL; i++) {
		if (((f->caps >> useful[i].cap & 1) != 0) != had)
			continue;
		ptc_check_add(c, "%s%s", sep, useful[i].name);
		if (!had)
			ptc_check_add(c, " (%s)", useful[i].use);
		sep = ", ";
	}
	if (!*sep)
		ptc_check_add(c, "none");
}

void ptc_judge_mend_caps(const struct ptc_facts *f, const char *caps, struct ptc_check *c)
{
	if (f->own_userns)
		ptc_check_mend(c, "run ptcap outside of this user namespace");
	else if (f->uid)
		ptc_check_mend(c, "run ptcap as root, or with %s", caps);
	else if (*f->container)
		ptc_check_mend(c, "start the container with %s (--cap-add)", caps);
	else
		ptc_check_mend(c, "run ptcap with %s", caps);
}

void ptc_judge_capabilities(const struct ptc_facts *f, struct ptc_check *c)
{
	size_t i, had = 0;

	for (i = 0; i < USEFUL; i++)
		had += f->caps >> useful[i].cap & 1;
	ptc_check_set(c, had == USEFUL ? PTC_CHECK_OK : PTC_CHECK_NOTE, "user %u has ", f->uid);
	list_caps(f, true, c);
	if (f->own_userns && had) {
		c->state = PTC_CHECK_NOTE;
		ptc_check_add(c,
			      ", in its own user namespace only: perf events and rings see none");
		ptc_check_mend(c, "run ptcap outside of this user namespace");
		return;
	}
	if (had == USEFUL)
		return;
	ptc_check_add(c, "; lacks ");
	list_caps(f, false, c);
	if (f->own_userns || !f->uid) {
		ptc_judge_mend_caps(f, "these capabilities", c);
		return;
	}
	/* Not with setcap: each user that may execute the file would get its capabilities. */
	ptc_check_mend(c, "sudo setpriv --reuid=$(id -u) --regid=$(id -g) --init-groups "
			  "--inh-caps=+perfmon,+ipc_lock --ambient-caps=+perfmon,+ipc_lock "
			  "$(command -v ptcap) ARGUMENTS, or run ptcap as root");
}

void ptc_judge_yama(const struct ptc_facts *f, struct ptc_check *c)
{
	const bool may = ptc_facts_may_ptrace(f);

	if (f->yama == PTC_FACT_NONE) {
		ptc_check_set(c, PTC_CHECK_OK, "the kernel has no yama");
		return;
	}
	ptc_check_set(c, PTC_CHECK_OK, "ptrace_scope is %ld: ", f->yama);
	if (f->yama >= 3) {
		c->state = PTC_CHECK_BROKEN;
		ptc_check_add(c, "no process may be traced with ptrace");
		ptc_check_mend(c, "boot with kernel.yama.ptrace_scope below 3; 3 stays until then");
		return;
	}
	if (!f->yama || may) {
		ptc_check_add(c, !may	       ? "this user may trace its own processes" :
				 f->own_userns ? "this user may trace all processes of its user "
						 "namespace" :
						 "this user may trace all processes");
		return;
	}
	c->state = f->yama == 1 ? PTC_CHECK_NOTE : PTC_CHECK_BROKEN;
	ptc_check_add(c, f->yama == 1 ? "this user may trace commands, but no running process" :
					"only CAP_SYS_PTRACE may trace");
	ptc_check_mend(c, "sudo sysctl kernel.yama.ptrace_scope=0");
}

void ptc_judge_ptrace(const struct ptc_facts *f, struct ptc_check *c)
{
	if (!f->tried.trace) {
		ptc_check_set(c, PTC_CHECK_OK, "works for a child process");
		return;
	}
	ptc_check_set(c, PTC_CHECK_BROKEN, "a child process cannot be traced: %s",
		      strerrordesc_np(f->tried.trace));
	if (f->yama >= 3)
		ptc_check_mend(c, "see yama");
	else if (f->yama == 2)
		ptc_check_mend(c, "sudo sysctl kernel.yama.ptrace_scope=0");
	else if (f->seccomp > 0)
		ptc_check_mend(c, "start the container with --cap-add SYS_PTRACE --security-opt "
				  "seccomp=unconfined");
}

void ptc_judge_kernel_code(const struct ptc_facts *f, struct ptc_check *c)
{
	if (!f->tried.kcore) {
		ptc_check_set(c, PTC_CHECK_OK, "/proc/kcore can be read (--kcore)");
		return;
	}
	ptc_check_set(c, f->tried.kcore == ENOENT ? PTC_CHECK_MISSING : PTC_CHECK_NOTE,
		      "no --kcore: /proc/kcore: %s", strerrordesc_np(f->tried.kcore));
	if (f->tried.kcore != ENOENT)
		ptc_check_mend(c, "run ptcap %soutside of a container",
			       f->uid ? "as root, " : "with CAP_SYS_RAWIO, ");
}
