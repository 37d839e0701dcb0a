/* SPDX-License-Identifier: MIT */
/*
 * What a guest thread did, from the words it wrote. A block is held back until
 * it is known what came behind it: only that says where its last instruction led,
 * and whether the block was run to its end at all.
 */
#include <signal.h>
#include <string.h>

#include "capture/emu/path.h"
#include "capture/emu/space.h"

enum {
	TSC_EVERY = 256, /* blocks between two looks at the clock */
	PAGE = 4096,
};

static const struct ptc_emu_line *pending(const struct ptc_emu_unit *u,
					  const struct ptc_emu_task *k)
{
	return k->pending ? &u->code.lines[k->pending - 1] : NULL;
}

/* --- lines --- */

/* The first @n instructions of @p retired, and then something came in between. */
static void run_part(struct ptc_emu_unit *u, const struct ptc_emu_line *p, int n)
{
	if (n > 0)
		ptc_flow_line(u->flow, p->start, (uint64_t)n, u->tsc);
}

static void run_whole(struct ptc_emu_unit *u, const struct ptc_emu_line *p, uint64_t to)
{
	ptc_flow_line(u->flow, p->start, p->n, u->tsc);
	ptc_flow_lead(u->flow, &p->insn, p->last, to, false, u->tsc);
}

static bool can_lead(const struct ptc_emu_line *p, uint64_t to)
{
	switch ((enum ptc_kind)p->insn.kind) {
	case PTC_KIND_NONE:
		return to == p->end && p->insn.len;
	case PTC_KIND_JCC:
		return to == p->end || to == p->insn.target;
	case PTC_KIND_JMP:
	case PTC_KIND_CALL:
		return to == p->insn.target;
	default:
		return true;
	}
}

static bool enters_kernel(const struct ptc_emu_line *p)
{
	return p->insn.kind == PTC_KIND_SYSCALL || p->insn.kind == PTC_KIND_INT;
}

/*
 * QEMU gave the block up in the middle and goes on there with a block of one
 * instruction: one that writes to this very code, or is atomic.
 */
static bool restarts(const struct ptc_emu_line *p, const struct ptc_emu_line *next)
{
	return next->n == 1 && next->insn.kind == PTC_KIND_NONE && next->start >= p->start &&
	       next->start <= p->last && next->end % PAGE;
}

/* It went elsewhere, and no signal tells why: say that something happened before the last
 * instruction. */
static void odd(struct ptc_emu_unit *u, const struct ptc_emu_line *p)
{
	u->flow->odd++;
	run_part(u, p, (int)p->n - 1);
	ptc_flow_async(u->flow, p->last, true, u->tsc);
}

/* @p was entered, and @next behind it. */
static void resolve(struct ptc_emu_unit *u, const struct ptc_emu_line *p,
		    const struct ptc_emu_line *next)
{
	const uint64_t to = next->start;
	int before;

	if (p->insn.rep && to == p->last) { /* one iteration of many */
		run_part(u, p, (int)p->n - 1);
		return;
	}
	if (can_lead(p, to) && !restarts(p, next)) {
		run_whole(u, p, to);
		return;
	}
	before = to >= p->start && to < p->end ? ptc_emu_code_before(&u->code, p, to) : -1;
	if (before >= 0)
		run_part(u, p, before);
	else
		odd(u, p);
}

static void settle(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	const struct ptc_emu_line *p = pending(u, k);

	if (p && enters_kernel(p)) {
		run_whole(u, p, p->end);
		k->pending = 0;
	}
}

static bool enter_block(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint32_t place)
{
	const struct ptc_emu_line *p;
	uint32_t number = u->code.index[place];

	if (!number) {
		if (!ptc_emu_code_add(&u->code, place))
			return false;
		number = u->code.index[place];
	}
	p = pending(u, k);
	if (p)
		resolve(u, p, &u->code.lines[number - 1]);
	k->pending = number;
	return true;
}

/* --- signals --- */

/* Of an instruction; not sent by somebody, as far as the number tells. */
static bool is_fault(uint32_t sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

static void on_signal(struct ptc_emu_unit *u, struct ptc_emu_task *k,
		      const struct ptc_emu_signal *s)
{
	const struct ptc_emu_line *p = pending(u, k);
	const int before = p ? ptc_emu_code_before(&u->code, p, s->ip) : -1;
	const bool fault = is_fault(s->sig);

	if (p && before >= 0 &&
	    (fault || (p->insn.rep && s->ip == p->last) || !can_lead(p, s->ip))) {
		run_part(u, p, before);
		ptc_flow_async(u->flow, s->ip, fault, u->tsc);
	} else if (p && can_lead(p, s->ip)) {
		run_whole(u, p, s->ip);
		ptc_flow_async(u->flow, s->ip, fault && !enters_kernel(p), u->tsc);
	} else if (p) {
		odd(u, p);
	}
	k->pending = 0;
}

/* --- processes --- */

void ptc_emu_path_preempt(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	const struct ptc_emu_line *p;

	settle(u, k);
	p = pending(u, k);
	if (p)
		ptc_flow_async(u->flow, p->start, false, u->tsc);
}

/* Was the newest block run? Nobody knows, unless it ends in a system call. */
void ptc_emu_path_end(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	if (u->on_cpu == k)
		ptc_emu_unit_take(u);
	if (k->proc && !k->over) {
		ptc_emu_unit_speak_of(u, k);
		ptc_records_exit(u->rec, k->proc->pid);
	}
	k->over = true;
}

static void tell_map(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map)
{
	ptc_records_mmap(ctx, maps, map);
}

static void on_map(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload)
{
	struct ptc_emu_map map;

	memcpy(&map, payload, sizeof(map));
	if (k->proc->tasks > 1)
		ptc_emu_unit_catch_up(u, k);
	ptc_emu_unit_speak_of(u, k);
	if (!ptc_space_apply(&k->proc->maps, &map, (const char *)payload + sizeof(map), tell_map,
			     u->rec))
		u->no_memory = true;
}

/* An exec: what the other slots of the process said is all there is. */
static void end_former(struct ptc_emu_unit *u, const struct ptc_emu_task *k, pid_t pid)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++) {
		struct ptc_emu_task *other = u->tasks[i];

		if (other != k && other->proc && other->proc->pid == pid && !other->over) {
			const uint64_t head = atomic_load_explicit(&u->sh->slots[other->slot].head,
								   memory_order_acquire);

			other->pos += ptc_emu_path_read(u, other, head);
			settle(u, other);
			if (other->tid == k->tid)
				other->over = true; /* it goes on */
			ptc_emu_path_end(u, other);
		}
	}
}

static void on_start(struct ptc_emu_unit *u, struct ptc_emu_task *k, const struct ptc_emu_start *s)
{
	struct ptc_emu_process *parent = NULL;

	k->tid = s->tid;
	if (s->how == PTC_EMU_EXEC)
		end_former(u, k, s->pid);
	k->proc = ptc_emu_unit_process(u, s->pid);
	if (!k->proc)
		k->proc = ptc_emu_unit_add_process(u, s->pid);
	if (!k->proc)
		return;
	k->proc->tasks++;
	if (s->how == PTC_EMU_EXEC)
		ptc_maps_release(&k->proc->maps);
	if (s->how == PTC_EMU_FORK)
		parent = ptc_emu_unit_process(u, s->ppid);
	if (parent && !ptc_space_copy(&k->proc->maps, &parent->maps))
		u->no_memory = true;
	if (s->how == PTC_EMU_FORK || s->how == PTC_EMU_THREAD) {
		ptc_emu_unit_speak_of(u, k);
		ptc_records_fork(u->rec, s->ppid, s->ptid);
	}
}

/* --- words --- */

static void on_event(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint32_t type,
		     const uint8_t *payload)
{
	struct ptc_emu_start start;
	struct ptc_emu_signal sig;

	if (type == PTC_EMU_SIGNAL) {
		memcpy(&sig, payload, sizeof(sig));
		on_signal(u, k, &sig);
		return;
	}
	settle(u, k);
	switch ((enum ptc_emu_type)type) {
	case PTC_EMU_START:
		memcpy(&start, payload, sizeof(start));
		on_start(u, k, &start);
		break;
	case PTC_EMU_MAP:
		on_map(u, k, payload);
		break;
	case PTC_EMU_COMM:
	case PTC_EMU_EXECED:
		ptc_emu_unit_speak_of(u, k);
		ptc_records_comm(u->rec, (const char *)payload, type == PTC_EMU_EXECED);
		break;
	case PTC_EMU_EXIT:
		ptc_emu_path_end(u, k);
		break;
	case PTC_EMU_SIGNAL:
		break;
	}
	u->tsc = ptc_rdtsc(); /* what comes is behind the record */
}

static void copy_words(const struct ptc_emu_unit *u, const struct ptc_emu_task *k, uint64_t pos,
		       size_t n, uint8_t *out)
{
	const uint32_t *ring = ptc_emu_ring(u->sh, k->slot);

	for (; n; n--, pos++, out += sizeof(*ring))
		memcpy(out, &ring[pos % PTC_EMU_WORDS], sizeof(*ring));
}

uint64_t ptc_emu_path_read(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint64_t head)
{
	const uint32_t *ring = ptc_emu_ring(u->sh, k->slot);
	uint8_t payload[sizeof(struct ptc_emu_map) + PTC_EMU_PATH + 8];
	const uint64_t start = k->pos;
	uint64_t pos = start;
	unsigned int n = 0;

	k->busy = true;
	while (pos != head && !u->no_memory) {
		const uint32_t word = ring[pos % PTC_EMU_WORDS];
		const size_t words = word & 0xfffff;

		if (n++ % TSC_EVERY == 0) {
			u->tsc = ptc_rdtsc();
			if (u->again)
				u->again(u->again_ctx);
		}
		if (!(word & PTC_EMU_EVENT)) {
			if (u->on_cpu != k)
				ptc_emu_unit_give(u, k);
			pos++;
			if (word && !enter_block(u, k, word))
				u->no_memory = true;
			continue;
		}
		pos++;
		if (words * 4 <= sizeof(payload) && head - pos >= words) {
			copy_words(u, k, pos, words, payload);
			on_event(u, k, word >> 20 & 0x7ff, payload);
		}
		pos += words;
	}
	k->busy = false;
	return pos - start;
}
