/* SPDX-License-Identifier: MIT */
#include "capture/crash/handled_fault.h"

#include <sys/wait.h>

#include "auxtrace/record/crash_record.h"

/* Returns the entry of @pid, or NULL. */
static struct ptc_handled_process *handled_of(struct ptc_handled *h, pid_t pid)
{
	size_t i;

	for (i = 0; i < PTC_HANDLED_PROCESSES; i++)
		if (h->items[i].pid == pid)
			return &h->items[i];
	return NULL;
}

bool ptc_handled_is_fault(const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
		return info->si_code > 0;
	default:
		return false;
	}
}

void ptc_handled_keep(struct ptc_handled *h, const struct ptc_state *s)
{
	struct ptc_handled_process *p = handled_of(h, s->pid);

	if (!p)
		p = handled_of(h, 0);
	if (!p)
		return;
	p->pid = s->pid;
	ptc_buf_reset(&p->records);
	if (p->faults < PTC_HANDLED_FAULTS) {
		p->faults++;
		ptc_state_put(&p->records, s);
	}
}

void ptc_handled_forget(struct ptc_handled *h, pid_t pid)
{
	struct ptc_handled_process *p = pid > 0 ? handled_of(h, pid) : NULL;

	if (!p)
		return;
	p->pid = 0;
	p->faults = 0;
	ptc_buf_reset(&p->records);
}

const struct ptc_buf *ptc_handled_end(struct ptc_handled *h, pid_t pid, int status)
{
	struct ptc_handled_process *p = pid > 0 ? handled_of(h, pid) : NULL;

	if (!p || !WIFEXITED(status) || !WEXITSTATUS(status) || !p->records.len ||
	    ptc_buf_failed(&p->records))
		return NULL;
	ptc_crash_set_exit_status(&p->records, (uint64_t)WEXITSTATUS(status));
	p->pid = 0;
	p->faults = 0;
	return &p->records;
}

void ptc_handled_release(struct ptc_handled *h)
{
	size_t i;

	for (i = 0; i < PTC_HANDLED_PROCESSES; i++)
		ptc_buf_release(&h->items[i].records);
	*h = (struct ptc_handled){ .items = { { 0 } } };
}
