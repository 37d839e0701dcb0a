/* SPDX-License-Identifier: MIT */
#include "auxtrace/record/crash_record.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "auxtrace/record/record.h"
#include "auxtrace/record/userrec.h"
#include "base/err.h"

enum {
	WORD = 8,
	SIGNAL_CODE = 3, /* the only signed number */
	NUMBERS = 96,	 /* offset in the record: doc/format.md */
};

static const char *const signal_names[] = {
	"pid",	"tid",	  "signal",  "code",	  "error",
	"addr", "sender", "time_ns", "no_memory", "exit_status"
};
/* The registers follow these names. */
static const char *const thread_names[] = { "pid", "tid", "in_call" };
static const char *const map_names[] = { "pid", "start", "end", "offset", "prot" };
static const char *const memory_names[] = { "pid", "addr", "cut" };
static const char *const auxv_names[] = { "pid" };
static const char *const message_names[] = { "pid", "tid", "what", "addr" };
static const char *const task_names[] = { "pid",	 "tid",	      "own_tid",
					  "stop_signal", "unstopped", "cpu_ns" };
static const char *const live_names[] = { "pid", "stopped_ns", "restarted" };

static_assert((int)PTC_REG_COUNT == (int)PTC_CRASH_REGS, "registers of a record");

static const char *const reg_names[PTC_REG_COUNT] = {
	"r15",	  "r14", "r13", "r12",	   "rbp",     "rbx", "r11",	 "r10", "r9",
	"r8",	  "rax", "rcx", "rdx",	   "rsi",     "rdi", "orig_rax", "rip", "cs",
	"eflags", "rsp", "ss",	"fs_base", "gs_base", "ds",  "es",	 "fs",	"gs",
};

#define WORDS(of) (sizeof(of) / WORD)
#define KIND(title, of, names)                                                                     \
	{                                                                                          \
		title, names, sizeof(names) / sizeof((names)[0]), WORDS(struct ptc_crash_##of)     \
	}

/* By kind. The numbers of a kind are the fields of its structure, 8 bytes each, in order. */
static const struct kind {
	const char *title; /* event name, as seen by readers that do not know these records */
	const char *const *names; /* names of the numbers before the registers */
	size_t nnames, words;
} kinds[] = {
	[PTC_CRASH_SIGNAL] = KIND("ptcap crash: signal", signal, signal_names),
	[PTC_CRASH_THREAD] = KIND("ptcap crash: thread", thread, thread_names),
	[PTC_CRASH_MAP] = KIND("ptcap crash: map", map, map_names),
	[PTC_CRASH_MEMORY] = KIND("ptcap crash: memory", memory, memory_names),
	[PTC_CRASH_AUXV] = KIND("ptcap crash: auxv", auxv, auxv_names),
	[PTC_CRASH_MESSAGE] = KIND("ptcap crash: message", message, message_names),
	[PTC_CRASH_TASK] = KIND("ptcap crash: task", task, task_names),
	[PTC_CRASH_LIVE] = KIND("ptcap crash: live", live, live_names),
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
	WORDS_MAX = WORDS(struct ptc_crash_thread),
};

static_assert(WORDS(struct ptc_crash_thread) ==
		      sizeof(thread_names) / sizeof(thread_names[0]) + PTC_REG_COUNT,
	      "every number has a name");
static_assert(sizeof(((struct ptc_crash *)0)->u) == (size_t)WORDS_MAX * WORD,
	      "a thread has the most numbers");

const char *ptc_crash_reg_name(size_t reg)
{
	return reg < PTC_REG_COUNT ? reg_names[reg] : "?";
}

/* Returns the description of a kind, or NULL for an unknown kind. */
static const struct kind *kind_of(uint32_t kind)
{
	return kind < KINDS && kinds[kind].title ? &kinds[kind] : NULL;
}

/* --- writing --- */

static void put_one(struct ptc_buf *b, const struct ptc_crash *c, struct ptc_cur bytes)
{
	const struct kind *k = kind_of(c->kind);
	struct ptc_user u = { .type = PTC_REC_HEADER_EVENT_TYPE };
	struct ptc_buf more = PTC_BUF_INIT;
	uint64_t words[WORDS_MAX];
	size_t i;

	memcpy(words, &c->u, sizeof(words));
	ptc_buf_le32(&more, c->kind);
	ptc_buf_le32(&more, (uint32_t)(k->words * WORD));
	ptc_buf_le64(&more, ptc_cur_left(&bytes));
	for (i = 0; i < k->words; i++)
		ptc_buf_le64(&more, words[i]);
	ptc_buf_put(&more, bytes.pos, ptc_cur_left(&bytes));
	ptc_buf_zero(&more, -more.len % WORD);
	u.u.event_type.event_id = PTC_CRASH_ID;
	u.u.event_type.name = k->title;
	u.u.event_type.more = ptc_cur_init(more.bytes, more.len);
	ptc_user_put(b, &u);
	b->failed |= ptc_buf_failed(&more);
	ptc_buf_release(&more);
}

void ptc_crash_put(struct ptc_buf *b, const struct ptc_crash *c)
{
	struct ptc_crash piece = *c;
	struct ptc_cur left = c->bytes;
	size_t n;

	do {
		n = ptc_cur_left(&left);
		n = n < PTC_CRASH_BYTES_MAX ? n : PTC_CRASH_BYTES_MAX;
		if (c->kind == PTC_CRASH_MEMORY) /* only the last record has the cut */
			piece.u.memory.cut = n == ptc_cur_left(&left) ? c->u.memory.cut : 0;
		put_one(b, &piece, ptc_cur_init(left.pos, n));
		(void)ptc_cur_skip(&left, n);
		piece.u.memory.addr += n;
	} while (c->kind == PTC_CRASH_MEMORY && ptc_cur_left(&left));
}

void ptc_crash_set_exit_status(struct ptc_buf *b, uint64_t status)
{
	ptc_buf_set_le64(b, NUMBERS + offsetof(struct ptc_crash_signal, exit_status), status);
}

/* --- reading --- */

int ptc_crash_parse(const struct ptc_rec *rec, struct ptc_crash *ret, struct ptc_err *err)
{
	struct ptc_crash c = { .kind = 0 };
	uint64_t words[WORDS_MAX] = { 0 }, n;
	const struct kind *k;
	struct ptc_cur numbers, cur;
	uint32_t size;
	size_t i;
	int rc;

	rc = ptc_user_own(rec, PTC_CRASH_ID, &cur, err);
	if (rc <= 0)
		return rc;
	if (!ptc_cur_le32(&cur, &c.kind) || !ptc_cur_le32(&cur, &size) || !ptc_cur_le64(&cur, &n) ||
	    size % WORD || !ptc_cur_sub(&cur, size, &numbers) || n > ptc_cur_left(&cur) ||
	    !ptc_cur_sub(&cur, (size_t)n, &c.bytes))
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "the state of a crash is too short for what it claims");
	k = kind_of(c.kind);
	for (i = 0; k && i < k->words && ptc_cur_le64(&numbers, &words[i]); i++)
		;
	memcpy(&c.u, words, sizeof(c.u));
	*ret = c;
	return 1;
}

/* --- the numbers --- */

bool ptc_crash_field(const struct ptc_crash *c, size_t i, struct ptc_ledger_field *ret)
{
	const struct kind *k = kind_of(c->kind);
	uint64_t words[WORDS_MAX];

	if (!k || i >= k->words)
		return false;
	memcpy(words, &c->u, sizeof(words));
	ret->name = i < k->nnames ? k->names[i] : ptc_crash_reg_name(i - k->nnames);
	ret->value = words[i];
	ret->is_signed = c->kind == PTC_CRASH_SIGNAL && i == SIGNAL_CODE;
	return true;
}
