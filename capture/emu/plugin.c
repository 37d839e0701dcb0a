/* SPDX-License-Identifier: MIT */
/*
 * ptcap-emu.so: a plugin for QEMU's user mode emulation. It records which blocks each guest thread
 * enters, their code, and the system calls that matter. ptcap converts that into packets
 * (trace_unit.c). The plugin needs only the C library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/emu/block_store.h"
#include "capture/emu/plugin.h"
#include "capture/emu/qemu.h"

enum { INSN_MAX = 15, PAGE = 4096 };

static void before_fork(void)
{
	ptc_emu_sync(&ptc_emu_me);
}

static void in_child(void)
{
	ptc_emu_forked(&ptc_emu_me);
}

/* --- blocks --- */

/*
 * Handles a thread's first block. @env: the frame pointer of the translated code (plugin.h). No
 * jump led to this block, so rip in @env is up to date.
 */
static __attribute__((noinline)) void first_block(struct ptc_emu_me *m, const uint64_t *env,
						  const void *data)
{
	const struct ptc_emu_block *b = ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)data);

	ptc_emu_join(m);
	m->env = env;
	(void)ptc_emu_know_env(env, b->start);
	if (m->slot)
		ptc_emu_show_env(m);
}

/* Makes room for words. Waits while ptcap copies the process. */
static __attribute__((noinline)) void at_limit(struct ptc_emu_me *m, const void *data)
{
	const struct ptc_emu_block *b = ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)data);

	ptc_emu_make_room(m);
	if (ptc_emu_must_be_still())
		ptc_emu_park(m, b->start);
}

static inline void record_block_entry(struct ptc_emu_me *m, const void *data)
{
	m->ring[m->pos % PTC_EMU_WORDS] = (uint32_t)(uintptr_t)data;
	m->pos++;
	ptc_emu_publish(m);
}

/*
 * Waits while the threads are frozen. Then checks for a handler: code that became a handler after
 * its translation still uses on_block.
 */
static __attribute__((noinline)) void look_for_handler(struct ptc_emu_me *m, const void *data)
{
	const struct ptc_emu_block *b = ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)data);

	if (atomic_load(&ptc_emu_proc.frozen))
		ptc_emu_park(m, b->start);
	if (ptc_emu_is_handler(b->start))
		ptc_emu_delivered(m, b->start);
}

static void on_block(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &ptc_emu_me;

	(void)vcpu;
	if (__builtin_expect(!m->env, 0))
		first_block(m, *(const uint64_t **)__builtin_frame_address(0), data);
	if (__builtin_expect(atomic_load_explicit(&ptc_emu_proc.late, memory_order_relaxed), 0))
		look_for_handler(m, data);
	if (__builtin_expect(m->pos == m->limit, 0))
		at_limit(m, data);
	record_block_entry(m, data);
}

static void on_handler_block(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &ptc_emu_me;

	(void)vcpu;
	if (!m->env)
		first_block(m, *(const uint64_t **)__builtin_frame_address(0), data);
	look_for_handler(m, data);
	if (m->pos == m->limit)
		at_limit(m, data);
	record_block_entry(m, data);
}

/* A block with places at which a snapshot is taken. @data also has the set of these places. */
static void on_point_block(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &ptc_emu_me;
	const void *place = (const void *)((uintptr_t)data & UINT32_MAX);

	(void)vcpu;
	if (!m->env)
		first_block(m, *(const uint64_t **)__builtin_frame_address(0), place);
	look_for_handler(m, place);
	if (m->pos == m->limit)
		at_limit(m, place);
	record_block_entry(m, place);
	ptc_emu_points_reached(m, ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)place)->start,
			       (uint64_t)(uintptr_t)data >> 32);
}

/*
 * The arena has no space for this block. This thread's stream ends before it. The trace unit
 * decides where the other threads' streams end. This thread waits for that, so it maps no code that
 * the other streams would contain.
 */
static void on_unrecorded(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &ptc_emu_me;
	const int saved = errno;

	(void)vcpu;
	(void)data;
	if (ptc_emu_stopped())
		return;
	if (ptc_emu_has_stream(m))
		ptc_emu_put(m, PTC_EMU_LEAVE, NULL, 0);
	ptc_emu_to_nowhere(m);
	atomic_store(&ptc_emu_proc.sh->full, 1);
	while (!ptc_emu_stopped())
		ptc_emu_await(&ptc_emu_proc.sh->stop, 0);
	errno = saved;
}

/*
 * Reads code from the guest's memory: QEMU's own copy of an instruction that crosses into the next
 * page is cut short. The page after the instruction at @last may be unmapped. Returns the number of
 * bytes read.
 */
static size_t read_code(void *out, uint64_t addr, size_t len, uint64_t last)
{
	const size_t sure = (size_t)((last | (PAGE - 1)) + 1 - addr);
	const size_t n = sure < len ? sure : len;
	struct iovec local = { .iov_base = (uint8_t *)out + n, .iov_len = len - n };
	struct iovec remote = { .iov_base = ptc_emu_host(addr + n), .iov_len = len - n };

	if (ptc_emu_vsyscall(addr))
		return 0;
	memcpy(out, ptc_emu_host(addr), n);
	if (n < len && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)(len - n))
		return len;
	return n;
}

static void join_recording(void)
{
	struct ptc_emu_me *m = &ptc_emu_me;

	ptc_emu_proc.begun = true;
	ptc_emu_know_pid();
	ptc_emu_watch_death();
	ptc_emu_watch_defaults();
	ptc_emu_join_as(m, ptc_emu_proc.how, getppid());
	ptc_emu_tell_loaded(m, ptc_emu_proc.path);
}

/*
 * Returns the size of @insn, or the maximum if QEMU's copy may be cut short. The bytes after the
 * instruction must be left out. They may change while the block stays the same, and would make it a
 * different block.
 */
static size_t insn_size(const struct qemu_plugin_insn *insn)
{
	const size_t size = qemu_plugin_insn_size(insn);

	if (!size || size > INSN_MAX || qemu_plugin_insn_vaddr(insn) % PAGE + INSN_MAX > PAGE)
		return INSN_MAX;
	return size;
}

/* Returns the block's place in the arena; 0: none. */
static uint32_t describe(const struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n - 1);
	const uint64_t last = qemu_plugin_insn_vaddr(insn);
	struct ptc_emu_block b = { .start = qemu_plugin_tb_vaddr(tb), .insns = (uint32_t)n };
	const size_t len = (size_t)(last - b.start) + insn_size(insn);
	uint8_t code[PTC_EMU_BLOCK_MAX];

	if (len > sizeof(code))
		return 0;
	b.len = (uint32_t)read_code(code, b.start, len, last);
	return ptc_emu_arena_place(ptc_emu_proc.sh, &b, code);
}

/* Returns the set of places in the block. */
static uint64_t points_in(const struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	uint64_t ret = 0;
	size_t i;

	for (i = 0; ptc_emu_proc.sh->npoints && i < n; i++)
		ret |= ptc_emu_points_at(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, i)));
	return ret;
}

static ptc_qemu_exec_fn *callback_of(uint32_t place, uint64_t points, uint64_t start)
{
	if (!place)
		return on_unrecorded;
	if (points)
		return on_point_block;
	return ptc_emu_is_handler(start) ? on_handler_block : on_block;
}

static void on_first_block(unsigned int vcpu, void *data)
{
	(void)vcpu;
	ptc_emu_begin(*(const uint64_t **)__builtin_frame_address(0), (uint64_t)(uintptr_t)data);
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	const uint64_t start = qemu_plugin_tb_vaddr(tb);
	static bool any;
	uint64_t points;
	uint32_t place;

	(void)id;
	ptc_emu_proc.base =
		(uint64_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)) - start;
	if (!any) /* recorded or not */
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_first_block, 0,
						     (void *)(uintptr_t)start);
	any = true;
	if (ptc_emu_stopped())
		return;
	if (!ptc_emu_proc.begun)
		join_recording();
	ptc_emu_translated(start);
	place = describe(tb);
	points = points_in(tb);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, callback_of(place, points, start), 0,
					     (void *)(uintptr_t)(points << 32 | place));
}

/* --- the plugin --- */

static int shared_fd = -1; /* leads to the recording's memory, from another IPC namespace */
static bool probed;	   /* ptcap only checks that the plugin loads (command_check.c) */

static bool from_hex(const char *s, char *out, size_t size)
{
	size_t i;

	for (i = 0; s[2 * i] && s[2 * i + 1] && i + 1 < size; i++) {
		const char byte[3] = { s[2 * i], s[2 * i + 1], '\0' };

		out[i] = (char)strtoul(byte, NULL, 16);
	}
	out[i] = '\0';
	return true;
}

static bool parse_plugin_option(const char *o)
{
	if (!strncmp(o, "shm=", 4))
		ptc_emu_proc.shm_id = (int)strtol(o + 4, NULL, 10);
	else if (!strncmp(o, "fd=", 3))
		shared_fd = (int)strtol(o + 3, NULL, 10);
	else if (!strncmp(o, "comm=", 5))
		return from_hex(o + 5, ptc_emu_proc.comm, sizeof(ptc_emu_proc.comm));
	else if (!strncmp(o, "path=", 5))
		(void)snprintf(ptc_emu_proc.path, sizeof(ptc_emu_proc.path), "%s", o + 5);
	else if (!strcmp(o, "how=probe"))
		probed = true;
	else if (!strncmp(o, "how=", 4))
		ptc_emu_proc.how = o[4] == 'e' ? PTC_EMU_EXEC : PTC_EMU_FIRST;
	else
		return false;
	return true;
}

/* Resolves the program's path, before the guest can change its directory. */
static void know_program(void)
{
	char path[PATH_MAX];

	if (realpath(ptc_emu_proc.path, path) && strlen(path) < sizeof(ptc_emu_proc.exe))
		memcpy(ptc_emu_proc.exe, path, strlen(path) + 1);
}

static bool know_ourselves(void)
{
	Dl_info info;

	return dladdr(&qemu_plugin_version, &info) &&
	       (size_t)snprintf(ptc_emu_proc.plugin, sizeof(ptc_emu_proc.plugin), "%s",
				info.dli_fname) < sizeof(ptc_emu_proc.plugin);
}

/* Attaches the recording's memory. NULL: not accessible. */
static struct ptc_emu_shared *attach(void)
{
	struct stat st;
	void *map = MAP_FAILED; /* equals the error value of shmat */

	if (shared_fd < 0) {
		map = shmat(ptc_emu_proc.shm_id, NULL, 0);
	} else if (!fstat(shared_fd, &st)) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd,
			   0);
		(void)close(shared_fd);
	}
	if (map == MAP_FAILED)
		return NULL;
	/* Keeps the recording's memory (about a gigabyte) out of the program's core file. */
	(void)madvise(map, ptc_emu_segment_size(((struct ptc_emu_shared *)map)->arena_size),
		      MADV_DONTDUMP);
	return map;
}

__attribute__((visibility("default"))) int
qemu_plugin_install(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv);

/* Entry point. If it fails, QEMU names the plugin and ends; ptcap explains the failure. */
int qemu_plugin_install(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv)
{
	int i;

	if (strcmp(info->target_name, "x86_64") != 0 || info->system_emulation ||
	    info->version.cur >= PTC_QEMU_OTHER_FORMS)
		return -1;
	for (i = 0; i < argc; i++)
		if (!parse_plugin_option(argv[i]))
			return -1;
	ptc_emu_proc.sh = attach();
	if (!ptc_emu_proc.sh || !know_ourselves())
		return -1;
	if (ptc_emu_proc.sh->version != PTC_EMU_VERSION)
		return -1;
	(void)atomic_fetch_add(&ptc_emu_proc.sh->loaded, 1);
	if (probed)
		_exit(0);
	if (pthread_atfork(before_fork, NULL, in_child))
		return -1;
	know_program();
	if (ptc_emu_proc.sh->saves_state || ptc_emu_proc.sh->held_signals)
		ptc_emu_watch_signals();
	ptc_emu_end_turn();
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_vcpu_syscall_cb(id, ptc_emu_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, ptc_emu_called);
	return 0;
}
