/* SPDX-License-Identifier: MIT */
#include "ptcap/branchsel.h"

#include <string.h>

#include "ptcap/kind.h"

enum {
	PRIVILEGES = PERF_SAMPLE_BRANCH_PLM_ALL,
	CALLS = 1u << PTC_KIND_CALL | 1u << PTC_KIND_ICALL | 1u << PTC_KIND_SYSCALL |
		1u << PTC_KIND_INT | 1u << PTC_KIND_ASYNC,
	RETURNS = 1u << PTC_KIND_RET | 1u << PTC_KIND_SYSRET | 1u << PTC_KIND_IRET,
	FRAMES = 1u << PTC_KIND_CALL | 1u << PTC_KIND_ICALL | 1u << PTC_KIND_RET,
};

/* Branch kinds of each class; a stack contains the union of its classes. */
static const struct {
	uint64_t bit;
	const char *word;
	uint32_t kinds;
} classes[] = {
	{ PERF_SAMPLE_BRANCH_ANY, "any", UINT32_MAX },
	{ PERF_SAMPLE_BRANCH_ANY_CALL, "any_call", CALLS },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, "any_ret", RETURNS },
	{ PERF_SAMPLE_BRANCH_IND_CALL, "ind_call", 1u << PTC_KIND_ICALL },
	{ PERF_SAMPLE_BRANCH_IND_JUMP, "ind_jmp", 1u << PTC_KIND_IJMP },
	{ PERF_SAMPLE_BRANCH_COND, "cond", 1u << PTC_KIND_JCC },
	{ PERF_SAMPLE_BRANCH_CALL, "call", 1u << PTC_KIND_CALL },
	{ PERF_SAMPLE_BRANCH_ABORT_TX, "abort_tx", 0 },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, "call_stack", FRAMES },
};

static const struct {
	uint64_t bit;
	const char *word;
} others[] = {
	{ PERF_SAMPLE_BRANCH_USER, "u" },
	{ PERF_SAMPLE_BRANCH_KERNEL, "k" },
	{ PERF_SAMPLE_BRANCH_HV, "hv" },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, "stack" },
	{ PERF_SAMPLE_BRANCH_IN_TX, "in_tx" },
	{ PERF_SAMPLE_BRANCH_NO_TX, "no_tx" },
	{ PERF_SAMPLE_BRANCH_TYPE_SAVE, "save_type" },
	{ PERF_SAMPLE_BRANCH_PRIV_SAVE, "priv" },
	{ PERF_SAMPLE_BRANCH_HW_INDEX, "hw_index" },
	{ PERF_SAMPLE_BRANCH_NO_FLAGS, "no_flags" },
	{ PERF_SAMPLE_BRANCH_NO_CYCLES, "no_cycles" },
	{ PERF_SAMPLE_BRANCH_COUNTERS, "counter" },
};

enum { NCLASSES = sizeof(classes) / sizeof(*classes), NOTHERS = sizeof(others) / sizeof(*others) };

uint64_t ptc_branchsel_of(const struct perf_event_attr *attr)
{
	uint64_t sel = attr->branch_sample_type;

	if (!(sel & PRIVILEGES))
		sel |= (attr->exclude_user ? 0u : PERF_SAMPLE_BRANCH_USER) |
		       (attr->exclude_kernel ? 0u : PERF_SAMPLE_BRANCH_KERNEL);
	return sel;
}

uint64_t ptc_branchsel_kinds(uint64_t sel)
{
	uint64_t kinds = 0;
	bool any = true;
	size_t i;

	for (i = 0; i < NCLASSES; i++)
		if (sel & classes[i].bit) {
			kinds |= classes[i].kinds;
			any = false;
		}
	return any ? UINT64_MAX : kinds;
}

bool ptc_branchsel_wants(uint64_t sel, uint8_t kind, uint64_t to)
{
	/* The privilege level of a branch is that of its target, as in hardware. */
	if (!(sel & (ptc_is_kernel_ip(to) ? PERF_SAMPLE_BRANCH_KERNEL : PERF_SAMPLE_BRANCH_USER)))
		return false;
	return ptc_branchsel_kinds(sel) >> kind & 1;
}

uint8_t ptc_branchsel_type(uint8_t kind)
{
	static const uint8_t types[PTC_KIND_COUNT] = {
		[PTC_KIND_JCC] = PERF_BR_COND,	      [PTC_KIND_JMP] = PERF_BR_UNCOND,
		[PTC_KIND_IJMP] = PERF_BR_IND,	      [PTC_KIND_CALL] = PERF_BR_CALL,
		[PTC_KIND_ICALL] = PERF_BR_IND_CALL,  [PTC_KIND_RET] = PERF_BR_RET,
		[PTC_KIND_SYSCALL] = PERF_BR_SYSCALL, [PTC_KIND_SYSRET] = PERF_BR_SYSRET,
	};

	return kind < PTC_KIND_COUNT ? types[kind] : PERF_BR_UNKNOWN;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

/* Returns all class bits in @sel. */
static uint64_t classes_of(uint64_t sel)
{
	uint64_t ret = 0;
	size_t i;

	for (i = 0; i < NCLASSES; i++)
		ret |= sel & classes[i].bit;
	return ret;
}

static uint64_t bit_of(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < NCLASSES; i++)
		if (is_word(s, len, classes[i].word))
			return classes[i].bit;
	for (i = 0; i < NOTHERS; i++)
		if (is_word(s, len, others[i].word))
			return others[i].bit;
	return 0;
}

bool ptc_branchsel_parse(const char *s, uint64_t *ret)
{
	uint64_t sel = 0;

	for (;;) {
		const size_t len = strcspn(s, ",");
		const uint64_t bit = bit_of(s, len);

		if (!bit)
			return false;
		sel |= bit;
		if (!s[len])
			break;
		s += len + 1;
	}
	if (sel & PERF_SAMPLE_BRANCH_CALL_STACK && classes_of(sel) != PERF_SAMPLE_BRANCH_CALL_STACK)
		return false;
	if (!classes_of(sel))
		sel |= PERF_SAMPLE_BRANCH_ANY;
	*ret = sel;
	return true;
}
