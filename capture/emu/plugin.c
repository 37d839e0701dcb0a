/* SPDX-License-Identifier: MIT */
/*
 * ptcap-emu.so: what QEMU's user mode emulation loads. It writes down which
 * blocks each guest thread enters, their code, and the system calls that matter;
 * what that means in packets is ptcap's business (unit.c). It needs the C
 * library and nothing else.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "capture/emu/arena.h"
#include "capture/emu/owner.h"
#include "capture/emu/plugin.h"
#include "capture/emu/qemu.h"

enum {
	LOOK_NS = 50000000, /* is ptcap still there? asked so often while waiting for it */
	INSN_MAX = 15,
	PAGE = 4096,
};

struct ptc_emu_proc ptc_emu_proc;

/* Initial-exec: one instruction to find it; the C library keeps room for a little of that. */
static __thread struct ptc_emu_me me __attribute__((tls_model("initial-exec")));

/* Where the words go when nobody wants them. */
static uint32_t nowhere[PTC_EMU_WORDS];
static struct ptc_emu_slot no_slot;

struct ptc_emu_me *ptc_emu_me(void)
{
	return &me;
}

static bool stopped(void)
{
	return atomic_load_explicit(&ptc_emu_proc.sh->stop, memory_order_relaxed);
}

static void stop(void)
{
	atomic_store(&ptc_emu_proc.sh->stop, 1);
}

/* --- waiting --- */

static long futex(atomic_uint *word, int op, unsigned int val, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, val, timeout, NULL, 0);
}

static void ring_bell(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;

	(void)atomic_fetch_add(&sh->bell, 1);
	if (atomic_load(&sh->sleeping))
		(void)futex(&sh->bell, FUTEX_WAKE, 1, NULL);
}

/* Sleep while *@word is @seen, or until it is time to see if there still is somebody who records.
 */
static void await(atomic_uint *word, unsigned int seen)
{
	static const struct timespec look = { .tv_nsec = LOOK_NS };

	ring_bell();
	if (futex(word, FUTEX_WAIT, seen, &look) && errno == ETIMEDOUT &&
	    !ptc_emu_owner_lives(ptc_emu_proc.sh))
		stop();
}

/* Until the trace unit has read up to @want of this thread's stream. */
static void wait_tail(struct ptc_emu_me *m, uint64_t want)
{
	struct ptc_emu_slot *slot = m->slot;
	const int saved = errno;

	while (!stopped()) {
		const unsigned int seen = atomic_load(&slot->room);

		atomic_store(&slot->waiting, 1);
		if (atomic_load(&slot->tail) >= want)
			break;
		await(&slot->room, seen);
	}
	atomic_store(&slot->waiting, 0);
	errno = saved;
}

/* --- the stream --- */

static void to_nowhere(struct ptc_emu_me *m)
{
	m->slot = &no_slot;
	m->ring = nowhere;
	m->limit = UINT64_MAX;
}

static void set_limit(struct ptc_emu_me *m, uint64_t tail)
{
	const uint64_t full = tail + PTC_EMU_WORDS;

	m->limit = m->pos + PTC_EMU_WAKE < full ? m->pos + PTC_EMU_WAKE : full;
}

/* At the limit: ring, and wait if the ring is full. */
static void make_room(struct ptc_emu_me *m)
{
	uint64_t tail;

	if (stopped()) {
		to_nowhere(m);
		return;
	}
	tail = atomic_load_explicit(&m->slot->tail, memory_order_acquire);
	if (m->pos - tail >= PTC_EMU_WORDS) {
		wait_tail(m, m->pos - PTC_EMU_WORDS / 2);
		if (stopped()) {
			to_nowhere(m);
			return;
		}
		tail = atomic_load_explicit(&m->slot->tail, memory_order_acquire);
	} else {
		ring_bell();
	}
	set_limit(m, tail);
}

static void put_word(struct ptc_emu_me *m, uint32_t word)
{
	if (m->pos == m->limit)
		make_room(m);
	m->ring[m->pos % PTC_EMU_WORDS] = word;
	m->pos++;
}

static void publish(struct ptc_emu_me *m)
{
	atomic_store_explicit(&m->slot->head, m->pos, memory_order_release);
}

static void put_bytes(struct ptc_emu_me *m, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint32_t word;

	for (; len; p += sizeof(word)) {
		const size_t n = len < sizeof(word) ? len : sizeof(word);

		word = 0;
		memcpy(&word, p, n);
		put_word(m, word);
		len -= n;
	}
}

static uint32_t words_of(size_t len)
{
	return (uint32_t)((len + 3) / 4);
}

void ptc_emu_put_text(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len,
		      const char *text)
{
	const size_t text_len = text ? strnlen(text, PTC_EMU_PATH - 1) + 1 : 0;

	put_word(m, ptc_emu_event(type, words_of(len) + words_of(text_len)));
	put_bytes(m, payload, len);
	put_bytes(m, text, text_len);
	publish(m);
}

void ptc_emu_put(struct ptc_emu_me *m, uint32_t type, const void *payload, size_t len)
{
	ptc_emu_put_text(m, type, payload, len, NULL);
}

void ptc_emu_sync(struct ptc_emu_me *m)
{
	if (m->slot && m->slot != &no_slot)
		wait_tail(m, m->pos);
}

/* --- threads --- */

static void raise_to(atomic_uint *v, unsigned int n)
{
	unsigned int old = atomic_load(v);

	while (old < n && !atomic_compare_exchange_weak(v, &old, n))
		;
}

/* How many of the slots those may take who come to be in this way. */
static uint32_t slots_for(enum ptc_emu_how how)
{
	if (how == PTC_EMU_VISIT)
		return PTC_EMU_SLOTS;
	return how == PTC_EMU_EXEC ? PTC_EMU_SLOTS - PTC_EMU_FOR_VISITS :
				     PTC_EMU_SLOTS - PTC_EMU_FOR_EXEC;
}

static struct ptc_emu_slot *try_slot(enum ptc_emu_how how, uint32_t *ret_index)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	const uint32_t n = slots_for(how);
	uint32_t i;

	for (i = 0; i < n; i++) {
		unsigned int want = PTC_EMU_FREE;

		if (atomic_load_explicit(&sh->slots[i].state, memory_order_relaxed) == want &&
		    atomic_compare_exchange_strong(&sh->slots[i].state, &want, PTC_EMU_TAKEN)) {
			raise_to(&sh->nslots, i + 1);
			*ret_index = i;
			return &sh->slots[i];
		}
	}
	return NULL;
}

/* What is not used any more is free when this returns. */
static void ask_for_slots(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	const unsigned int mine = atomic_fetch_add(&sh->asked, 1) + 1;
	const int saved = errno;

	while (!stopped()) {
		const unsigned int seen = atomic_load(&sh->answered);

		if ((int)(seen - mine) >= 0)
			break;
		await(&sh->answered, seen);
	}
	errno = saved;
}

/* NULL: as many threads are recorded as there can be, or we record no more. */
static struct ptc_emu_slot *take_slot(enum ptc_emu_how how, uint32_t *ret_index)
{
	struct ptc_emu_slot *slot;

	if (stopped() || ptc_emu_proc.untraced)
		return NULL;
	slot = try_slot(how, ret_index);
	if (slot)
		return slot;
	ask_for_slots();
	return stopped() ? NULL : try_slot(how, ret_index);
}

/* The reader would not know what is mapped in a process whose beginning it has not seen. */
static void not_traced(enum ptc_emu_how how)
{
	if (stopped())
		return;
	(void)atomic_fetch_add(&ptc_emu_proc.sh->untraced, 1);
	if (how != PTC_EMU_THREAD)
		ptc_emu_proc.untraced = true;
}

static void open_stream(struct ptc_emu_me *m, struct ptc_emu_slot *slot, uint32_t index,
			const struct ptc_emu_start *start)
{
	m->slot = slot;
	atomic_store(&slot->pid, ptc_emu_proc.pid);
	atomic_store(&slot->born, atomic_fetch_add(&ptc_emu_proc.sh->births, 1) + 1);
	m->ring = ptc_emu_ring(ptc_emu_proc.sh, index);
	m->pos = atomic_load(&slot->head);
	set_limit(m, atomic_load(&slot->tail));
	ptc_emu_put(m, PTC_EMU_START, start, sizeof(*start));
}

static void join_as(struct ptc_emu_me *m, enum ptc_emu_how how, int ppid)
{
	struct ptc_emu_start start = { .pid = ptc_emu_proc.pid,
				       .tid = (int32_t)syscall(SYS_gettid),
				       .ppid = ppid,
				       .ptid = ppid,
				       .how = how,
				       .base = ptc_emu_proc.base };
	struct ptc_emu_slot *slot;
	uint32_t index;

	(void)atomic_fetch_add(&ptc_emu_proc.threads, 1);
	slot = take_slot(how, &index);
	if (slot) {
		open_stream(m, slot, index, &start);
		return;
	}
	not_traced(how);
	to_nowhere(m);
}

void ptc_emu_join(struct ptc_emu_me *m)
{
	if (!m->slot)
		join_as(m, PTC_EMU_THREAD, ptc_emu_proc.pid);
}

void ptc_emu_part(struct ptc_emu_me *m)
{
	if (!m->slot)
		return;
	(void)atomic_fetch_sub(&ptc_emu_proc.threads, 1);
	if (m->slot != &no_slot) {
		ptc_emu_put(m, PTC_EMU_EXIT, NULL, 0);
		ring_bell();
	}
	*m = (struct ptc_emu_me){ .slot = NULL };
}

bool ptc_emu_visits(const struct ptc_emu_me *m)
{
	return m->slot == &no_slot && !ptc_emu_proc.untraced && !stopped();
}

bool ptc_emu_visit(struct ptc_emu_me *ret)
{
	const struct ptc_emu_start start = { .pid = ptc_emu_proc.pid,
					     .tid = (int32_t)syscall(SYS_gettid),
					     .how = PTC_EMU_VISIT,
					     .base = ptc_emu_proc.base };
	struct ptc_emu_slot *slot;
	uint32_t index;

	*ret = (struct ptc_emu_me){ .slot = NULL };
	do /* nobody stays for long in those slots */
		slot = take_slot(PTC_EMU_VISIT, &index);
	while (!slot && !stopped());
	if (slot)
		open_stream(ret, slot, index, &start);
	return slot;
}

void ptc_emu_end_visit(struct ptc_emu_me *m)
{
	ptc_emu_put(m, PTC_EMU_LEAVE, NULL, 0);
	ptc_emu_sync(m);
}

void ptc_emu_forked(struct ptc_emu_me *m)
{
	const int parent = ptc_emu_proc.pid;

	ptc_emu_proc.pid = getpid();
	atomic_store(&ptc_emu_proc.threads, 0);
	if (!m->slot)
		return;
	m->slot = NULL;
	join_as(m, PTC_EMU_FORK, parent);
}

static void before_fork(void)
{
	ptc_emu_sync(&me);
}

static void in_child(void)
{
	ptc_emu_forked(&me);
}

/* --- blocks --- */

/*
 * A thread's first block. @env: the frame pointer that the translated code had
 * (plugin.h). No jump led here, so its rip is up to date; that shows if it is what
 * we believe.
 */
static __attribute__((noinline)) void first_block(struct ptc_emu_me *m, const uint64_t *env,
						  const void *data)
{
	const struct ptc_emu_block *b = ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)data);

	ptc_emu_join(m);
	m->env = env;
	if (env[PTC_ENV_RIP] == b->start)
		ptc_emu_proc.env_works = true;
}

static inline void enter(struct ptc_emu_me *m, const void *data)
{
	m->ring[m->pos % PTC_EMU_WORDS] = (uint32_t)(uintptr_t)data;
	m->pos++;
	publish(m);
}

/* Code that has become a handler since it was translated goes through on_block. */
static __attribute__((noinline)) void look_for_handler(struct ptc_emu_me *m, const void *data)
{
	const struct ptc_emu_block *b = ptc_emu_block(ptc_emu_proc.sh, (uint32_t)(uintptr_t)data);

	if (ptc_emu_is_handler(b->start))
		ptc_emu_delivered(m);
}

static void on_block(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &me;

	(void)vcpu;
	if (__builtin_expect(!m->env, 0))
		first_block(m, *(const uint64_t **)__builtin_frame_address(0), data);
	if (__builtin_expect(atomic_load_explicit(&ptc_emu_proc.late, memory_order_relaxed), 0))
		look_for_handler(m, data);
	if (__builtin_expect(m->pos == m->limit, 0))
		make_room(m);
	enter(m, data);
}

static void on_handler_block(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &me;

	(void)vcpu;
	if (!m->env)
		first_block(m, *(const uint64_t **)__builtin_frame_address(0), data);
	ptc_emu_delivered(m);
	if (m->pos == m->limit)
		make_room(m);
	enter(m, data);
}

/*
 * There was no room for this block: this thread's stream ends before it, the others'
 * where the trace unit says. Until it has, what we map is not seen by them, either.
 */
static void on_unrecorded(unsigned int vcpu, void *data)
{
	struct ptc_emu_me *m = &me;
	const int saved = errno;

	(void)vcpu;
	(void)data;
	if (stopped())
		return;
	if (m->slot && m->slot != &no_slot)
		ptc_emu_put(m, PTC_EMU_LEAVE, NULL, 0);
	to_nowhere(m);
	atomic_store(&ptc_emu_proc.sh->full, 1);
	while (!stopped())
		await(&ptc_emu_proc.sh->stop, 0);
	errno = saved;
}

/*
 * Code from the guest's memory: QEMU's own copy of an instruction that crosses into
 * the next page is cut short. What is behind the page of the instruction at @last
 * need not be there. Returns how many bytes could be read.
 */
static size_t read_code(void *out, uint64_t addr, size_t len, uint64_t last)
{
	const size_t sure = (size_t)((last | (PAGE - 1)) + 1 - addr);
	const size_t n = sure < len ? sure : len;
	struct iovec local = { .iov_base = (uint8_t *)out + n, .iov_len = len - n };
	struct iovec remote = { .iov_base = (void *)(addr + ptc_emu_proc.base + n),
				.iov_len = len - n };

	if (ptc_emu_vsyscall(addr))
		return 0;
	memcpy(out, (void *)(addr + ptc_emu_proc.base), n);
	if (n < len && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)(len - n))
		return len;
	return n;
}

static void begin(void)
{
	const char *path = qemu_plugin_path_to_binary();
	struct ptc_emu_me *m = &me;

	ptc_emu_proc.begun = true;
	ptc_emu_proc.pid = getpid();
	ptc_emu_watch_death();
	join_as(m, ptc_emu_proc.how, getppid());
	ptc_emu_tell_loaded(m, path ? path : "");
	free((void *)path);
}

/*
 * Bytes of @insn; the most there can be where QEMU's own may be cut short. Not what is
 * behind it: that may change while the block does not, and would make it another one.
 */
static size_t insn_size(const struct qemu_plugin_insn *insn)
{
	const size_t size = qemu_plugin_insn_size(insn);

	if (!size || size > INSN_MAX || qemu_plugin_insn_vaddr(insn) % PAGE + INSN_MAX > PAGE)
		return INSN_MAX;
	return size;
}

/* The block's place in the arena; 0: it has none. */
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

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	const uint64_t start = qemu_plugin_tb_vaddr(tb);
	uint32_t place;

	(void)id;
	ptc_emu_proc.base =
		(uint64_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)) - start;
	if (stopped())
		return;
	if (!ptc_emu_proc.begun)
		begin();
	ptc_emu_translated(start);
	place = describe(tb);
	qemu_plugin_register_vcpu_tb_exec_cb(tb,
					     !place		       ? on_unrecorded :
					     ptc_emu_is_handler(start) ? on_handler_block :
									 on_block,
					     0, (void *)(uintptr_t)place);
}

/* --- the plugin --- */

static bool probed; /* ptcap only wants to know if we can be loaded (fits.c) */

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

static bool take_option(const char *o)
{
	if (!strncmp(o, "shm=", 4))
		ptc_emu_proc.shm_id = (int)strtol(o + 4, NULL, 10);
	else if (!strncmp(o, "comm=", 5))
		return from_hex(o + 5, ptc_emu_proc.comm, sizeof(ptc_emu_proc.comm));
	else if (!strcmp(o, "how=probe"))
		probed = true;
	else if (!strncmp(o, "how=", 4))
		ptc_emu_proc.how = o[4] == 'e' ? PTC_EMU_EXEC : PTC_EMU_FIRST;
	else
		return false;
	return true;
}

extern __attribute__((visibility("default"))) int qemu_plugin_version;
int qemu_plugin_version = PTC_QEMU_PLUGIN_VERSION;

static bool know_ourselves(void)
{
	Dl_info info;

	return dladdr(&qemu_plugin_version, &info) &&
	       (size_t)snprintf(ptc_emu_proc.plugin, sizeof(ptc_emu_proc.plugin), "%s",
				info.dli_fname) < sizeof(ptc_emu_proc.plugin);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv);

/* QEMU says which plugin it could not load, and ends; ptcap says what that means. */
int qemu_plugin_install(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv)
{
	void *map;
	int i;

	if (strcmp(info->target_name, "x86_64") != 0 || info->system_emulation)
		return -1;
	for (i = 0; i < argc; i++)
		if (!take_option(argv[i]))
			return -1;
	map = shmat(ptc_emu_proc.shm_id, NULL, 0);
	if (map == (void *)-1 || !know_ourselves())
		return -1;
	ptc_emu_proc.sh = map;
	if (ptc_emu_proc.sh->version != PTC_EMU_VERSION)
		return -1;
	(void)atomic_fetch_add(&ptc_emu_proc.sh->loaded, 1);
	if (probed)
		_exit(0);
	if (pthread_atfork(before_fork, NULL, in_child))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_vcpu_syscall_cb(id, ptc_emu_call);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, ptc_emu_called);
	return 0;
}
