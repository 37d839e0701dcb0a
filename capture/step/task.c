/* SPDX-License-Identifier: MIT */
#include "capture/step/task.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "base/untrusted.h"
#include "base/vec.h"

enum {
	STATUS_MAX = 65536,
	RESTART_FIRST = 512, /* -ERESTARTSYS: include/linux/errno.h */
	RESTART_LAST = 516,
};

struct ptc_mm *ptc_mm_new(void)
{
	struct ptc_mm *mm = calloc(1, sizeof(*mm));

	if (!mm)
		return NULL;
	mm->refs = 1;
	mm->maps = (struct ptc_maps)PTC_MAPS_INIT;
	if (!ptc_code_init(&mm->code)) {
		free(mm);
		return NULL;
	}
	return mm;
}

struct ptc_mm *ptc_mm_get(struct ptc_mm *mm)
{
	mm->refs++;
	return mm;
}

void ptc_mm_put(struct ptc_mm *mm)
{
	if (!mm || --mm->refs)
		return;
	ptc_code_release(&mm->code);
	ptc_told_release(&mm->told);
	ptc_maps_release(&mm->maps);
	free(mm);
}

struct ptc_task *ptc_tasks_find(const struct ptc_tasks *ts, pid_t tid)
{
	size_t i;

	for (i = 0; i < ts->n; i++)
		if (ts->items[i]->tid == tid)
			return ts->items[i];
	return NULL;
}

struct ptc_task *ptc_tasks_add(struct ptc_tasks *ts, pid_t tid)
{
	struct ptc_task *k;

	if (!ptc_vec_reserve((void **)&ts->items, &ts->cap, ts->n + 1, sizeof(struct ptc_task *)))
		return NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->tid = tid;
	k->pid = tid;
	ts->items[ts->n++] = k;
	return k;
}

void ptc_tasks_remove(struct ptc_tasks *ts, struct ptc_task *k)
{
	size_t i;

	for (i = 0; i < ts->n && ts->items[i] != k; i++)
		;
	if (i == ts->n)
		return;
	ts->items[i] = ts->items[--ts->n];
	ptc_mm_put(k->mm);
	free(k);
}

void ptc_tasks_release(struct ptc_tasks *ts)
{
	while (ts->n)
		ptc_tasks_remove(ts, ts->items[ts->n - 1]);
	free(ts->items);
	*ts = (struct ptc_tasks){ NULL, 0, 0 };
}

/* Returns the number after @key in /proc/TID/status, or -1. */
static pid_t status_number(pid_t tid, const char *key)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[64];
	const char *p;
	pid_t n = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (!ptc_read_file(path, STATUS_MAX, &b, &ignored)) {
		p = strstr((const char *)b.bytes, key);
		if (p)
			n = (pid_t)strtol(p + strlen(key), NULL, 10);
	}
	ptc_buf_release(&b);
	return n;
}

pid_t ptc_task_process(pid_t tid)
{
	return status_number(tid, "\nTgid:");
}

pid_t ptc_task_tracer(pid_t tid)
{
	return status_number(tid, "\nTracerPid:");
}

int ptc_task_refuse(pid_t tid, int sys, struct ptc_err *err)
{
	const pid_t thread = ptc_task_tracer(tid); /* TracerPid names a thread */
	const pid_t tracer = thread > 0 ? ptc_task_process(thread) : 0;

	if (sys == EPERM && tracer > 0) {
		(void)ptc_fail(err, PTC_E_PERM, "cannot trace process %d: process %d does already",
			       (int)tid, (int)tracer);
		return PTC_E_PERM;
	}
	(void)ptc_fail_sys(err, sys,
			   "cannot trace process %d with ptrace (another user's, or forbidden by "
			   "kernel.yama.ptrace_scope or a seccomp profile?)",
			   (int)tid);
	return err->code;
}

uint64_t ptc_task_restarts(const struct user_regs_struct *regs)
{
	const long long ret = (long long)regs->rax;

	if ((long long)regs->orig_rax < 0 || ret > -RESTART_FIRST || ret < -RESTART_LAST)
		return 0;
	return regs->rip - PTC_SYSCALL_LEN;
}

bool ptc_task_file_is_32bit(const char *path)
{
	const struct ptc_untrusted how = { .root = 0 };
	unsigned char ident[EI_NIDENT];
	struct ptc_err ignored;
	struct stat st;
	const int fd = ptc_untrusted_open(path, &how, &st, &ignored);
	const ssize_t n = fd < 0 ? -1 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		(void)close(fd);
	return n == (ssize_t)sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == ELFCLASS32;
}

bool ptc_task_runs_32bit(pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return ptc_task_file_is_32bit(path);
}

bool ptc_task_sleeps(pid_t tid)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	char path[64];
	const char *p;
	bool sleeps = false;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (!ptc_read_file(path, STATUS_MAX, &b, &ignored)) {
		p = strrchr((const char *)b.bytes,
			    ')'); /* after the name, which may contain any character */
		sleeps = p && p[1] == ' ' && strchr("SDTI", p[2]);
	}
	ptc_buf_release(&b);
	return sleeps;
}
