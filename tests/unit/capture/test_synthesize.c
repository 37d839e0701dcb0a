/* SPDX-License-Identifier: MIT */
/*
 * Description: the state of a process in /proc becomes the records that the kernel would have made.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/sideband.h"
#include "capture/host/tasks.h"
#include "capture/perf/synthesize.h"

#define TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

static char root[64];

static void shell(const char *what)
{
	char cmd[1024];

	(void)snprintf(cmd, sizeof(cmd), "cd %s && %s", root, what);
	cr_assert_eq(system(cmd), 0);
}

/* Process 10 with threads 10 and 12; thread 11 ended during the look. */
static void make(void)
{
	(void)snprintf(root, sizeof(root), "/tmp/ptcap-proc.XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	shell("mkdir -p 10/task/10 10/task/11 10/task/12 13/task/13 self sys;"
	      "echo main >10/task/10/comm; echo 'two words' >10/task/12/comm;"
	      "printf 'Name:\\tx\\nTgid:\\t10\\nPid:\\t10\\n' >10/status; mkdir 12;"
	      "printf 'Name:\\tx\\nTgid:\\t10\\nPid:\\t12\\n' >12/status;"
	      "printf '%s\\n' '1000-2000 r--p 00000000 08:01 7          /bin/x'"
	      " '2000-5000 r-xp 00001000 08:01 7          /bin/x'"
	      " '8000-9000 rwxp 00000000 00:00 0 '"
	      " 'ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]' >10/maps");
}

static void away(void)
{
	char cmd[128];

	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	cr_assert_eq(system(cmd), 0);
}

static struct ptc_running running(void)
{
	return (struct ptc_running){ .proc = root, .sample_type = TYPE, .id = 77 };
}

static struct ptc_sb next(struct ptc_cur *c)
{
	struct ptc_rec rec;
	struct ptc_err err;
	struct ptc_sb sb;

	cr_assert_eq(ptc_rec_next(c, 0, &rec, &err), 1);
	cr_assert_eq(ptc_sb_parse(&rec, TYPE, &sb, &err), 1);
	cr_assert_eq(sb.id.id, 77);
	cr_assert_eq(sb.id.time, 0);
	return sb;
}

Test(synthesize, names_threads_and_code, .init = make, .fini = away)
{
	const struct ptc_running r = running();
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_sb sb;

	cr_assert_eq(ptc_running_put(&b, &r, 10, &err), 1);
	c = ptc_cur_init(b.bytes, b.len);
	sb = next(&c);
	cr_assert_eq(sb.type, PERF_RECORD_COMM);
	cr_assert_str_eq(sb.u.comm.comm, "main");
	sb = next(&c);
	cr_assert_eq(sb.type, PERF_RECORD_FORK);
	cr_assert_eq(sb.u.task.pid, 10);
	cr_assert_eq(sb.u.task.ppid, 10, "a thread, no child");
	cr_assert_eq(sb.u.task.tid, 12);
	sb = next(&c);
	cr_assert_str_eq(sb.u.comm.comm, "two words");
	cr_assert_eq(sb.u.comm.tid, 12);
	sb = next(&c);
	cr_assert_eq(sb.type, PERF_RECORD_MMAP2);
	cr_assert_eq(sb.u.mmap.addr, 0x2000);
	cr_assert_eq(sb.u.mmap.len, 0x3000);
	cr_assert_eq(sb.u.mmap.pgoff, 0x1000);
	cr_assert_eq(sb.u.mmap.ino, 7);
	cr_assert_str_eq(sb.u.mmap.filename, "/bin/x");
	sb = next(&c);
	cr_assert_str_eq(sb.u.mmap.filename, "//anon");
	cr_assert_eq(ptc_cur_left(&c), 0, "no vsyscall, no data");
	ptc_buf_release(&b);
}

Test(synthesize, a_build_id_is_of_the_file_that_the_process_sees, .init = make, .fini = away)
{
	struct ptc_running r = running();
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_build_id want;
	struct ptc_err err;
	struct ptc_cur c;
	struct ptc_sb sb;
	int i;

	shell("mkdir -p 10/root/bin && cp /bin/true 10/root/bin/x");
	cr_assert_eq(ptc_elf_build_id_file("/bin/true", 0, &want, &err), 1);
	r.build_ids = true;
	cr_assert_eq(ptc_running_put(&b, &r, 10, &err), 1);
	c = ptc_cur_init(b.bytes, b.len);
	for (i = 0; i < 4; i++)
		sb = next(&c);
	cr_assert_str_eq(sb.u.mmap.filename, "/bin/x");
	cr_assert(ptc_build_id_same(&sb.u.mmap.build_id, &want));
	ptc_buf_release(&b);
}

Test(synthesize, who_is_gone_is_nobody, .init = make, .fini = away)
{
	const struct ptc_running r = running();
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_running_put(&b, &r, 4, &err), 0);
	cr_assert_eq(ptc_running_put(&b, &r, 13, &err), 1, "ended while we looked");
	cr_assert_eq(b.len, 0);
	ptc_buf_release(&b);
}

Test(tasks, threads_and_their_process, .init = make, .fini = away)
{
	struct ptc_tids t = PTC_TIDS_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_tasks_threads(&t, root, 10, &err), 0);
	cr_assert_eq(t.n, 3);
	cr_assert_eq(ptc_tasks_threads(&t, root, 10, &err), 0);
	cr_assert_eq(t.n, 3, "each once");
	cr_assert_eq(ptc_tasks_threads(&t, root, 4, &err), PTC_E_NOT_EXIST);
	cr_assert_eq(ptc_tasks_process(root, 12), 10);
	cr_assert_eq(ptc_tasks_process(root, 10), 10);
	cr_assert_eq(ptc_tasks_process(root, 99), 0);
	t.n = 0;
	cr_assert_eq(ptc_tasks_processes(&t, root, &err), 0);
	cr_assert(ptc_tids_have(&t, 10) && ptc_tids_have(&t, 13));
	ptc_tids_release(&t);
}

Test(tasks, a_family_is_a_process_with_its_descendants, .init = make, .fini = away)
{
	struct ptc_tids t = PTC_TIDS_INIT;
	struct ptc_err err;

	shell("mkdir -p 20/task/20 30/task/31 40/task/40; printf '30 ' >10/task/12/children;"
	      "printf '40 20 ' >30/task/31/children; printf '99 ' >20/task/20/children;"
	      "printf 'x' >40/task/40/children");
	cr_assert_eq(ptc_tasks_family(&t, root, 10, 100, &err), 0);
	cr_assert(t.n == 5 && t.items[0] == 10 && t.items[1] == 30 && t.items[2] == 40 &&
		  t.items[3] == 20 && t.items[4] == 99);
	ptc_tids_release(&t);
	cr_assert_eq(ptc_tasks_family(&t, root, 10, 3, &err), 0);
	cr_assert(t.n == 3 && t.items[2] == 40, "at most so many");
	ptc_tids_release(&t);
}

static void cgroup_is(const char *mounts, const char *name, int code, const char *want)
{
	char cmd[512], *path = NULL, full[128];
	struct ptc_err err;

	(void)snprintf(cmd, sizeof(cmd), "printf '%s' >self/mounts", mounts);
	shell(cmd);
	cr_assert_eq(ptc_tasks_cgroup(root, name, &path, &err), code, "%s", mounts);
	if (code)
		return;
	(void)snprintf(full, sizeof(full), "%s", want);
	cr_assert_str_eq(path, full);
	free(path);
}

Test(tasks, a_cgroup_is_where_perf_event_follows, .init = make, .fini = away)
{
	const char *v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\\n";
	const char *both = "cgroup2 /c/unified cgroup2 rw 0 0\\n"
			   "x /c/cpu cgroup rw,cpu 0 0\\n"
			   "cgroup /c/perf cgroup rw,perf_event 0 0\\n";

	cgroup_is(v2, "a/b", 0, "/sys/fs/cgroup/a/b");
	cgroup_is(both, "a", 0, "/c/perf/a");
	cgroup_is("x /c/cpu cgroup rw,cpu 0 0\\n", "a", PTC_E_NOT_EXIST, NULL);
	cgroup_is("", "a", PTC_E_NOT_EXIST, NULL);
	cgroup_is(v2, "../a", PTC_E_USAGE, NULL);
	cgroup_is(v2, "", PTC_E_USAGE, NULL);
}
