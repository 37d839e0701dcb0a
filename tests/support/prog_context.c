/* SPDX-License-Identifier: MIT */
/*
 * Prints everything that a program inherits, one line each: a recorded program must print the same
 * as a plain one. Leaves out all that differs between any two processes (pids, inode numbers of
 * pipes, addresses).
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <xmmintrin.h>

extern char **environ;

static void show_arguments(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	for (i = 0; environ[i]; i++)
		printf("environment %s\n", environ[i]);
	printf("execfn %s\n", (const char *)getauxval(AT_EXECFN));
	printf("secure %lu\n", getauxval(AT_SECURE));
}

static void show_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[300], target[4096];
		const int fd = (int)strtol(e->d_name, NULL, 10);
		struct stat st;
		ssize_t n;

		if (e->d_name[0] == '.' || fd == dirfd(d) || fstat(fd, &st))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
			target[strcspn(target, ":")] = '\0';
		printf("descriptor %d %s mode %o flags %x %x\n", fd, target,
		       (unsigned int)st.st_mode, (unsigned int)fcntl(fd, F_GETFD),
		       (unsigned int)fcntl(fd, F_GETFL));
	}
	if (d)
		(void)closedir(d);
}

static void show_limits(void)
{
	struct rlimit r;
	int i;

	for (i = 0; i < (int)RLIM_NLIMITS; i++)
		if (!getrlimit((__rlimit_resource_t)i, &r))
			printf("limit %d %lx %lx\n", i, (unsigned long)r.rlim_cur,
			       (unsigned long)r.rlim_max);
	for (i = 0; i < 3; i++) {
		struct itimerval it;

		(void)getitimer((__itimer_which_t)i, &it);
		printf("timer %d %ld %ld\n", i, (long)it.it_value.tv_sec,
		       (long)it.it_interval.tv_sec);
	}
}

static void show_signals(void)
{
	struct sigaction sa;
	sigset_t mask, pending;
	stack_t ss;
	int sig;

	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	(void)sigpending(&pending);
	for (sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &sa))
			continue;
		printf("signal %d%s%s%s flags %x\n", sig, sigismember(&mask, sig) ? " blocked" : "",
		       sigismember(&pending, sig) ? " pending" : "",
		       sa.sa_handler == SIG_IGN ? " ignored" : "", (unsigned int)sa.sa_flags);
	}
	(void)sigaltstack(NULL, &ss);
	printf("alternate stack %x\n", (unsigned int)ss.ss_flags);
}

static void show_scheduling(void)
{
	struct sched_param sp;
	cpu_set_t set;
	int cpu;

	(void)sched_getaffinity(0, sizeof(set), &set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			printf("cpu %d\n", cpu);
	(void)sched_getparam(0, &sp);
	printf("nice %d policy %d priority %d io %ld\n", getpriority(PRIO_PROCESS, 0),
	       sched_getscheduler(0), sp.sched_priority, syscall(SYS_ioprio_get, 1, 0));
}

static void show_session(void)
{
	const int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
	char name[256];

	printf("terminal %s\n", tty >= 0 ? "yes" : "no");
	if (tty >= 0)
		printf("foreground %s\n", tcgetpgrp(tty) == getpgrp() ? "yes" : "no");
	if (tty >= 0)
		(void)close(tty);
	if (!ttyname_r(0, name, sizeof(name)))
		printf("input is %s\n", name);
	printf("own group %s, group leads the session %s\n", getpgrp() == getpid() ? "yes" : "no",
	       getpgrp() == getsid(0) ? "yes" : "no");
}

static void show_process(void)
{
	static const int asked[] = { PR_GET_DUMPABLE,	  PR_GET_KEEPCAPS,   PR_GET_TIMERSLACK,
				     PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP,    PR_GET_TIMING,
				     PR_GET_THP_DISABLE,  PR_GET_IO_FLUSHER, PR_GET_SECUREBITS,
				     PR_MCE_KILL_GET };
	char cwd[4096];
	mode_t mask = umask(0);
	int sig = -1, reaper = -1;
	size_t i;

	printf("cwd %s\numask %o\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?", (unsigned int)mask);
	(void)prctl(PR_GET_PDEATHSIG, &sig);
	(void)prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	printf("parent's death %d reaper %d\n", sig, reaper);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		printf("prctl %d %d\n", asked[i], prctl(asked[i], 0, 0, 0, 0));
	printf("personality %x\n", (unsigned int)personality(0xffffffff));
	printf("mxcsr %x\n", _mm_getcsr());
}

/* Prints lines of /proc/self/status, without tracer, times and sizes. */
static void show_status(void)
{
	static const char *const wanted[] = {
		"Name",	  "Uid",    "Gid",    "Groups",	    "Threads", "CapInh",	   "CapPrm",
		"CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Mems_allowed_list"
	};
	FILE *f = fopen("/proc/self/status", "re");
	char line[1024];
	size_t i;

	while (f && fgets(line, sizeof(line), f))
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])) &&
			    line[strlen(wanted[i])] == ':')
				printf("status %s", line);
	if (f)
		(void)fclose(f);
	f = fopen("/proc/self/oom_score_adj", "re");
	if (f && fgets(line, sizeof(line), f))
		printf("oom %s", line);
	if (f)
		(void)fclose(f);
	f = fopen("/proc/self/coredump_filter", "re");
	if (f && fgets(line, sizeof(line), f))
		printf("core %s", line);
	if (f)
		(void)fclose(f);
}

int main(int argc, char **argv)
{
	show_descriptors(); /* before any file is opened */
	show_arguments(argc, argv);
	show_limits();
	show_signals();
	show_scheduling();
	show_session();
	show_process();
	show_status();
	return 0;
}
