/* SPDX-License-Identifier: MIT */
/* Assigns streams to guest threads. There are as many streams as slots. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/emu/pid_namespace.h"
#include "capture/emu/plugin.h"

static void raise_to(atomic_uint *v, unsigned int n)
{
	unsigned int old = atomic_load(v);

	while (old < n && !atomic_compare_exchange_weak(v, &old, n))
		;
}

/* Returns the number of slots that a thread started in the way @how may use. */
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

/* Asks the trace unit to free unused slots, and waits until it has. */
static void ask_for_slots(void)
{
	struct ptc_emu_shared *sh = ptc_emu_proc.sh;
	const unsigned int mine = atomic_fetch_add(&sh->asked, 1) + 1;
	const int saved = errno;

	while (!ptc_emu_stopped()) {
		const unsigned int seen = atomic_load(&sh->answered);

		if ((int)(seen - mine) >= 0)
			break;
		ptc_emu_await(&sh->answered, seen);
	}
	errno = saved;
}

/* Returns NULL if all slots are in use, or recording has stopped. */
static struct ptc_emu_slot *take_slot(enum ptc_emu_how how, uint32_t *ret_index)
{
	struct ptc_emu_slot *slot;

	if (ptc_emu_stopped() || ptc_emu_proc.untraced)
		return NULL;
	slot = try_slot(how, ret_index);
	if (slot)
		return slot;
	ask_for_slots();
	return ptc_emu_stopped() ? NULL : try_slot(how, ret_index);
}

/*
 * Counts a thread or process that is not recorded. If the start of a process is not recorded, the
 * reader lacks its mappings: the whole process is then left out.
 */
static void not_traced(enum ptc_emu_how how)
{
	if (ptc_emu_stopped())
		return;
	(void)atomic_fetch_add(&ptc_emu_proc.sh->untraced, 1);
	if (how != PTC_EMU_THREAD)
		ptc_emu_proc.untraced = true;
}

/*
 * For another PID namespace: waits until the trace unit has found ptcap's number of this process.
 * It can only find a living process. Returns false if it has found none.
 */
static bool learn_pid(struct ptc_emu_me *m, const struct ptc_emu_slot *slot)
{
	int pid;

	ptc_emu_sync(m);
	if (ptc_emu_stopped())
		return true;
	pid = atomic_load(&slot->pid);
	if (pid) {
		ptc_emu_proc.pid = pid;
		return true;
	}
	ptc_emu_put(m, PTC_EMU_LEAVE, NULL, 0);
	return false;
}

/* Returns false if the thread cannot be recorded. */
static bool open_stream(struct ptc_emu_me *m, struct ptc_emu_slot *slot, uint32_t index,
			const struct ptc_emu_start *start)
{
	atomic_store(&slot->pid, ptc_emu_proc.pid);
	atomic_store(&slot->born, atomic_fetch_add(&ptc_emu_proc.sh->births, 1) + 1);
	ptc_emu_open(m, slot, index);
	ptc_emu_put(m, PTC_EMU_START, start, sizeof(*start));
	return !start->pid_ns || learn_pid(m, slot);
}

void ptc_emu_know_pid(void)
{
	const uint64_t ptcaps = ptc_emu_proc.sh->pid_ns, ns = ptc_emu_pids_namespace();

	ptc_emu_proc.pid = getpid();
	ptc_emu_proc.pid_ns = ns && ptcaps && ns != ptcaps ? ns : 0;
}

void ptc_emu_join_as(struct ptc_emu_me *m, enum ptc_emu_how how, int ppid)
{
	struct ptc_emu_start start = { .pid = ptc_emu_proc.pid,
				       .tid = (int32_t)syscall(SYS_gettid),
				       .ppid = ppid,
				       .ptid = ppid,
				       .how = how,
				       .base = ptc_emu_proc.base,
				       .pid_ns = ptc_emu_proc.pid_ns };
	struct ptc_emu_slot *slot;
	uint32_t index;

	(void)atomic_fetch_add(&ptc_emu_proc.threads, 1);
	if (ptc_emu_proc.sh->saves_stacks && how != PTC_EMU_THREAD)
		ptc_emu_let_read();
	slot = take_slot(how, &index);
	if (slot && open_stream(m, slot, index, &start)) {
		ptc_emu_enrol(m);
		return;
	}
	not_traced(how);
	ptc_emu_to_nowhere(m);
}

void ptc_emu_join(struct ptc_emu_me *m)
{
	if (!m->slot)
		ptc_emu_join_as(m, PTC_EMU_THREAD, ptc_emu_proc.pid);
}

void ptc_emu_part(struct ptc_emu_me *m)
{
	if (!m->slot)
		return;
	(void)atomic_fetch_sub(&ptc_emu_proc.threads, 1);
	ptc_emu_strike(m);
	if (ptc_emu_has_stream(m)) {
		ptc_emu_put(m, PTC_EMU_EXIT, NULL, 0);
		ptc_emu_ring_bell();
	}
	*m = (struct ptc_emu_me){ .slot = NULL };
}

bool ptc_emu_visits(const struct ptc_emu_me *m)
{
	return ptc_emu_is_nowhere(m) && !ptc_emu_proc.untraced && !ptc_emu_stopped();
}

bool ptc_emu_visit(struct ptc_emu_me *ret)
{
	const struct ptc_emu_start start = { .pid = ptc_emu_proc.pid,
					     .tid = (int32_t)syscall(SYS_gettid),
					     .how = PTC_EMU_VISIT,
					     .base = ptc_emu_proc.base,
					     .pid_ns = ptc_emu_proc.pid_ns };
	struct ptc_emu_slot *slot;
	uint32_t index;

	*ret = (struct ptc_emu_me){ .slot = NULL };
	do /* these slots are used for short times only */
		slot = take_slot(PTC_EMU_VISIT, &index);
	while (!slot && !ptc_emu_stopped());
	return slot && open_stream(ret, slot, index, &start);
}

void ptc_emu_end_visit(struct ptc_emu_me *m)
{
	ptc_emu_put(m, PTC_EMU_LEAVE, NULL, 0);
	ptc_emu_sync(m);
}

void ptc_emu_forked(struct ptc_emu_me *m)
{
	const int parent = ptc_emu_proc.pid;

	ptc_emu_know_pid();
	atomic_store(&ptc_emu_proc.threads, 0);
	ptc_emu_strike_all();
	ptc_emu_forget_faults();
	if (!m->slot)
		return;
	m->slot = NULL;
	ptc_emu_join_as(m, PTC_EMU_FORK, parent);
}
