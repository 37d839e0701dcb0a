/* SPDX-License-Identifier: MIT */
/*
 * sandboxed MODE OUTPUT ELSEWHERE: enters the sandbox of a command and prints the result of each
 * attempt. MODE: "reads", "writes", "fetches", "serves" or "off"; then optionally a comma and the
 * feature that the kernel is made to lack: "landlock" or "seccomp". OUTPUT: the name of the output.
 * ELSEWHERE: a folder with a file "file". Prints "NAME RESULT" lines: "ok", the name of an errno,
 * or "stopped".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cli/common/exitcodes.h"
#include "../../cli/common/landlock.h"
#include "../../cli/common/sandbox.h"
#include "../../cli/common/seccomp_filter.h"

enum { CALLS = 512, DONE = 200, NO_CALL = 1000, X32_GETPID = 0x40000000 | SYS_getpid };

static const char *mode, *output, *elsewhere;

/* Makes the kernel lack a system call. */
static void lack(unsigned int nr)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

static void enter(void)
{
	const struct ptc_sandbox s = { .off = !strncmp(mode, "off", 3),
				       .serves = !strncmp(mode, "serves", 6),
				       .finds_code = !strncmp(mode, "fetches", 7),
				       .output = strncmp(mode, "writes", 6) != 0 ? NULL : output };

	if (strstr(mode, ",landlock"))
		lack(444);
	if (strstr(mode, ",seccomp"))
		lack(SYS_seccomp);
	if (ptc_sandbox_enter(&s))
		_exit(77);
}

/* --- attempts: return 0 or more, or -1 and errno --- */

static char *in(const char *folder, const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static char *beside_output(const char *end)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s%s", output, end);
	return path;
}

static long read_file(void)
{
	return open(in(elsewhere, "file"), O_RDONLY);
}

static long list_folder(void)
{
	char buf[1024];

	return syscall(SYS_getdents64, open(elsewhere, O_RDONLY | O_DIRECTORY), buf, sizeof(buf));
}

static long resolve(uint64_t flags, const char *path)
{
	const struct {
		uint64_t flags, mode, resolve;
	} how = { .flags = flags };

	return syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static long resolve_name(void)
{
	return resolve(O_PATH, in(elsewhere, "file"));
}

static long overwrite(void)
{
	return open(in(elsewhere, "file"), O_WRONLY);
}

static long overwrite_resolved(void)
{
	return resolve(O_WRONLY, in(elsewhere, "file"));
}

static long cut(void)
{
	return truncate(in(elsewhere, "file"), 1);
}

static long cut_read_only(void)
{
	return open(in(elsewhere, "file"), O_RDONLY | O_TRUNC);
}

static long create(void)
{
	return open(in(elsewhere, "new"), O_WRONLY | O_CREAT, 0600);
}

static long remove_file(void)
{
	return unlink(in(elsewhere, "file"));
}

static long move_out(void)
{
	char from[4096];

	(void)snprintf(from, sizeof(from), "%s/file", elsewhere);
	return rename(from, beside_output(".moved"));
}

static long make_link(void)
{
	return symlink("/etc/passwd", beside_output(".link"));
}

static long change_mode(void)
{
	return chmod(in(elsewhere, "file"), 04755);
}

static long nameless(void)
{
	const char *folder = getenv("TMPDIR");

	return folder ? open(folder, O_TMPFILE | O_RDWR, 0600) : -1;
}

static long nameless_elsewhere(void)
{
	return open(elsewhere, O_TMPFILE | O_RDWR, 0600);
}

static const struct timespec never[2];

static long set_time(void)
{
	return futimens(open(in(elsewhere, "file"), O_RDONLY), never);
}

static long set_time_by_name(void)
{
	return utimensat(AT_FDCWD, in(elsewhere, "file"), never, 0);
}

/* The low half of the name's address is zero. */
static long set_time_of_round_name(void)
{
	char *at = mmap((void *)0x100000000, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	(void)snprintf(at, 4096, "%s/file", elsewhere);
	return utimensat(AT_FDCWD, at, never, 0);
}

static long nowhere(void)
{
	return open("/dev/null", O_WRONLY);
}

static long make_output(void)
{
	const int fd = open(beside_output(".tmp"), O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		return -1;
	return ftruncate(fd, 9) || rename(beside_output(".tmp"), output) || unlink(output) ? -1 : 0;
}

static long memory_file(void)
{
	return memfd_create("x", MFD_CLOEXEC);
}

static long map_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : 0;
}

static long make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -1 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static void *nothing(void *arg)
{
	return arg;
}

static void *run_program(void *arg)
{
	(void)syscall(SYS_execve, "/nowhere", NULL, NULL);
	return arg;
}

static long thread(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, nothing, NULL);
	return errno ? -1 : pthread_join(t, NULL);
}

static long thread_exec(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, run_program, NULL);
	return errno ? -1 : pthread_join(t, NULL);
}

static long signal_self(void)
{
	(void)signal(SIGUSR1, SIG_IGN);
	return raise(SIGUSR1);
}

static long type_for_user(void)
{
	return ioctl(STDIN_FILENO, TIOCSTI, "x");
}

static long own_signals(void)
{
	return fcntl(STDIN_FILENO, F_SETOWN, 1);
}

static long lower_parents_limit(void)
{
	return syscall(SYS_prlimit64, getppid(), 0, NULL, NULL);
}

static long unknown_call(void)
{
	return syscall(NO_CALL);
}

static long x32_call(void)
{
	return syscall(X32_GETPID);
}

static long call_of_32_bit(void)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	return ret < 0 ? -1 : 0;
}

static long internet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long other_program(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static const struct attempt {
	const char *name;
	long (*fn)(void);
} attempts[] = {
#define A(name)                                                                                    \
	{                                                                                          \
#name, name                                                                        \
	}
	A(read_file),
	A(list_folder),
	A(resolve_name),
	A(overwrite),
	A(cut),
	A(cut_read_only),
	A(create),
	A(remove_file),
	A(move_out),
	A(make_link),
	A(change_mode),
	A(nameless),
	A(nowhere),
	A(make_output),
	A(memory_file),
	A(map_code),
	A(make_code),
	A(thread),
	A(thread_exec),
	A(signal_self),
	A(type_for_user),
	A(own_signals),
	A(unknown_call),
	A(x32_call),
	A(call_of_32_bit),
	A(internet),
	A(other_program),
	A(lower_parents_limit),
	A(overwrite_resolved),
	A(nameless_elsewhere),
	A(set_time),
	A(set_time_by_name),
	A(set_time_of_round_name),
#undef A
};

/* --- each attempt is a process of its own --- */

static long call(int nr)
{
	/* Signals go to process 1. All other calls have zero arguments. */
	const long first = nr == SYS_kill || nr == SYS_tgkill || nr == SYS_tkill ? 1 : 0;
	const long ret = syscall(nr, first, 0L, 0L, 0L, 0L, 0L);

	if (!ret && (nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone))
		_exit(0);
	return ret;
}

static void say(const char *name, int status, int err)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == DONE)
		printf("%s %s\n", name, err ? strerrorname_np(err) : "ok");
	else if (WIFEXITED(status) && WEXITSTATUS(status) == PTC_EXIT_FAIL)
		printf("%s stopped\n", name);
	else
		printf("%s status-%#x\n", name, (unsigned int)status);
	(void)fflush(stdout);
}

static void try(const char *name, long (*fn)(void), int nr)
{
	int *err =
		mmap(NULL, sizeof(*err), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t pid;

	if (err == MAP_FAILED)
		exit(1);
	pid = fork();
	if (!pid) {
		enter();
		*err = (fn ? fn() : call(nr)) < 0 ? errno : 0;
		_exit(DONE);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	say(name, status, *err);
	(void)munmap(err, sizeof(*err));
}

int main(int argc, char **argv)
{
	size_t i;
	int nr;

	if (argc != 4 || !getenv("TMPDIR")) {
		fputs("usage: TMPDIR=... sandboxed MODE OUTPUT ELSEWHERE\n", stderr);
		return 2;
	}
	mode = argv[1];
	output = argv[2];
	elsewhere = argv[3];
	printf("version %d\n", ptc_landlock_version());
	(void)fflush(stdout);
	for (i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		try(attempts[i].name, attempts[i].fn, 0);
	for (nr = 0; nr < CALLS && strncmp(mode, "off", 3) != 0; nr++)
		if (ptc_syscalls_name(nr))
			try(ptc_syscalls_name(nr), NULL, nr);
	return 0;
}
