/* SPDX-License-Identifier: MIT */
/* Judges of a running process. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/plural.h"
#include "capture/doctor/judge.h"
#include "capture/doctor/target.h"

void ptc_judge_target(const struct ptc_target *t, const struct ptc_facts *f, struct ptc_check *c)
{
	const uint64_t each = PTC_EVENTS_EACH * (uint64_t)f->limits.cpus;

	ptc_check_set(c, PTC_CHECK_OK, "process %d (%s) of user %u, %zu thread%s", (int)t->pid,
		      t->comm, t->uid, t->threads, ptc_plural(t->threads));
	if (t->kernel) {
		c->state = PTC_CHECK_MISSING;
		ptc_check_add(c, ": a thread of the kernel, or a process that has ended");
		return;
	}
	if (t->other_root)
		ptc_check_add(c, ", with another root folder: ptcap finds its files there");
	if (t->threads * each <= f->limits.files)
		return;
	c->state = PTC_CHECK_BROKEN;
	ptc_check_add(c, ", whose events need more descriptors than the limit");
	ptc_check_mend(c, "sudo prlimit --pid $$ --nofile=1048576");
}

static bool is_refusal(int sys)
{
	return sys == EPERM || sys == EACCES;
}

/* Ends the value with what refuses a user with all capabilities for the call. */
static void name_refuser(const struct ptc_facts *f, struct ptc_check *c)
{
	ptc_check_add(c, "; not for lack of a capability: %s refuses this user",
		      f->seccomp > 0 ? "a seccomp filter or a security module (LSM)" :
				       "a security module (LSM)");
}

/* Sets the remedy for a refused ptrace. */
static void mend_attach(const struct ptc_target *t, const struct ptc_facts *f, struct ptc_check *c)
{
	if (!is_refusal(t->attach))
		return;
	if (f->yama >= 3)
		ptc_check_mend(c, "see yama");
	else if (ptc_facts_have(f, CAP_SYS_PTRACE))
		name_refuser(f, c);
	else if (t->uid == f->uid && f->yama > 0 && !ptc_facts_may_ptrace(f))
		ptc_check_mend(c, "sudo sysctl kernel.yama.ptrace_scope=0");
	else
		ptc_judge_mend_caps(f, "CAP_SYS_PTRACE", c);
}

void ptc_judge_target_ptrace(const struct ptc_target *t, const struct ptc_facts *f,
			     struct ptc_check *c)
{
	if (t->kernel) {
		ptc_check_set(c, PTC_CHECK_MISSING, "it has no code of a program");
	} else if (t->tracer) {
		ptc_check_set(c, PTC_CHECK_BROKEN, "process %d traces it already", (int)t->tracer);
		ptc_check_mend(c, "end process %d, for example gdb or strace", (int)t->tracer);
	} else if (!t->attach && !f->tried.trace) {
		ptc_check_set(c, PTC_CHECK_OK, "this user may trace it (stacks, crash, step)");
	} else if (!t->attach) {
		ptc_check_set(c, PTC_CHECK_BROKEN, "ptrace does not work: see ptrace");
	} else {
		ptc_check_set(c, PTC_CHECK_BROKEN, "this user may not trace it: %s",
			      strerrordesc_np(t->attach));
		mend_attach(t, f, c);
	}
}

void ptc_judge_target_events(const struct ptc_target *t, const struct ptc_facts *f,
			     struct ptc_check *c)
{
	char why[320];

	if (t->kernel) {
		ptc_check_set(c, PTC_CHECK_MISSING, "it has no code of a program");
		return;
	}
	if (!t->event) {
		ptc_check_set(c, PTC_CHECK_OK, "this user may open events of it");
		return;
	}
	ptc_explain_open_text(&f->limits, t->event, 1, why, sizeof(why));
	ptc_check_set(c, PTC_CHECK_BROKEN, "perf_event_open: %s; %s", strerrordesc_np(t->event),
		      why);
	if (f->tried.event)
		ptc_check_mend(c, "see perf events");
	else if (!is_refusal(t->event))
		return;
	else if (ptc_facts_have(f, CAP_PERFMON) && ptc_facts_have(f, CAP_SYS_PTRACE))
		name_refuser(f, c);
	else
		ptc_judge_mend_caps(f, "CAP_PERFMON and CAP_SYS_PTRACE", c);
}

void ptc_judge_target_files(const struct ptc_target *t, const struct ptc_facts *f,
			    struct ptc_check *c)
{
	size_t i, n, gone = 0, in_memory = 0;

	if (t->maps) {
		ptc_check_set(c, PTC_CHECK_UNKNOWN, "its mappings cannot be read: %s",
			      strerrordesc_np(t->maps));
		if (!is_refusal(t->maps))
			return;
		if (ptc_facts_have(f, CAP_SYS_PTRACE))
			name_refuser(f, c);
		else
			ptc_judge_mend_caps(f, "CAP_SYS_PTRACE", c);
		return;
	}
	for (i = 0; i < t->nfiles; i++) {
		gone += t->files[i].gone;
		in_memory += t->files[i].in_memory;
	}
	n = t->nfiles - in_memory;
	ptc_check_set(c,
		      gone	? PTC_CHECK_BROKEN :
		      in_memory ? PTC_CHECK_NOTE :
				  PTC_CHECK_OK,
		      "%zu file%s with code", n, ptc_plural(n));
	if (t->more_files)
		ptc_check_add(c, ", and more");
	if (gone) {
		ptc_check_add(c, ", %zu of them gone, replaced, or not readable", gone);
		ptc_check_mend(c, "restart the process");
	}
	if (in_memory)
		ptc_check_add(c, "; code in no file: memory with %zu name%s", in_memory,
			      ptc_plural(in_memory));
}
