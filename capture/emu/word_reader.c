/* SPDX-License-Identifier: MIT */
/*
 * Reconstructs the execution of a guest thread from the words it wrote. A block is held back until
 * the next one is known. Only the next block tells where the last instruction led, and whether the
 * block was executed to its end.
 */
#include <signal.h>
#include <string.h>

#include "capture/emu/death_state.h"
#include "capture/emu/guest_maps.h"
#include "capture/emu/missing_syscalls.h"
#include "capture/emu/pid_namespace.h"
#include "capture/emu/quick_blocks.h"
#include "capture/emu/task_table.h"
#include "capture/emu/word_reader.h"

enum {
	TSC_EVERY = 256, /* blocks between two readings of the clock */
	PAGE = 4096,
	CANONICAL_BITS = 47,
	RET_IMM = 0xc2, /* ret imm16 */
	RET_IMM_LEN = 3,
};

static const struct ptc_emu_line *pending(const struct ptc_emu_unit *u,
					  const struct ptc_emu_task *k)
{
	return k->pending ? &u->code.lines[k->pending - 1] : NULL;
}

/* --- lines --- */

/* The first @n instructions of @p retired. Then an event came in between. */
static void run_part(struct ptc_emu_unit *u, struct ptc_emu_task *k, const struct ptc_emu_line *p,
		     int n)
{
	if (n > 0)
		ptc_flow_line(&k->cpu->flow, p->start, (uint64_t)n, u->tsc);
}

/* Returns true if @p ends with int 0x80. QEMU takes its number for that of a 64-bit call. */
static bool is_int80(const struct ptc_emu_unit *u, const struct ptc_emu_line *p)
{
	static const uint8_t int80[2] = { 0xcd, 0x80 };
	const size_t len = (size_t)(ptc_emu_line_end(p) - p->start);

	return len >= sizeof(int80) &&
	       !memcmp(ptc_emu_code_bytes(&u->code, p) + len - sizeof(int80), int80, sizeof(int80));
}

static void run_whole(struct ptc_emu_unit *u, struct ptc_emu_task *k, const struct ptc_emu_line *p,
		      uint64_t to)
{
	if (ptc_emu_vsyscall(p->start)) { /* a fault of the instruction fetch; the kernel returns */
		ptc_flow_async(&k->cpu->flow, p->start, true, u->tsc);
		return;
	}
	if (p->insn.kind == PTC_KIND_INT && is_int80(u, p))
		ptc_emu_lack_note(u->sh, PTC_EMU_INT80);
	ptc_flow_line(&k->cpu->flow, p->start, p->n, u->tsc);
	ptc_flow_lead(&k->cpu->flow, &p->insn, p->last, to, false, u->tsc);
}

static bool can_lead(const struct ptc_emu_line *p, uint64_t to)
{
	switch ((enum ptc_kind)p->insn.kind) {
	case PTC_KIND_NONE:
		return (to == ptc_emu_line_end(p) && p->insn.len) || ptc_emu_vsyscall(p->start);
	case PTC_KIND_JCC:
		return to == ptc_emu_line_end(p) || to == p->insn.target;
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
 * Returns true if QEMU has abandoned the block in the middle, and continues there with a block of
 * one instruction. That instruction writes to this code, or is atomic.
 */
static bool restarts(const struct ptc_emu_line *p, const struct ptc_emu_line *next)
{
	return next->n == 1 && next->insn.kind == PTC_KIND_NONE && next->start >= p->start &&
	       next->start <= p->last && ptc_emu_line_end(next) % PAGE;
}

/*
 * Control went elsewhere without a signal: reports an asynchronous event before the last
 * instruction.
 */
static void odd(struct ptc_emu_unit *u, struct ptc_emu_task *k, const struct ptc_emu_line *p)
{
	k->cpu->flow.odd++;
	run_part(u, k, p, (int)p->n - 1);
	ptc_flow_async(&k->cpu->flow, p->last, true, u->tsc);
}

/* @p was entered, then @next: reports how @p ended. */
static void resolve(struct ptc_emu_unit *u, struct ptc_emu_task *k, const struct ptc_emu_line *p,
		    const struct ptc_emu_line *next)
{
	const uint64_t to = next->start;
	int before;

	if (p->insn.rep && to == p->last) { /* one iteration of several */
		run_part(u, k, p, (int)p->n - 1);
		return;
	}
	if (can_lead(p, to) && !restarts(p, next)) {
		run_whole(u, k, p, to);
		return;
	}
	before = to >= p->start && to < ptc_emu_line_end(p) ? ptc_emu_code_before(&u->code, p, to) :
							      -1;
	if (before >= 0)
		run_part(u, k, p, before);
	else
		odd(u, k, p);
}

static void settle(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	const struct ptc_emu_line *p = pending(u, k);

	if (p && enters_kernel(p)) {
		run_whole(u, k, p, ptc_emu_line_end(p));
		k->pending = 0;
	}
}

/* --- code that is in no file --- */

/* Returns true if the bytes of @line equal those of the file of @map. */
static bool is_filed(struct ptc_emu_unit *u, const struct ptc_maps *maps, const struct ptc_map *map,
		     int pid, const struct ptc_emu_line *line)
{
	const size_t len = (size_t)(ptc_emu_line_end(line) - line->start);
	uint8_t file[PTC_EMU_BLOCK_MAX];

	if (!len) /* no bytes to compare */
		return true;
	return len <= sizeof(file) &&
	       ptc_mapped_read(&u->files, maps, map, pid, map->off + (line->start - map->start),
			       file, len) &&
	       !memcmp(file, ptc_emu_code_bytes(&u->code, line), len);
}

/* Returns true if the recording has the bytes of @line. The other members of @line are checked. */
static bool is_told(const struct ptc_emu_unit *u, const struct ptc_emu_task *k,
		    const struct ptc_emu_line *line)
{
	const size_t len = (size_t)(ptc_emu_line_end(line) - line->start);

	switch (ptc_queue_contexts_look(&k->proc->known, line->start,
					ptc_emu_code_bytes(&u->code, line), len)) {
	case PTC_QUEUE_CONTEXTS_SAME:
		return true;
	case PTC_QUEUE_CONTEXTS_NOT:
		return line->filed;
	default:
		return false;
	}
}

/*
 * Checks @line again: the last check was for another process, or before a change of mappings or of
 * recorded code.
 */
static void look_again(struct ptc_emu_unit *u, const struct ptc_emu_task *k,
		       struct ptc_emu_line *line)
{
	const struct ptc_maps *maps = &k->proc->maps;
	const struct ptc_map *map = ptc_maps_find(maps, line->start);
	const uint64_t view = map && ptc_emu_line_end(line) <= map->end ? map->view : 0;

	if (view != line->view)
		line->filed = view && is_filed(u, maps, map, k->proc->pid, line);
	line->view = view;
	line->told = is_told(u, k, line);
	line->epoch = k->proc->epoch;
}

/*
 * @line is about to run: records its bytes, which the reader does not have. The trace is off at
 * these records, because earlier code may have run with other bytes.
 */
static bool tell_code(struct ptc_emu_unit *u, struct ptc_emu_task *k,
		      const struct ptc_emu_line *line)
{
	const uint8_t *bytes = ptc_emu_code_bytes(&u->code, line);
	const size_t len = (size_t)(ptc_emu_line_end(line) - line->start);

	k->proc->epoch = ++u->epochs;
	u->tsc = ptc_rdtsc();
	ptc_flow_async(&k->cpu->flow, line->start, false, u->tsc);
	ptc_emu_unit_interrupt_others(u, k);
	ptc_emu_unit_speak_of(k);
	ptc_records_poke(&k->cpu->rec, line->start, bytes, len);
	u->tsc = ptc_rdtsc();
	return ptc_queue_contexts_set(&k->proc->known, line->start, bytes, len);
}

static bool enter_block(struct ptc_emu_unit *u, struct ptc_emu_task *k, uint32_t place)
{
	struct ptc_emu_line *line;
	const struct ptc_emu_line *p;

	if (!place || place >= u->code.places) /* not written by the plugin */
		return true;
	if (!u->code.index[place] && !ptc_emu_code_add(&u->code, place))
		return false;
	line = &u->code.lines[u->code.index[place] - 1];
	if (line->epoch != k->proc->epoch)
		look_again(u, k, line);
	p = pending(u, k);
	if (p)
		resolve(u, k, p, line);
	k->pending = u->code.index[place];
	return line->told || tell_code(u, k, line);
}

/* --- signals --- */

/*
 * Returns true for signals that an instruction causes. The number does not tell whether a process
 * has sent it.
 */
static bool is_fault(uint32_t sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

/* Gives @k its CPU, if @k does not run. */
static void run_here(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	if (k->cpu->running != k)
		ptc_emu_unit_give(u, k);
}

static bool is_canonical(uint64_t ip)
{
	const int64_t top = (int64_t)ip >> CANONICAL_BITS;

	return !top || top == -1;
}

/* Returns what the last instruction of @p has added to rsp. */
static int64_t stack_change(const struct ptc_emu_unit *u, const struct ptc_emu_line *p)
{
	const uint8_t *insn = ptc_emu_code_bytes(&u->code, p) + (p->last - p->start);

	if (p->insn.kind == PTC_KIND_ICALL)
		return -(int64_t)sizeof(uint64_t);
	if (p->insn.kind != PTC_KIND_RET)
		return 0;
	if (ptc_emu_line_end(p) - p->last >= RET_IMM_LEN && insn[0] == RET_IMM)
		return (int64_t)sizeof(uint64_t) + (insn[1] | insn[2] << 8);
	return (int64_t)sizeof(uint64_t);
}

/*
 * Handles a fault at an address that is not canonical. The processor raises it at the branch to
 * that address, and QEMU behind the branch. Returns false for another signal.
 */
static bool on_bad_branch(struct ptc_emu_unit *u, struct ptc_emu_task *k,
			  const struct ptc_emu_line *p, const struct ptc_emu_signal *s)
{
	k->bad_branch = 0;
	if (!p || s->sig != SIGSEGV || is_canonical(s->ip) ||
	    (p->insn.kind != PTC_KIND_RET && p->insn.kind != PTC_KIND_ICALL &&
	     p->insn.kind != PTC_KIND_IJMP))
		return false;
	run_part(u, k, p, (int)p->n - 1);
	ptc_flow_async(&k->cpu->flow, p->last, true, u->tsc);
	k->bad_branch = p->last;
	k->bad_branch_sp = stack_change(u, p);
	k->pending = 0;
	return true;
}

static void on_signal(struct ptc_emu_unit *u, struct ptc_emu_task *k,
		      const struct ptc_emu_signal *s)
{
	const struct ptc_emu_line *p = pending(u, k);
	const int before = p ? ptc_emu_code_before(&u->code, p, s->ip) : -1;
	const bool fault = is_fault(s->sig);

	if (on_bad_branch(u, k, p, s))
		return;
	if (p && before >= 0 &&
	    (fault || (p->insn.rep && s->ip == p->last) || !can_lead(p, s->ip))) {
		run_part(u, k, p, before);
		ptc_flow_async(&k->cpu->flow, s->ip, fault, u->tsc);
	} else if (p && can_lead(p, s->ip)) {
		run_whole(u, k, p, s->ip);
		ptc_flow_async(&k->cpu->flow, s->ip, fault && !enters_kernel(p), u->tsc);
	} else if (p) {
		odd(u, k, p);
	}
	k->pending = 0;
}

/*
 * @k waits for a snapshot. Nothing more is read from it before the snapshot: it continues when all
 * its words are read.
 */
static void hold(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	if (u->held_fd < 0 || u->ending)
		return;
	k->held = true;
	u->hold = true;
}

/* Returns true if signal @s requests a snapshot. With a state, the request follows the state. */
static bool requests_snapshot(const struct ptc_emu_unit *u, const struct ptc_emu_signal *s)
{
	return s->sig >= 1 && s->sig <= 64 && u->sh->held_signals >> (s->sig - 1) & 1 &&
	       !(s->fatal && u->sh->saves_state);
}

/* --- processes --- */

void ptc_emu_path_interrupt(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	const struct ptc_emu_line *p;

	if (!k->held) /* at a place, it has not executed its block */
		settle(u, k);
	p = pending(u, k);
	if (p)
		ptc_flow_async(&k->cpu->flow, p->start, false, u->tsc);
}

/* Ends @k. Whether the last block was executed is unknown, unless it ends with a system call. */
void ptc_emu_path_end(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	ptc_emu_unit_take(u, k);
	if (k->proc && !k->over) {
		ptc_emu_unit_speak_of(k);
		ptc_records_exit(&k->cpu->rec, k->proc->pid);
	}
	k->over = true;
}

/* Context for callbacks. */
struct to {
	struct ptc_emu_unit *u;
	struct ptc_emu_task *k;
};

/* Records a mapping. An MMAP2 makes the reader forget the code that was recorded there. */
static void tell_map(void *ctx, const struct ptc_maps *maps, const struct ptc_map *map)
{
	const struct to *to = ctx;

	to->k->proc->epoch = ++to->u->epochs;
	ptc_records_mmap(&to->k->cpu->rec, maps, map,
			 ptc_mapped_note(&to->u->files, maps, map, to->k->proc->pid));
	ptc_queue_contexts_drop(&to->k->proc->known, map->start, map->end);
}

static void on_map(struct ptc_emu_unit *u, struct ptc_emu_task *k, const uint8_t *payload)
{
	struct to to = { u, k };
	struct ptc_emu_map map;

	memcpy(&map, payload, sizeof(map));
	if (k->proc->tasks > 1 && map.change != PTC_EMU_DATA) {
		ptc_emu_unit_catch_up(u, k);
		ptc_emu_unit_interrupt_others(u, k);
	}
	ptc_emu_unit_speak_of(k);
	if (map.change == PTC_EMU_MUNMAP) { /* later mappings there are recorded */
		ptc_queue_contexts_drop(&k->proc->known, map.start, map.start + map.len);
		k->proc->epoch = ++u->epochs;
	}
	if (!ptc_space_apply(&k->proc->maps, &map, (const char *)payload + sizeof(map), tell_map,
			     &to))
		u->no_memory = true;
}

/* Ends the other slots of the process: all their words are read. */
static void end_former(struct ptc_emu_unit *u, const struct ptc_emu_task *k,
		       const struct ptc_emu_start *s)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++) {
		struct ptc_emu_task *other = u->tasks[i];

		if (other != k && other->proc && other->proc->pid == s->pid && !other->over) {
			other->pos += ptc_emu_path_read(u, other, ptc_emu_unit_head(u, other));
			settle(u, other);
			if (other->tid == k->tid && s->how == PTC_EMU_EXEC) {
				other->over = true; /* the thread continues in its new slot */
				if (u->stacks)
					ptc_lbr_forget(u->stacks, k->tid);
			}
			ptc_emu_path_end(u, other);
		}
	}
}

static void inherit(struct ptc_emu_unit *u, struct ptc_emu_process *p,
		    const struct ptc_emu_process *parent)
{
	if (!parent)
		return;
	if (!ptc_space_copy(&p->maps, &parent->maps) ||
	    !ptc_queue_contexts_copy(&p->known, &parent->known))
		u->no_memory = true;
	p->epoch = parent->epoch;
}

/* Converts the numbers in @s to ptcap's PID namespace. Returns false if they are not found. */
static bool translate_start_pids(const struct ptc_emu_unit *u, const struct ptc_emu_task *k,
				 struct ptc_emu_start *s)
{
	if (!s->pid_ns)
		return true;
	if (s->how == PTC_EMU_THREAD || s->how == PTC_EMU_VISIT) {
		s->tid = ptc_emu_pids_find_thread(s->pid, s->tid);
	} else {
		s->pid = ptc_emu_pids_find(s->pid_ns, s->pid);
		s->tid = s->pid;
	}
	atomic_store(&u->sh->slots[k->slot].pid, s->tid ? s->pid : 0);
	return s->tid;
}

static void on_start(struct ptc_emu_unit *u, struct ptc_emu_task *k, struct ptc_emu_start *s)
{
	const bool begins = s->how == PTC_EMU_EXEC || s->how == PTC_EMU_FORK;

	if (!translate_start_pids(u, k, s))
		return;

	k->tid = s->tid;
	ptc_emu_unit_meet(u, k, s->pid);
	if (begins)
		end_former(u, k, s);
	k->proc = ptc_emu_unit_process(u, s->pid);
	if (k->proc && begins) /* after a fork: a new process with the number of one that is gone */
		ptc_emu_unit_renew_process(u, k->proc);
	if (!k->proc)
		k->proc = ptc_emu_unit_add_process(u, s->pid);
	if (!k->proc)
		return;
	k->proc->tasks++;
	k->proc->base = s->base;
	if (s->how == PTC_EMU_FORK)
		inherit(u, k->proc, ptc_emu_unit_process(u, s->ppid));
	if (s->how == PTC_EMU_FORK || s->how == PTC_EMU_THREAD) {
		ptc_emu_unit_speak_of(k);
		ptc_records_fork(&k->cpu->rec, s->ppid, s->ptid);
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
		if (k->pending) /* it may have been entered on another CPU */
			run_here(u, k);
		on_signal(u, k, &sig);
		k->signal_ns = ptc_clock_ns(k->cpu->rec.clock);
		u->tsc = ptc_rdtsc();
		if (requests_snapshot(u, &sig))
			hold(u, k);
		return;
	}
	if (type == PTC_EMU_POINT) {
		u->met_point = true;
		hold(u, k);
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
		ptc_emu_unit_speak_of(k);
		ptc_records_comm(&k->cpu->rec, (const char *)payload, type == PTC_EMU_EXECED);
		break;
	case PTC_EMU_EXIT:
		ptc_emu_path_end(u, k);
		break;
	case PTC_EMU_LEAVE:
		ptc_emu_unit_take(u, k);
		k->over = true;
		break;
	case PTC_EMU_REGS:
		ptc_emu_death_registers(u, k, payload);
		break;
	case PTC_EMU_DEATH:
		ptc_emu_unit_read_process(u, k);
		ptc_emu_death_save(u, k, payload);
		hold(u, k);
		break;
	case PTC_EMU_FAULT:
		ptc_emu_fault_keep(k, payload);
		break;
	case PTC_EMU_FAILED:
		ptc_emu_unit_read_process(u, k);
		ptc_emu_fault_save(u, k, payload);
		break;
	case PTC_EMU_SIGNAL:
	case PTC_EMU_POINT:
	case PTC_EMU_HELD:
		break;
	}
	u->tsc = ptc_rdtsc(); /* following packets are later than the record */
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
	while (pos != head && !u->no_memory && !k->held) {
		const uint32_t word = ring[pos % PTC_EMU_WORDS];
		const size_t words = word & 0xfffff;

		if (n++ % TSC_EVERY == 0) {
			u->tsc = ptc_rdtsc();
			ptc_emu_cpu_look(k->cpu);
		}
		if (head - pos > PTC_EMU_FAR_AHEAD)
			ptc_emu_fetch_ahead(&u->code, ring, pos);
		pos++;
		if (!(word & PTC_EMU_EVENT)) {
			if (ptc_emu_enter_quickly(u, k, word))
				continue;
			run_here(u, k);
			if (!enter_block(u, k, word))
				u->no_memory = true;
			continue;
		}
		if (words * 4 <= sizeof(payload) && head - pos >= words) {
			copy_words(u, k, pos, words, payload);
			on_event(u, k, word >> 20 & 0x7ff, payload);
		}
		pos += words;
	}
	k->busy = false;
	return pos - start;
}
