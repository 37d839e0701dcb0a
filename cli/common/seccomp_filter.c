/* SPDX-License-Identifier: MIT */
#include "cli/common/seccomp_filter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __x86_64__
#error the numbers of system calls are those of x86-64
#endif

/* System calls missing in the headers of Debian 12 (Linux 6.1). */
enum {
	NR_CACHESTAT = 451,
	NR_FCHMODAT2 = 452,
	NR_FUTEX_WAKE = 454,
	NR_FUTEX_WAIT = 455,
	NR_FUTEX_REQUEUE = 456,
	NR_MSEAL = 462,
};

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* used by glibc to name its memory; Linux 5.17 */
#endif

/* Set in the numbers of x32 system calls. */
#define X32_BIT UINT32_C(0x40000000)

#define ALLOW	  ((uint32_t)SECCOMP_RET_ALLOW)
#define TRAP	  ((uint32_t)SECCOMP_RET_TRAP)
#define FAIL(sys) ((uint32_t)SECCOMP_RET_ERRNO | (uint32_t)(sys))

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- calls that are always allowed --- */

static const int common[] = {
	/* open files, and reading by name */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_preadv,
	SYS_pwritev,
	SYS_preadv2,
	SYS_pwritev2,
	SYS_lseek,
	SYS_close,
	SYS_close_range,
	SYS_stat,
	SYS_lstat,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statx,
	SYS_access,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlink,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_statfs,
	SYS_fstatfs,
	SYS_getdents,
	SYS_getdents64,
	SYS_getxattr,
	SYS_lgetxattr,
	SYS_fgetxattr,
	SYS_fadvise64,
	SYS_readahead,
	SYS_fsync,
	SYS_fdatasync,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_flock,
	SYS_copy_file_range,
	SYS_sendfile,
	SYS_dup,
	SYS_dup2,
	SYS_dup3,
	SYS_pipe,
	SYS_pipe2,
	SYS_poll,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	SYS_epoll_pwait2,
	SYS_eventfd2,
	SYS_memfd_create,
	NR_CACHESTAT,
	/* memory */
	SYS_munmap,
	SYS_mremap,
	SYS_brk,
	SYS_madvise,
	SYS_msync,
	SYS_mincore,
	NR_MSEAL,
	/* Threads and signals of this process. */
	SYS_futex,
	SYS_futex_waitv,
	NR_FUTEX_WAKE,
	NR_FUTEX_WAIT,
	NR_FUTEX_REQUEUE,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rseq,
	SYS_set_tid_address,
	SYS_membarrier,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_sched_get_priority_max,
	SYS_sched_get_priority_min,
	SYS_getcpu,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend,
	SYS_sigaltstack,
	SYS_pause,
	SYS_restart_syscall,
	SYS_wait4,
	SYS_waitid,
	SYS_exit,
	SYS_exit_group,
	/* identity and time */
	SYS_getpid,
	SYS_gettid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getgroups,
	SYS_getresuid,
	SYS_getresgid,
	SYS_getpgrp,
	SYS_getpgid,
	SYS_getsid,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_time,
	SYS_times,
	SYS_getrusage,
	SYS_getrlimit,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrandom,
	SYS_umask,
};

/* Landlock restricts the paths. It does not check changes of mode, so only fchmod is allowed. */
static const int writing[] = {
	SYS_rename, SYS_renameat, SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_link,
	SYS_linkat, SYS_mkdir,	  SYS_mkdirat,	 SYS_rmdir,  SYS_fchmod,
};

static const int fetching[] = {
	SYS_connect,  SYS_sendto,     SYS_sendmsg,    SYS_sendmmsg,    SYS_recvfrom,
	SYS_recvmsg,  SYS_recvmmsg,   SYS_setsockopt, SYS_getsockopt,  SYS_getsockname,
	SYS_shutdown, SYS_socketpair, SYS_bind,	      SYS_getpeername,
};

/* --- calls that raise SIGSYS --- */

/* Not needed for reading files, but useful for attackers: other programs, processes, privileges. */
static const struct deadly {
	int nr;
	const char *name;
} deadly[] = {
#define D(name)                                                                                    \
	{                                                                                          \
		SYS_##name, #name                                                                  \
	}
	D(execve),
	D(execveat),
	D(fork),
	D(vfork),
	D(clone),
	D(kill),
	D(tkill),
	D(tgkill),
	D(rt_sigqueueinfo),
	D(rt_tgsigqueueinfo),
	D(pidfd_open),
	D(pidfd_getfd),
	D(pidfd_send_signal),
	D(ptrace),
	D(process_vm_readv),
	D(process_vm_writev),
	D(process_madvise),
	D(perf_event_open),
	D(bpf),
	D(userfaultfd),
	D(io_uring_setup),
	D(socket),
	D(socketpair),
	D(connect),
	D(bind),
	D(listen),
	D(accept),
	D(accept4),
	D(sendto),
	D(sendmsg),
	D(sendmmsg),
	D(mount),
	D(umount2),
	D(move_mount),
	D(open_tree),
	D(fsopen),
	D(fsconfig),
	D(fsmount),
	D(fspick),
	D(mount_setattr),
	D(pivot_root),
	D(chroot),
	D(setns),
	D(unshare),
	D(setuid),
	D(setgid),
	D(setreuid),
	D(setregid),
	D(setresuid),
	D(setresgid),
	D(setgroups),
	D(setfsuid),
	D(setfsgid),
	D(capset),
	D(keyctl),
	D(add_key),
	D(request_key),
	D(init_module),
	D(finit_module),
	D(delete_module),
	D(kexec_load),
	D(kexec_file_load),
	D(reboot),
	D(swapon),
	D(swapoff),
	D(iopl),
	D(ioperm),
	D(mknod),
	D(mknodat),
	D(symlink),
	D(symlinkat),
	D(open_by_handle_at),
	D(clock_settime),
	D(settimeofday),
	D(sethostname),
	D(personality),
#undef D
};

const char *ptc_syscalls_name(int nr)
{
	size_t i;

	for (i = 0; i < COUNT(deadly); i++)
		if (deadly[i].nr == nr)
			return deadly[i].name;
	return NULL;
}

/* --- the BPF program --- */

struct filter {
	struct sock_filter *code;
	size_t n;
};

static void append_bpf_insn(struct filter *f, struct sock_filter insn)
{
	assert(f->n < PTC_SYSCALLS_MAX);
	f->code[f->n++] = insn;
}

static void put_ret(struct filter *f, uint32_t action)
{
	append_bpf_insn(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/*
 * Add a rule for call @nr. The call's number is in the accumulator, and stays there for later
 * rules.
 */
static void answer(struct filter *f, int nr, uint32_t action)
{
	append_bpf_insn(
		f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0, 1));
	put_ret(f, action);
}

static void answer_all(struct filter *f, const int *nrs, size_t n, uint32_t action)
{
	size_t i;

	for (i = 0; i < n; i++)
		answer(f, nrs[i], action);
}

struct test {
	uint32_t mask, value; /* (argument & mask) == value */
};

/*
 * Add a rule for call @nr that tests an argument: @hit if one test succeeds, otherwise @miss. Only
 * the low 32 bits are tested, which are all that the kernel uses. Each of these arguments is an int
 * or flags.
 */
static void decide(struct filter *f, int nr, unsigned int arg, const struct test *tests, size_t n,
		   uint32_t hit, uint32_t miss)
{
	const uint32_t off =
		(uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
	size_t i;

	assert(4 * n + 1 <= UINT8_MAX);
	append_bpf_insn(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0,
							(uint8_t)(4 * n + 1)));
	for (i = 0; i < n; i++) {
		append_bpf_insn(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, off));
		append_bpf_insn(
			f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, tests[i].mask));
		append_bpf_insn(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								tests[i].value, 0, 1));
		put_ret(f, hit);
	}
	put_ret(f, miss);
}

#define DECIDE(f, nr, arg, tests, hit, miss) decide(f, nr, arg, tests, COUNT(tests), hit, miss)
#define EXACTLY(v)                                                                                 \
	{                                                                                          \
		UINT32_MAX, (uint32_t)(v)                                                          \
	}

/* A command without output may open files for reading, and nameless files. */
static void put_opening(struct filter *f, const struct ptc_syscalls *o)
{
	static const struct test reads[] = { { O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
					     { O_TMPFILE | O_CREAT, O_TMPFILE } };
	const bool any = o->writes || o->fetches;
	const uint32_t miss = any ? ALLOW : FAIL(EPERM);

	DECIDE(f, SYS_openat, 2, reads, ALLOW, miss);
	DECIDE(f, SYS_open, 1, reads, ALLOW, miss);
	answer(f, SYS_openat2, any || o->confined ? ALLOW : FAIL(ENOSYS));
}

/* Forbid executable memory, except for libraries loaded late for name services. */
static void put_mapping(struct filter *f, const struct ptc_syscalls *o)
{
	static const struct test data[] = { { PROT_EXEC, 0 } };
	const uint32_t miss = o->fetches ? ALLOW : FAIL(EACCES);

	DECIDE(f, SYS_mmap, 2, data, ALLOW, miss);
	DECIDE(f, SYS_mprotect, 2, data, ALLOW, miss);
}

/* Allow signals to this process only, and threads but no processes. */
static void put_tasks(struct filter *f)
{
	static const struct test threads[] = { { CLONE_THREAD | CLONE_VM,
						 CLONE_THREAD | CLONE_VM } };
	static const struct test mine[] = { EXACTLY(0) };
	const struct test self[] = { EXACTLY(getpid()) };

	DECIDE(f, SYS_clone, 0, threads, ALLOW, TRAP);
	/* its flags are in memory; glibc falls back to clone */
	answer(f, SYS_clone3, FAIL(ENOSYS));
	DECIDE(f, SYS_tgkill, 0, self, ALLOW, TRAP);
	DECIDE(f, SYS_kill, 0, self, ALLOW, TRAP);
	DECIDE(f, SYS_prlimit64, 0, mine, ALLOW, FAIL(EPERM));
	DECIDE(f, SYS_sched_setaffinity, 0, mine, ALLOW, FAIL(EPERM));
}

static void put_controls(struct filter *f)
{
	/* Signals to other processes on file events. */
	static const struct test owners[] = { EXACTLY(F_SETOWN), EXACTLY(F_SETOWN_EX),
					      EXACTLY(F_SETSIG) };
	/* Only queries. TIOCSTI could type into the user's terminal. */
	static const struct test questions[] = { EXACTLY(TCGETS), EXACTLY(TIOCGWINSZ),
						 EXACTLY(FIONREAD), EXACTLY(FIONBIO) };
	static const struct test names[] = { EXACTLY(PR_SET_NAME), EXACTLY(PR_GET_NAME),
					     EXACTLY(PR_SET_VMA) };

	DECIDE(f, SYS_fcntl, 1, owners, FAIL(EPERM), ALLOW);
	DECIDE(f, SYS_ioctl, 1, questions, ALLOW, FAIL(ENOTTY));
	DECIDE(f, SYS_prctl, 0, names, ALLOW, FAIL(EPERM));
}

/* Allow futimens(2), which has no path. libipt identifies a file by its modification time. */
static void put_times(struct filter *f)
{
	const uint32_t name = (uint32_t)offsetof(struct seccomp_data, args[1]);

	append_bpf_insn(
		f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_utimensat, 0, 6));
	append_bpf_insn(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, name));
	append_bpf_insn(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
	append_bpf_insn(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, name + 4));
	append_bpf_insn(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
	put_ret(f, ALLOW);
	put_ret(f, FAIL(EPERM));
}

static void put_sockets(struct filter *f)
{
	/* AF_UNIX is forbidden: a daemon behind such a socket could act for an attacker. */
	static const struct test families[] = { EXACTLY(AF_INET), EXACTLY(AF_INET6),
						EXACTLY(AF_NETLINK) };

	DECIDE(f, SYS_socket, 0, families, ALLOW, FAIL(EAFNOSUPPORT));
	answer_all(f, fetching, COUNT(fetching), ALLOW);
}

size_t ptc_syscalls_filter(const struct ptc_syscalls *o, struct sock_filter *code)
{
	struct filter f = { code, 0 };
	size_t i;

	append_bpf_insn(&f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, arch)));
	append_bpf_insn(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 AUDIT_ARCH_X86_64, 1, 0));
	put_ret(&f, TRAP);
	append_bpf_insn(&f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, nr)));
	append_bpf_insn(&f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1));
	put_ret(&f, TRAP);
	/*
	 * First the calls whose arguments are tested. The kernel caches results only for the other
	 * calls.
	 */
	put_opening(&f, o);
	put_mapping(&f, o);
	put_controls(&f);
	put_tasks(&f);
	put_times(&f);
	answer_all(&f, common, COUNT(common), ALLOW);
	if (o->writes || o->fetches)
		answer_all(&f, writing, COUNT(writing), ALLOW);
	else
		answer_all(&f, writing, COUNT(writing), FAIL(EPERM));
	if (o->fetches)
		put_sockets(&f);
	if (o->serves)
		answer(&f, SYS_accept4, ALLOW);
	for (i = 0; i < COUNT(deadly); i++)
		answer(&f, deadly[i].nr, TRAP);
	put_ret(&f, FAIL(ENOSYS));
	return f.n;
}
