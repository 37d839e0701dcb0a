/* SPDX-License-Identifier: MIT */
#include "decode/crash/runtime_message.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/abort_msg.h"
#include "arch/asan_report.h"
#include "arch/cxx_exception.h"
#include "arch/message_collect.h"
#include "arch/rust_panic.h"
#include "base/grow.h"
#include "ptcap/lookup.h"

const char *ptc_runtime_message_name(enum ptc_crash_message_kind kind)
{
	switch (kind) {
	case PTC_CRASH_ABORT_MSG:
		return "abort-message";
	case PTC_CRASH_CXX_EXCEPTION:
		return "exception";
	case PTC_CRASH_RUST_PANIC:
		return "panic";
	case PTC_CRASH_GO_PANIC:
		return "go-panic";
	case PTC_CRASH_ASAN_REPORT:
		return "asan-report";
	default:
		return "?";
	}
}

/* --- names --- */

bool ptc_runtime_message_is_what(const char *what, const char *type)
{
	const char *name = what ? what : type;

	if (strstr(name, "filesystem_error")) /* it keeps another string */
		return false;
	if (what && !strncmp(what, "_ZNKSt", 6))
		return true;
	return !strncmp(name, "std::", 5);
}

bool ptc_runtime_message_terminates(const char *function)
{
	static const char *const names[] = {
		"__cxa_throw",
		"__cxa_rethrow",
		"__cxa_call_terminate",
		"__clang_call_terminate",
		"__gxx_personality_v0",
		"std::rethrow_exception(std::__exception_ptr::exception_ptr)",
		"std::terminate()",
		"std::__terminate(void (*)())",
		"__cxxabiv1::__terminate(void (*)())",
		"__gnu_cxx::__verbose_terminate_handler()",
		"_ZSt9terminatev",
		"_ZSt11__terminatePFvvE",
		"_ZN10__cxxabiv111__terminateEPFvvE",
		"_ZN9__gnu_cxx27__verbose_terminate_handlerEv",
	};
	size_t i;

	for (i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

/* The demangler knows names of symbols. That of a type's name has the type behind "_ZTS". */
static void set_type(struct ptc_runtime_message *m, const char *mangled)
{
	static const char front[] = "typeinfo name for ";
	char symbol[PTC_CXX_TYPE + 8];
	char *plain;

	(void)snprintf(symbol, sizeof(symbol), "_ZTS%s", mangled);
	plain = ptc_demangle(symbol);
	if (plain && !strncmp(plain, front, strlen(front)))
		(void)snprintf(m->type, sizeof(m->type), "%s", plain + strlen(front));
	else
		(void)snprintf(m->type, sizeof(m->type), "%s", mangled);
	free(plain);
}

/* --- reading --- */

static size_t read_saved(void *ctx, uint64_t addr, void *to, size_t len)
{
	return ptc_crash_state_memory(ctx, addr, to, len);
}

static bool read_exception(const struct ptc_memory_view *v, uint64_t addr,
			   struct ptc_runtime_message *m)
{
	struct ptc_cxx_exception e;

	if (!ptc_cxx_exception_read(v, addr, &e))
		return false;
	set_type(m, e.type);
	(void)snprintf(m->text, sizeof(m->text), "%s", e.text);
	m->cut = e.text_cut;
	m->what = e.what;
	return true;
}

static bool read_panic(const struct ptc_memory_view *v, uint64_t addr,
		       struct ptc_runtime_message *m)
{
	struct ptc_rust_panic p;

	if (!ptc_rust_panic_read(v, addr, &p))
		return false;
	(void)snprintf(m->text, sizeof(m->text), "%s", p.text);
	(void)snprintf(m->file, sizeof(m->file), "%s", p.file);
	m->cut = p.text_cut;
	m->line = p.line;
	m->column = p.column;
	return true;
}

static bool read_asan(const struct ptc_memory_view *v, uint64_t addr, struct ptc_runtime_message *m)
{
	struct ptc_asan_report r;

	if (!ptc_asan_report_read(v, addr, &r))
		return false;
	(void)snprintf(m->type, sizeof(m->type), "%s", r.kind);
	(void)snprintf(m->text, sizeof(m->text), "%s", r.text);
	m->cut = r.text_cut;
	return true;
}

bool ptc_runtime_message_read(const struct ptc_crash_state *d, size_t i,
			      struct ptc_runtime_message *ret)
{
	const struct ptc_memory_view v = { (void *)(uintptr_t)d, read_saved };
	const struct ptc_crash_message *at = &d->messages[i];

	*ret = (struct ptc_runtime_message){ .kind = (enum ptc_crash_message_kind)at->what };
	if (at->what == PTC_CRASH_ABORT_MSG)
		return ptc_abort_msg_read(&v, at->addr, ret->text, sizeof(ret->text), &ret->cut);
	if (at->what == PTC_CRASH_CXX_EXCEPTION)
		return read_exception(&v, at->addr, ret);
	if (at->what == PTC_CRASH_RUST_PANIC)
		return read_panic(&v, at->addr, ret);
	if (at->what == PTC_CRASH_ASAN_REPORT)
		return read_asan(&v, at->addr, ret);
	return false;
}

/* --- finding --- */

struct collecting {
	struct ptc_message_search search;
	struct ptc_message_found found;
};

static bool take_range(struct ptc_crash_state *d, const struct collecting *c,
		       const struct ptc_message_range *r)
{
	uint8_t *copy;
	size_t n;

	if (!ptc_grow(&d->pieces, &d->pieces_cap, d->npieces + 1, sizeof(*d->pieces)))
		return false;
	copy = malloc(r->len);
	if (!copy)
		return false;
	n = c->search.view.read(c->search.view.ctx, r->addr, copy, r->len);
	d->pieces[d->npieces++] =
		(struct ptc_crash_state_piece){ r->addr, ptc_cur_init(copy, n), copy };
	return true;
}

bool ptc_runtime_message_find(struct ptc_crash_state *d,
			      size_t (*read)(void *ctx, uint64_t addr, void *to, size_t len),
			      void *ctx, const struct ptc_crash_thread *thread)
{
	struct collecting *c = calloc(1, sizeof(*c));
	bool ok = c != NULL;
	size_t i;

	if (!c)
		return false;
	c->search.view = (struct ptc_memory_view){ ctx, read };
	c->search.fs_base = thread->regs[PTC_REG_FS_BASE];
	c->search.sp = thread->regs[PTC_REG_RSP];
	c->search.r14 = thread->regs[PTC_REG_R14];
	c->search.aborts = d->signal.signo == SIGABRT;
	for (i = 0; i < d->nmaps; i++)
		ptc_message_add_map(&c->search, d->maps[i].map.start, d->maps[i].map.end,
				    d->maps[i].map.prot, d->maps[i].name);
	ptc_message_collect(&c->search, &c->found);
	for (i = 0; ok && i < c->found.nroots; i++) {
		const struct ptc_crash_message m = { d->signal.pid, thread->tid,
						     c->found.roots[i].kind,
						     c->found.roots[i].addr };

		ok = ptc_crash_state_add_message(d, &m);
	}
	for (i = 0; ok && i < c->found.nranges; i++)
		ok = take_range(d, c, &c->found.ranges[i]);
	free(c);
	return ok;
}
