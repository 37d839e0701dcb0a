/* SPDX-License-Identifier: MIT */
/* Description: a command runs only when released, and leaves no child. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/host/launch.h"

static void no_child_left(void)
{
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_assert_eq(errno, ECHILD);
}

Test(launch, a_child_that_is_let_go_runs_its_command)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)"exit 7", NULL };
	struct ptc_launch l = PTC_LAUNCH_INIT;
	struct ptc_err err;
	int status;
	pid_t pid;

	cr_assert_eq(ptc_launch_fork(&l, argv, NULL, &pid, &err), 0);
	cr_assert_eq(ptc_launch_let_go(&l, &err), 0);
	cr_assert_eq(ptc_launch_result(&l, false, &err), 0);
	ptc_launch_release(&l);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(WEXITSTATUS(status), 7);
	no_child_left();
}

Test(launch, a_child_that_is_not_let_go_ends_with_the_launch)
{
	char *const argv[] = { (char *)"true", NULL };
	struct ptc_launch l = PTC_LAUNCH_INIT;
	struct ptc_err err;
	pid_t pid;

	cr_assert_eq(ptc_launch_fork(&l, argv, NULL, &pid, &err), 0);
	ptc_launch_release(&l);
	no_child_left();
}

/* Executable, but without #! and of no known format: such a script runs in the shell. */
Test(launch, a_script_without_an_interpreter_line_runs_in_the_shell)
{
	char path[] = "/tmp/ptcap-script.XXXXXX";
	char *const argv[] = { path, (char *)"5", NULL };
	struct ptc_launch l = PTC_LAUNCH_INIT;
	struct ptc_err err;
	int fd = mkstemp(path), status;
	pid_t pid;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "exit $1\n", 8), 8);
	cr_assert_eq(fchmod(fd, 0755), 0);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(ptc_launch_fork(&l, argv, NULL, &pid, &err), 0);
	cr_assert_eq(ptc_launch_let_go(&l, &err), 0);
	cr_assert_eq(ptc_launch_result(&l, false, &err), 0);
	ptc_launch_release(&l);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(WEXITSTATUS(status), 5);
	(void)unlink(path);
}

Test(launch, an_exec_that_fails_is_said_and_the_child_is_gone)
{
	char path[] = "/tmp/ptcap-bad.XXXXXX";
	char *const argv[] = { path, NULL };
	struct ptc_launch l = PTC_LAUNCH_INIT;
	struct ptc_err err;
	int fd = mkstemp(path);
	pid_t pid;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "#!/nowhere/interpreter\n", 23), 23);
	cr_assert_eq(fchmod(fd, 0755), 0);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(ptc_launch_fork(&l, argv, NULL, &pid, &err), 0);
	cr_assert_eq(ptc_launch_let_go(&l, &err), 0);
	cr_assert_eq(ptc_launch_result(&l, false, &err), PTC_E_NO_COMMAND);
	cr_assert_not_null(strstr(err.msg, path));
	ptc_launch_release(&l);
	no_child_left();
	(void)unlink(path);
}
