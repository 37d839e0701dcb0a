/* SPDX-License-Identifier: MIT */
/* Handles the guest's system calls that change code, or that change which threads run. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/emu/missing_syscalls.h"
#include "capture/emu/plugin.h"

enum {
	PAGE = 4096,
	PR_NAME = 15, /* PR_SET_NAME */
	/* the kernel's struct sigaction: handler, flags, restorer, mask */
	SA_HANDLER_AT = 0,
	SA_RESTORER_AT = 16,
	SA_LEN = 24,
};

/* --- mappings --- */

static void report_guest_map(struct ptc_emu_me *m, const struct ptc_emu_map *map, const char *name)
{
	struct ptc_emu_me visitor;

	if (!m->slot)
		return;
	if (ptc_emu_visits(m)) {
		if (!ptc_emu_visit(&visitor))
			return;
		ptc_emu_put_text(&visitor, PTC_EMU_MAP, map, sizeof(*map), name);
		ptc_emu_end_visit(&visitor);
		return;
	}
	ptc_emu_put_text(m, PTC_EMU_MAP, map, sizeof(*map), name);
	/*
	 * ptcap opens the file before the program can rename or unlink it. Code that other threads
	 * run after this call must also come after it in the recording.
	 */
	if ((name && *name && map->prot & PROT_EXEC) ||
	    atomic_load_explicit(&ptc_emu_proc.threads, memory_order_relaxed) > 1 ||
	    atomic_load_explicit(&ptc_emu_proc.jit, memory_order_relaxed))
		ptc_emu_sync(m);
}

void ptc_emu_tell_data(struct ptc_emu_me *m, const struct ptc_emu_map *map)
{
	if ((ptc_emu_proc.sh->saves_state || ptc_emu_proc.sh->saves_stacks) && m->slot)
		ptc_emu_put_text(m, PTC_EMU_MAP, map, sizeof(*map), "");
}

static uint64_t pages(uint64_t len)
{
	return (len + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static void name_of_fd(int fd, char *out, size_t size)
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* Returns true if @path is that of a jitdump, ".../jit-PID.dump". A JIT maps it to announce it. */
static bool is_jitdump(const char *path)
{
	const char *base = strrchr(path, '/');
	const size_t len = base ? strlen(base) : 0, end = strlen(".dump");

	return len > end && !strncmp(base, "/jit-", strlen("/jit-")) &&
	       !strcmp(base + len - end, ".dump");
}

static void mapped(struct ptc_emu_me *m, uint64_t at)
{
	const uint64_t *a = m->args;
	struct ptc_emu_map map = { .start = at,
				   .len = pages(a[1]),
				   .prot = (uint32_t)a[2],
				   .flags = (uint32_t)a[3] & (MAP_SHARED | MAP_PRIVATE),
				   .change = PTC_EMU_MMAP };
	char name[PTC_EMU_PATH] = "";
	struct stat st;

	if (!(a[3] & MAP_ANONYMOUS) && !fstat((int)a[4], &st)) {
		map.off = a[5];
		map.maj = major(st.st_dev);
		map.min = minor(st.st_dev);
		map.ino = st.st_ino;
		name_of_fd((int)a[4], name, sizeof(name));
		if (a[2] & PROT_EXEC && is_jitdump(name))
			atomic_store(&ptc_emu_proc.jit, true);
	} else if (!(a[2] & PROT_EXEC) && !(a[3] & MAP_FIXED)) {
		map.change = PTC_EMU_DATA;
		ptc_emu_tell_data(m, &map);
		return;
	}
	ptc_emu_points_mapped(&map, name);
	report_guest_map(m, &map, name);
}

static void changed(struct ptc_emu_me *m, uint64_t ret)
{
	const uint64_t *a = m->args;
	struct ptc_emu_map map = { .start = a[0], .len = pages(a[1]) };

	switch (m->call) {
	case SYS_mmap:
		mapped(m, ret);
		return;
	case SYS_munmap:
		map.change = PTC_EMU_MUNMAP;
		break;
	case SYS_mprotect:
	case SYS_pkey_mprotect:
		map.change = PTC_EMU_MPROTECT;
		map.prot = (uint32_t)a[2];
		break;
	default:
		map.change = PTC_EMU_MREMAP;
		map.from = a[0];
		map.from_len = pages(a[1]);
		map.start = ret;
		map.len = pages(a[2]);
		break;
	}
	report_guest_map(m, &map, NULL);
}

/* --- callbacks --- */

/*
 * Registers the handler before the call, even if the call will fail: a delivery is verified when
 * the block at that address is entered.
 */
static void on_sigaction(int sig, uint64_t guest)
{
	uint64_t handler, restorer;
	uint8_t act[SA_LEN];

	if (ptc_emu_read_guest(guest, act, sizeof(act)) != sizeof(act))
		return;
	memcpy(&handler, act + SA_HANDLER_AT, sizeof(handler));
	memcpy(&restorer, act + SA_RESTORER_AT, sizeof(restorer));
	if (handler <= 1) /* SIG_DFL, SIG_IGN */
		return;
	ptc_emu_handler(handler, restorer);
	ptc_emu_fault_expected(sig);
}

void ptc_emu_call(uint64_t id, unsigned int vcpu, int64_t num, uint64_t a1, uint64_t a2,
		  uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t args[6] = { a1, a2, a3, a4, a5, a6 };
	struct ptc_emu_me *m = &ptc_emu_me;

	(void)id;
	(void)vcpu;
	(void)a7;
	(void)a8;
	m->call = num;
	m->in_call = true;
	if (m->slot)
		atomic_store(&m->slot->call, (unsigned int)num + 1);
	memcpy(m->args, args, sizeof(args));
	switch (num) {
	case SYS_rt_sigaction:
		if (a2)
			on_sigaction((int)a1, a2);
		break;
	case SYS_execve:
	case SYS_execveat:
		ptc_emu_exec(m);
		break;
	case SYS_clock_gettime:
		/* Earlier code must precede the time that the JIT writes. */
		if (atomic_load_explicit(&ptc_emu_proc.jit, memory_order_relaxed))
			ptc_emu_sync(m);
		break;
	case SYS_setns:
		/*
		 * To enter a mount namespace, a thread must not share its file system information
		 * with another thread. In a program with one thread, the other thread is QEMU's.
		 */
		if (atomic_load(&ptc_emu_proc.threads) == 1)
			(void)unshare(CLONE_FS);
		break;
	case SYS_exit_group:
		ptc_emu_exits(m, (int)a1);
		break;
	case SYS_exit:
		if (atomic_load(&ptc_emu_proc.threads) == 1)
			ptc_emu_exits(m, (int)a1);
		ptc_emu_part(m);
		break;
	default:
		break;
	}
}

/*
 * Returns true for a call that limits memory. QEMU ignores such a limit, which would apply to QEMU
 * itself, and reports success.
 */
static bool limits_memory(const struct ptc_emu_me *m)
{
	const bool old = m->call == SYS_setrlimit;
	const uint64_t resource = m->args[!old], limit = m->args[2 - old];
	uint64_t bytes;

	return (old || m->call == SYS_prlimit64) &&
	       (resource == RLIMIT_AS || resource == RLIMIT_DATA) && limit &&
	       ptc_emu_read_guest(limit, &bytes, sizeof(bytes)) == sizeof(bytes) &&
	       bytes != RLIM_INFINITY;
}

void ptc_emu_called(uint64_t id, unsigned int vcpu, int64_t num, int64_t ret)
{
	struct ptc_emu_me *m = &ptc_emu_me;

	(void)id;
	(void)vcpu;
	if (ptc_emu_proc.sh->saves_stacks ||
	    atomic_load_explicit(&ptc_emu_proc.frozen, memory_order_relaxed))
		ptc_emu_park(m, 0); /* still in the call */
	m->in_call = false;
	if (num == m->call && ret < 0)
		ptc_emu_lack_note(ptc_emu_proc.sh, ptc_emu_lack(num, m->args[0], ret));
	if (num == m->call && !ret && limits_memory(m))
		ptc_emu_lack_note(ptc_emu_proc.sh, (int)num);
	if (num == SYS_execve || num == SYS_execveat)
		ptc_emu_exec_failed(m);
	if (num != m->call || (ret < 0 && ret >= -4095))
		return;
	switch (num) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_mremap:
		changed(m, (uint64_t)ret);
		break;
	case SYS_prctl:
		if (m->args[0] == PR_NAME && m->slot) {
			char name[16];

			memcpy(name, ptc_emu_host(m->args[1]), sizeof(name) - 1);
			name[sizeof(name) - 1] = '\0';
			ptc_emu_put_text(m, PTC_EMU_COMM, NULL, 0, name);
		}
		break;
	default:
		break;
	}
}
