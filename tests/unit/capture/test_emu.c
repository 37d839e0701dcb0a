/* SPDX-License-Identifier: MIT */
/*
 * Description: code blocks as the QEMU plugin describes them; programs found as execve finds them.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/emu/block_store.h"
#include "capture/emu/block_table.h"
#include "capture/emu/hidden_environ.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/owner_liveness.h"
#include "capture/emu/pid_namespace.h"
#include "capture/emu/program.h"
#include "capture/emu/qemu_locate.h"
#include "ptcap/capture.h"

enum { PLACE = 1, ARENA = PTC_EMU_ARENA_MIN };

struct bench {
	struct ptc_emu_shared *sh;
	struct ptc_emu_code code;
};

/* Makes a block at @start with @insns instructions by QEMU's count, and returns its line. */
static const struct ptc_emu_line *line(struct bench *b, uint64_t start, uint32_t insns,
				       const char *code, size_t len)
{
	struct ptc_emu_block *block;

	b->sh = mmap(NULL, ptc_emu_segment_size(ARENA), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	cr_assert_neq(b->sh, MAP_FAILED);
	ptc_emu_arena_init(b->sh, ARENA);
	cr_assert(ptc_emu_code_init(&b->code, b->sh));
	block = ptc_emu_block(b->sh, PLACE);
	block->start = start;
	block->insns = insns;
	block->len = (uint32_t)len;
	memcpy(block + 1, code, len);
	cr_assert(ptc_emu_code_add(&b->code, PLACE));
	cr_assert_eq(b->code.index[PLACE], 1);
	return &b->code.lines[0];
}

static void done(struct bench *b)
{
	ptc_emu_code_release(&b->code);
	(void)munmap(b->sh, ptc_emu_segment_size(ARENA));
}

#define LINE(b, start, insns, code) line(b, start, insns, code, sizeof(code) - 1)

Test(emu_code, a_block_is_its_last_instruction_and_how_many_are_before_it)
{
	struct bench b;
	const struct ptc_emu_line *p = LINE(&b, 0x1000, 3, "\x90\x31\xc0\x75\x10\xcc\xcc");

	cr_assert_eq(p->n, 3);
	cr_assert_eq(p->last, 0x1003);
	cr_assert_eq(ptc_emu_line_end(p), 0x1005);
	cr_assert_eq(p->insn.kind, PTC_KIND_JCC);
	cr_assert_eq(p->insn.target, 0x1015);
	cr_assert_eq(ptc_emu_code_before(&b.code, p, 0x1000), 0);
	cr_assert_eq(ptc_emu_code_before(&b.code, p, 0x1003), 2);
	cr_assert_eq(ptc_emu_code_before(&b.code, p, 0x1002), -1);
	cr_assert_eq(ptc_emu_code_before(&b.code, p, 0x1005), -1);
	done(&b);
}

Test(emu_code, an_instruction_that_crosses_a_page_is_no_part_of_the_block)
{
	struct bench b;
	const struct ptc_emu_line *p = LINE(&b, 0x1ffe, 2, "\x90\xe9\x10\x00\x00\x00");

	cr_assert_eq(p->n, 1);
	cr_assert_eq(ptc_emu_line_end(p), 0x1fff);
	cr_assert_eq(p->insn.kind, PTC_KIND_NONE);
	done(&b);
}

Test(emu_code, unless_it_is_the_only_one)
{
	struct bench b;
	const struct ptc_emu_line *p = LINE(&b, 0x1fff, 1, "\xe9\x10\x00\x00\x00");

	cr_assert_eq(p->n, 1);
	cr_assert_eq(p->insn.kind, PTC_KIND_JMP);
	cr_assert_eq(p->insn.target, 0x2014);
	done(&b);
}

Test(emu_code, what_is_no_instruction_is_there_and_leads_nowhere)
{
	struct bench b;
	const struct ptc_emu_line *p = LINE(&b, 0x1000, 2, "\x90\x06");

	cr_assert_eq(p->n, 2);
	cr_assert_eq(p->last, 0x1001);
	cr_assert_eq(p->insn.len, 0);
	done(&b);
}

static char folder[] = "/tmp/ptcap-unit-XXXXXX";

static char *script(const char *name, const char *text)
{
	char *path;
	FILE *f;

	if (strstr(folder, "XXXXXX"))
		cr_assert_not_null(mkdtemp(folder));
	cr_assert(asprintf(&path, "%s/%s", folder, name) > 0);
	f = fopen(path, "w");
	cr_assert_not_null(f);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(chmod(path, 0755), 0);
	return path;
}

static void remove_all(char *const *paths, size_t n)
{
	while (n--) {
		(void)unlink(paths[n]);
		free(paths[n]);
	}
	(void)rmdir(folder);
}

Test(emu_program, a_script_is_its_interpreter_with_one_argument)
{
	char *path = script("s", "#! /bin/sh  -e -u \nexit\n");
	char *const argv[] = { (char *)"zero", (char *)"one", NULL };
	struct ptc_emu_program p;
	char **line_of;

	cr_assert_eq(ptc_emu_program_find(path, argv, &p), PTC_EMU_RUNS);
	cr_assert_str_eq(p.path, "/bin/sh");
	cr_assert_str_eq(p.argv[0], "/bin/sh");
	cr_assert_str_eq(p.argv[1], "-e -u");
	cr_assert_str_eq(p.argv[2], path);
	cr_assert_str_eq(p.argv[3], "one");
	cr_assert_null(p.argv[4]);
	line_of = ptc_emu_program_line(&p, "Q", "P");
	cr_assert_str_eq(line_of[6], "/bin/sh");
	cr_assert_str_eq(line_of[7], "/bin/sh");
	cr_assert_str_eq(line_of[8], "-e -u");
	cr_assert_str_eq(line_of[10], "one");
	cr_assert_null(line_of[11]);
	free(line_of);
	ptc_emu_program_release(&p);
	remove_all(&path, 1);
}

static struct ptc_emu_shared *shared(void)
{
	void *map = mmap(NULL, sizeof(struct ptc_emu_shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	return map;
}

Test(emu_owner, it_is_seen_whether_the_owner_lives)
{
	struct ptc_emu_shared *sh = shared();

	cr_assert_not(ptc_emu_owner_lives(sh));
	cr_assert_eq(ptc_emu_own(sh), 0);
	cr_assert(ptc_emu_owner_lives(sh));
	cr_assert(ptc_emu_owner_lives(sh));
	ptc_emu_disown(sh);
	cr_assert_not(ptc_emu_owner_lives(sh));
	cr_assert_not(ptc_emu_owner_lives(sh));
}

Test(emu_owner, an_owner_that_was_killed_is_seen_to_be_dead_by_all)
{
	struct ptc_emu_shared *sh = shared();
	const pid_t pid = fork();

	if (!pid) {
		if (!ptc_emu_own(sh))
			(void)kill(getpid(), SIGKILL);
		_exit(1);
	}
	cr_assert_eq(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT),
		     0); /* a zombie counts as dead too */
	cr_assert_not(ptc_emu_owner_lives(sh));
	cr_assert_not(ptc_emu_owner_lives(sh));
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(emu_pids, a_process_and_a_thread_are_found_by_the_numbers_they_have_inside)
{
	const uint64_t ns = ptc_emu_pids_namespace();

	cr_assert_neq(ns, 0);
	cr_assert_eq(ptc_emu_pids_find(ns, getpid()), getpid());
	cr_assert_eq(ptc_emu_pids_find(ns + 1, getpid()), 0);
	cr_assert_eq(ptc_emu_pids_find(ns, INT_MAX), 0);
	cr_assert_eq(ptc_emu_pids_find_thread(getpid(), getpid()), getpid());
	cr_assert_eq(ptc_emu_pids_find_thread(getpid(), INT_MAX), 0);
}

Test(emu_environ, no_name_is_what_it_was_and_all_come_back)
{
	char *env[] = { (char *)"A=1",	(char *)"LD_AUDIT=a,b", (char *)"",	  (char *)"=x",
			(char *)"LD_X", (char *)"\xbd=y",	(char *)"\xc1=z", NULL };
	char **hidden = ptc_emu_environ_hide(env, false);
	size_t i;

	cr_assert_str_eq(hidden[0], "\xc1=1");
	cr_assert_str_eq(hidden[1], "\xcc"
				    "D_AUDIT=a,b");
	cr_assert_str_eq(hidden[2], "");
	cr_assert_str_eq(hidden[3], "=x");
	cr_assert_str_eq(hidden[4], "\xcc"
				    "D_X");
	cr_assert_str_eq(hidden[5], "\xbd=y");
	cr_assert_str_eq(hidden[6], "A=z");
	cr_assert_null(hidden[7]);
	for (i = 0; env[i]; i++) {
		ptc_emu_environ_flip(hidden[i]);
		cr_assert_str_eq(hidden[i], env[i]);
	}
	free(hidden);
}

Test(emu_environ, the_order_is_turned_round_for_a_qemu_that_does_so)
{
	char *none[] = { NULL }, *three[] = { (char *)"1", (char *)"2", (char *)"3", NULL };
	char **hidden = ptc_emu_environ_hide(none, true);

	cr_assert_null(hidden[0]);
	free(hidden);
	hidden = ptc_emu_environ_hide(three, true);
	cr_assert_str_eq(hidden[0], "\xb3");
	cr_assert_str_eq(hidden[1], "\xb2");
	cr_assert_str_eq(hidden[2], "\xb1");
	cr_assert_null(hidden[3]);
	free(hidden);
}

Test(emu_program, what_execve_would_not_run_is_not_run)
{
	char *paths[] = { script("a", "exit\n"), script("b", "#!\n"),
			  script("c", "#!/nowhere/sh\n"), script("d", "") };
	char *const argv[] = { (char *)"x", NULL };
	struct ptc_emu_program p;

	cr_assert_eq(ptc_emu_program_find(paths[0], argv, &p), PTC_EMU_NO_FORMAT);
	cr_assert_eq(ptc_emu_program_find(paths[1], argv, &p), PTC_EMU_FAILS);
	cr_assert_eq(ptc_emu_program_find(paths[2], argv, &p), PTC_EMU_FAILS);
	cr_assert_eq(ptc_emu_program_find(paths[3], argv, &p), PTC_EMU_NO_FORMAT);
	cr_assert_eq(ptc_emu_program_find("/nowhere", argv, &p), PTC_EMU_FAILS);
	cr_assert_eq(chmod(paths[0], 0644), 0);
	cr_assert_eq(ptc_emu_program_find(paths[0], argv, &p), PTC_EMU_FAILS);
	remove_all(paths, 4);
}

Test(emu_program, scripts_lead_to_each_other_no_further_than_the_kernel_goes)
{
	char text[256], *path = script("loop", "");
	char *const argv[] = { (char *)"x", NULL };
	struct ptc_emu_program p;

	(void)snprintf(text, sizeof(text), "#!%s\n", path);
	free(script("loop", text));
	cr_assert_eq(ptc_emu_program_find(path, argv, &p), PTC_EMU_FAILS);
	remove_all(&path, 1);
}

Test(emu_lack, calls_that_fail_for_want_of_an_implementation_are_named)
{
	char text[sizeof(((struct ptc_record_result *)0)->lacking)];
	struct ptc_emu_shared *sh = calloc(1, sizeof(*sh));
	int i;

	cr_assert_not_null(sh);
	ptc_emu_lack_names(sh, text, sizeof(text));
	cr_assert_str_eq(text, "");
	ptc_emu_lack_note(sh, ptc_emu_lack(SYS_seccomp, 1, -ENOSYS));
	ptc_emu_lack_note(sh, ptc_emu_lack(SYS_ptrace, 0, -ENOSYS));
	ptc_emu_lack_note(sh, ptc_emu_lack(SYS_ptrace, 0, -EPERM));
	ptc_emu_lack_names(sh, text, sizeof(text));
	cr_assert_str_eq(text, "ptrace, seccomp");
	ptc_emu_lack_note(sh, PTC_EMU_INT80);
	ptc_emu_lack_note(sh, ptc_emu_lack(500, 0, -ENOSYS));
	ptc_emu_lack_names(sh, text, sizeof(text));
	cr_assert_str_eq(text, "ptrace, seccomp, number 500, int 0x80");
	for (i = 0; i < PTC_EMU_CALLS; i++)
		ptc_emu_lack_note(sh, i);
	ptc_emu_lack_names(sh, text, sizeof(text));
	cr_assert(!strncmp(text, "read, write, ", 13) && strstr(text, " more"), "%s", text);
	cr_assert_lt(strlen(text), sizeof(text) - 1);
	free(sh);
}

Test(emu_lack, what_is_refused_for_another_reason_is_not_lacking)
{
	cr_assert_eq(ptc_emu_lack(SYS_prctl, PR_SET_SECCOMP, -EINVAL), SYS_seccomp);
	cr_assert_eq(ptc_emu_lack(SYS_prctl, PR_SET_SECCOMP, -EFAULT), -1);
	cr_assert_eq(ptc_emu_lack(SYS_prctl, PR_SET_NAME, -EINVAL), -1);
	cr_assert_eq(ptc_emu_lack(SYS_ptrace, 0, -EPERM), -1);
	cr_assert_eq(ptc_emu_lack(SYS_unshare, CLONE_NEWUSER, -EINVAL), SYS_unshare);
	cr_assert_eq(ptc_emu_lack(SYS_unshare, CLONE_NEWNS, -EINVAL), -1);
	cr_assert_eq(ptc_emu_lack(SYS_setns, 3, -EINVAL), SYS_setns);
	cr_assert_eq(ptc_emu_lack(SYS_setns, 3, -EPERM), -1);
	cr_assert_eq(ptc_emu_lack(SYS_clone, CLONE_NEWPID, -EINVAL), SYS_clone);
	cr_assert_eq(ptc_emu_lack(SYS_rseq, 0, -ENOSYS), -1);
	cr_assert_eq(ptc_emu_lack(-1, 0, -ENOSYS), -1);
	cr_assert_eq(ptc_emu_lack(100000, 0, -ENOSYS), -1);
}

Test(emu_find, of_qemus_versions_it_is_known_which_turn_the_environment_round)
{
	cr_assert(ptc_emu_version_turns("qemu-x86_64 version 7.2.22 (Debian 1:7.2+dfsg-7)"));
	cr_assert(ptc_emu_version_turns("qemu-x86_64 version 8.0.50"));
	cr_assert_not(ptc_emu_version_turns("qemu-x86_64 version 8.1.0"));
	cr_assert_not(ptc_emu_version_turns("qemu-x86_64 version 10.0.13"));
	cr_assert_not(ptc_emu_version_turns("something else"));
	cr_assert_not(ptc_emu_version_turns(""));
	cr_assert_not(ptc_emu_turns_env("/nowhere"));
	cr_assert_not(ptc_emu_turns_env("/bin/true"));
}
