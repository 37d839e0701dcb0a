/* SPDX-License-Identifier: MIT */
#include "capture/emu/command_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/find_program.h"
#include "capture/emu/block_store.h"
#include "capture/emu/program.h"
#include "capture/emu/qemu_locate.h"
#include "capture/emu/shm_protocol.h"
#include "capture/emu/shm_segment.h"

enum { ANSWER_MS = 10000 }; /* time limit for a program called qemu-x86_64 to answer */

const char *ptc_emu_cannot(const struct ptc_record_opts *opts)
{
	if (!opts->target.argv)
		return "attach to a process";
	if (opts->range.max_steps)
		return "count instructions (--max-steps)";
	return opts->range.from || opts->range.to ? "begin and end at a place (--from, --to)" :
						    NULL;
}

static enum ptc_emu_verdict find_command_verdict(const char *path, char *const *argv)
{
	struct ptc_emu_program p;
	const enum ptc_emu_verdict v = ptc_emu_program_find(path, argv, &p);

	if (v == PTC_EMU_RUNS)
		ptc_emu_program_release(&p);
	return v;
}

/* Checks the command. The other source reports a command that cannot run at all. */
static int program_fits(char *const *argv, struct ptc_err *err)
{
	enum ptc_emu_verdict v;
	char *path;
	int rc = ptc_find_program(argv[0], &path, err);

	if (rc)
		return rc;
	v = find_command_verdict(path, argv);
	if (v == PTC_EMU_NO_FORMAT) /* a script for the shell */
		v = find_command_verdict("/bin/sh", argv);
	if (v != PTC_EMU_RUNS)
		rc = ptc_fail(err, PTC_E_BAD_COMMAND, "'%s' is not a 64-bit x86 program", path);
	free(path);
	return rc;
}

/* --- check that QEMU loads the plugin --- */

static int start(char *const *line, pid_t *ret_pid)
{
	char *none[] = { NULL }; /* empty: QEMU and the loader would react to our own environment */
	posix_spawn_file_actions_t files;
	int fd, sys = posix_spawn_file_actions_init(&files);

	if (sys)
		return sys;
	for (fd = 0; !sys && fd < 3; fd++)
		sys = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (!sys)
		sys = posix_spawn(ret_pid, line[0], &files, NULL, line, none);
	(void)posix_spawn_file_actions_destroy(&files);
	return sys;
}

static void await(pid_t pid)
{
	struct pollfd fd = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (!poll(&fd, 1, ANSWER_MS))
		(void)kill(pid, SIGKILL);
	if (fd.fd >= 0)
		(void)close(fd.fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Runs QEMU with the plugin, which increments a counter in our memory and ends QEMU. */
static int run_plugin_probe(const char *qemu, const char *plugin, int shm_id, struct ptc_err *err)
{
	struct ptc_buf option = PTC_BUF_INIT;
	char *line[] = { (char *)qemu, (char *)"-plugin", NULL, (char *)"/dev/null", NULL };
	pid_t pid;
	int sys;

	ptc_emu_plugin_option(&option, plugin, shm_id, "probe");
	ptc_buf_u8(&option, 0);
	if (ptc_buf_failed(&option)) {
		ptc_buf_release(&option);
		return ptc_fail_mem(err);
	}
	line[2] = (char *)option.bytes;
	sys = start(line, &pid);
	ptc_buf_release(&option);
	if (sys)
		return ptc_fail_sys(err, sys, "cannot run '%s'", qemu);
	await(pid);
	return 0;
}

static int loads(const char *qemu, const char *plugin, struct ptc_err *err)
{
	struct ptc_emu_shared *sh;
	int id, rc = ptc_emu_segment_new(PTC_EMU_ARENA_MIN, &id, &sh, err);

	if (rc)
		return rc;
	rc = run_plugin_probe(qemu, plugin, id, err);
	if (!rc && !atomic_load(&sh->loaded))
		rc = ptc_emu_not_loaded(qemu, plugin, err);
	(void)shmdt(sh);
	return rc;
}

int ptc_emu_fits(const struct ptc_record_opts *opts, struct ptc_err *err)
{
	const char *what = ptc_emu_cannot(opts);
	char *qemu, *plugin;
	int rc;

	if (what)
		return ptc_fail(err, PTC_E_USAGE, "it cannot %s", what);
	rc = program_fits(opts->target.argv, err);
	if (!rc)
		rc = ptc_emu_find(&qemu, &plugin, err);
	if (rc)
		return rc;
	rc = loads(qemu, plugin, err);
	free(qemu);
	free(plugin);
	return rc;
}
