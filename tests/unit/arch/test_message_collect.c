/* SPDX-License-Identifier: MIT */
/*
 * Description: the messages that a runtime leaves in memory are found and read. Damaged memory
 * gives no message, and no reading beyond the memory.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/abort_msg.h"
#include "arch/cxx_exception.h"
#include "arch/memory_view.h"
#include "arch/message_collect.h"
#include "arch/rust_panic.h"
#include "lib_memory.h"
#include "ptcap/crash.h"

enum {
	PAGE = 4096,
	VARIABLES = 0x10000,
	MESSAGE = 0x20000,
	FS_BASE = 0x30000,
	DTV = 0x40000,
	MODULE = 0x41000,
	EXCEPTION = 0x50000, /* struct __cxa_exception */
	HEADER = EXCEPTION + 80,
	OBJECT = EXCEPTION + 112,
	TYPE = 0x60000,
	BASE = 0x60100,
	NAMES = 0x70000,
	TABLE = 0x80000,
	WHAT = 0x81234,
	TEXT = 0x90000,
};

/* --- strings --- */

Test(message_collect, a_string_is_read_up_to_its_end_or_the_limit)
{
	static const char text[] = "0123456789012345678901234567890123456789"
				   "012345678901234567890123456789012345678901234567890";
	char got[sizeof(text)];
	size_t size;
	bool is_cut;

	for (size = 0; size <= sizeof(text); size++) {
		struct mm_memory m = { .n = 0 };
		const struct ptc_memory_view v = mm_view(&m);

		mm_add(&m, TEXT, text, size);
		cr_assert_eq(ptc_view_string(&v, TEXT, got, sizeof(got), &is_cut),
			     size == sizeof(text));
		mm_release(&m);
	}
	for (size = 1; size <= sizeof(text); size++) {
		struct mm_memory m = { .n = 0 };
		const struct ptc_memory_view v = mm_view(&m);

		mm_add(&m, TEXT, text, sizeof(text));
		cr_assert(ptc_view_string(&v, TEXT, got, size, &is_cut));
		cr_assert_eq(strlen(got), size - 1);
		cr_assert_eq(is_cut, size < sizeof(text));
		cr_assert_not(strncmp(got, text, size - 1));
		mm_release(&m);
	}
	cr_assert(ptc_is_text("a\tb\n") && ptc_is_text("\xc3\xa4"));
	cr_assert_not(ptc_is_text("") || ptc_is_text("a\033[m") || ptc_is_text("\x7f"));
}

/* --- the message of the C library --- */

/* Memory with a message whose size field is @size. */
static struct mm_memory aborted(const char *text, uint32_t size, uint64_t at)
{
	struct mm_memory m = { .n = 0 };
	uint64_t variables[PAGE / 8] = { 0 };
	uint8_t page[PAGE] = { 0 };

	variables[100] = VARIABLES; /* other pages: no message */
	variables[101] = TEXT;
	variables[500] = at;
	memcpy(page, &size, sizeof(size));
	memcpy(page + 4, text, strlen(text) + 1);
	mm_add(&m, VARIABLES, variables, sizeof(variables));
	mm_add(&m, at, page, sizeof(page));
	return m;
}

Test(message_collect, the_message_of_the_c_library_is_found_without_its_symbol)
{
	struct mm_memory m = aborted("free(): invalid pointer\n", PAGE, MESSAGE);
	const struct ptc_memory_view v = mm_view(&m);
	uint64_t at = 0;
	char got[64];
	bool is_cut;

	cr_assert(ptc_abort_msg_find(&v, VARIABLES, VARIABLES + 2 * PAGE, &at));
	cr_assert_eq(at, MESSAGE);
	cr_assert(ptc_abort_msg_read(&v, at, got, sizeof(got), &is_cut));
	cr_assert_str_eq(got, "free(): invalid pointer");
	cr_assert_not(is_cut);
	cr_assert(ptc_abort_msg_read(&v, at, got, 5, &is_cut));
	cr_assert(is_cut && !strcmp(got, "free"));
	cr_assert_not(ptc_abort_msg_find(&v, VARIABLES, VARIABLES + 500 * 8, &at));
	cr_assert(ptc_abort_msg_find(&v, VARIABLES + 4, VARIABLES + 501 * 8, &at));
	mm_release(&m);
}

Test(message_collect, other_pages_are_no_message)
{
	static const struct {
		const char *text;
		uint32_t size;
		uint64_t at;
	} none[] = {
		{ "x", 0, MESSAGE },
		{ "x", 24, MESSAGE },
		{ "x", 2 * PAGE, MESSAGE }, /* one page would do */
		{ "x", UINT32_MAX & ~(uint32_t)(PAGE - 1), MESSAGE },
		{ "x", PAGE, MESSAGE + 16 },
		{ "", PAGE, MESSAGE },
		{ "\n\n", PAGE, MESSAGE },
		{ "\033[m", PAGE, MESSAGE },
	};
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct mm_memory m = aborted(none[i].text, none[i].size, none[i].at);
		const struct ptc_memory_view v = mm_view(&m);
		uint64_t at;

		cr_assert_not(ptc_abort_msg_find(&v, VARIABLES, VARIABLES + PAGE, &at), "%zu", i);
		mm_release(&m);
	}
}

Test(message_collect, a_message_that_is_cut_anywhere_is_none)
{
	static const char text[] = "assertion failed\n";
	size_t len;

	for (len = 0; len < 4 + sizeof(text); len++) {
		struct mm_memory m = aborted(text, PAGE, MESSAGE);
		const struct ptc_memory_view v = mm_view(&m);
		char got[64];
		bool is_cut;

		mm_cut(&m, 1, len);
		cr_assert_not(ptc_abort_msg_read(&v, MESSAGE, got, sizeof(got), &is_cut), "%zu",
			      len);
		mm_release(&m);
	}
}

/* --- the exception --- */

/*
 * A thread that caught an exception of type "8my_error", which is a runtime_error with the text
 * "boom". The thread's variables are of module 2.
 */
static struct mm_memory thrown(const char class[8])
{
	static const char names[] = "8my_error\0\0\0\0\0\0\0*St13runtime_error";
	const uint64_t tcb[] = { FS_BASE, DTV };
	const uint64_t dtv[] = { 3, 0, 7, 0, UINT64_MAX, 0, MODULE, 0, 0, 0 };
	const uint64_t type[] = { TABLE, NAMES, BASE };
	const uint64_t base[] = { TABLE, NAMES + 16, 0 };
	const uint64_t table[] = { 1, 2, WHAT };
	uint64_t module[64] = { 0 }, exception[18] = { TYPE };
	struct mm_memory m = { .n = 0 };

	module[3] = EXCEPTION;
	memcpy(&exception[10], class, 8);
	exception[14] = TABLE;
	exception[15] = TEXT;
	mm_words(&m, FS_BASE, tcb, 2);
	mm_words(&m, DTV - 16, dtv, 10);
	mm_words(&m, MODULE, module, 64);
	mm_words(&m, EXCEPTION, exception, 18);
	mm_words(&m, TYPE, type, 3);
	mm_words(&m, BASE, base, 3);
	mm_words(&m, TABLE, table, 3);
	mm_add(&m, NAMES, names, sizeof(names));
	mm_add(&m, TEXT, "boom", 5);
	return m;
}

static const char gnu[] = "\0++CCUNG", dependent[] = "\1++CCUNG", other[] = "\0++CCUNX";

Test(message_collect, the_exception_of_the_thread_is_found_with_type_and_text)
{
	struct mm_memory m = thrown(gnu);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_cxx_exception e;
	uint64_t at = 0;

	cr_assert(ptc_cxx_exception_find(&v, FS_BASE, &at));
	cr_assert_eq(at, HEADER);
	cr_assert(ptc_cxx_exception_read(&v, at, &e));
	cr_assert_str_eq(e.type, "8my_error");
	cr_assert_str_eq(e.text, "boom");
	cr_assert(e.what == WHAT && !e.text_cut);
	mm_release(&m);
}

Test(message_collect, an_exception_of_another_language_is_none)
{
	struct mm_memory m = thrown(other);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_cxx_exception e;
	uint64_t at;

	cr_assert_not(ptc_cxx_exception_find(&v, FS_BASE, &at));
	cr_assert_not(ptc_cxx_exception_read(&v, HEADER, &e));
	cr_assert_not(ptc_cxx_exception_find(&v, 0, &at));
	cr_assert_not(ptc_cxx_exception_find(&v, UINT64_MAX - 7, &at));
	mm_release(&m);
}

Test(message_collect, a_dependent_exception_has_the_object_of_its_primary)
{
	struct mm_memory m = thrown(gnu);
	const struct ptc_memory_view v = mm_view(&m);
	const uint64_t at = 0xa0000;
	struct ptc_cxx_exception e;
	uint64_t second[14] = { OBJECT };

	memcpy(&second[10], dependent, 8);
	mm_words(&m, at, second, 14);
	cr_assert(ptc_cxx_exception_read(&v, at + 80, &e));
	cr_assert_str_eq(e.type, "8my_error");
	cr_assert_str_eq(e.text, "boom");
	second[0] = 8; /* no object */
	mm_words(&m, at + PAGE, second, 14);
	cr_assert_not(ptc_cxx_exception_read(&v, at + PAGE + 80, &e));
	mm_release(&m);
}

Test(message_collect, of_several_bases_the_first_one_counts)
{
	struct mm_memory m = thrown(gnu);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_cxx_exception e;
	uint64_t several[] = { TABLE, NAMES, UINT64_C(2) << 32, BASE, 2, BASE, 2 | 16 << 8 };

	free(m.parts[4].bytes);
	m.parts[4] = m.parts[--m.n];
	mm_words(&m, TYPE, several, 7);
	cr_assert(ptc_cxx_exception_read(&v, HEADER, &e));
	cr_assert_str_eq(e.text, "boom");
	several[4] |= 8 << 8; /* the first one is not at the object's beginning */
	memcpy(m.parts[m.n - 1].bytes, several, sizeof(several));
	cr_assert(ptc_cxx_exception_read(&v, HEADER, &e));
	cr_assert(!e.text[0] && !e.what);
	mm_release(&m);
}

Test(message_collect, types_that_are_their_own_bases_end)
{
	struct mm_memory m = thrown(gnu);
	const struct ptc_memory_view v = mm_view(&m);
	struct ptc_cxx_exception e;
	const uint64_t own[] = { TABLE, NAMES, TYPE };

	memcpy(m.parts[4].bytes, own, sizeof(own));
	m.reads = 0;
	cr_assert(ptc_cxx_exception_read(&v, HEADER, &e));
	cr_assert(!e.text[0] && m.reads < 100);
	mm_release(&m);
}

Test(message_collect, an_exception_whose_memory_is_cut_anywhere_has_less_or_is_none)
{
	struct mm_memory first = thrown(gnu);
	const size_t parts = first.n;
	size_t i, len;

	mm_release(&first);
	for (i = 0; i < parts; i++) {
		struct mm_memory whole = thrown(gnu);

		for (len = whole.parts[i].len; len-- > 0;) {
			const struct ptc_memory_view v = mm_view(&whole);
			struct ptc_cxx_exception e;
			uint64_t at;

			mm_cut(&whole, i, len);
			if (!ptc_cxx_exception_find(&v, FS_BASE, &at) ||
			    !ptc_cxx_exception_read(&v, at, &e))
				continue;
			cr_assert_str_eq(e.type, "8my_error");
			cr_assert(!e.text[0] || !strcmp(e.text, "boom"), "%s", e.text);
		}
		mm_release(&whole);
	}
}

/* --- the panic --- */

enum { STACK = 0xb0000, LOCATION = 0xc0000, ANY = 0xc1000, RUST_FILE = 0xc2000, STRING = 0xc3000 };

/*
 * A stack whose words 40 to 43 are a panic's structure, with a payload of @size bytes. @late: a
 * word between payload and location.
 */
static struct mm_memory panicked(uint64_t size, bool late)
{
	const uint64_t any[] = { 0, size, 8, WHAT };
	const uint64_t location[] = { RUST_FILE, 11, 7 | UINT64_C(9) << 32 };
	/* a String has its capacity in front */
	const uint64_t string[] = { size == 24 ? 16 : TEXT, size == 24 ? TEXT : 4, 4 };
	uint64_t stack[128] = { 0 };
	struct mm_memory m = { .n = 0 };

	stack[3] = STACK;
	stack[4] = ANY;
	stack[40] = STRING;
	stack[41] = ANY;
	stack[42] = late ? 5 : LOCATION;
	stack[43] = late ? LOCATION : 1;
	mm_words(&m, STACK, stack, 128);
	mm_words(&m, LOCATION, location, 3);
	mm_words(&m, ANY, any, 4);
	mm_words(&m, STRING, string, 3);
	mm_add(&m, RUST_FILE, "src/main.rsoops", 15);
	mm_add(&m, TEXT, "boom!", 5);
	return m;
}

Test(message_collect, a_panic_is_found_on_the_stack_with_text_and_place)
{
	static const struct {
		uint64_t size;
		bool late;
		const char *text;
	} all[] = {
		{ 16, false, "boom" }, { 24, false, "boom" }, { 16, true, "boom" },
		{ 24, true, "boom" },  { 8, false, "" },      { 0, false, "" },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct mm_memory m = panicked(all[i].size, all[i].late);
		const struct ptc_memory_view v = mm_view(&m);
		struct ptc_rust_panic p;
		uint64_t at = 0;

		cr_assert(ptc_rust_panic_find(&v, STACK + 5, &at), "%zu", i);
		cr_assert_eq(at, STACK + 40 * 8);
		cr_assert(ptc_rust_panic_read(&v, at, &p));
		cr_assert_str_eq(p.text, all[i].text);
		cr_assert_str_eq(p.file, "src/main.rs");
		cr_assert(p.line == 7 && p.column == 9 && !p.text_cut);
		cr_assert_not(ptc_rust_panic_find(&v, STACK + 41 * 8, &at));
		mm_release(&m);
	}
}

Test(message_collect, structures_unlike_a_panic_are_none)
{
	static const struct {
		size_t part, word;
		uint64_t value;
	} odd[] = {
		{ 0, 40, 0 },		     /* no payload */
		{ 0, 41, ANY + 1 },	     /* no table */
		{ 1, 0, 8 },		     /* no address of a file name */
		{ 1, 1, 10 },		     /* src/main.r */
		{ 1, 1, UINT64_MAX },	     /* of a length that is none */
		{ 1, 2, UINT64_C(9) << 32 }, /* line 0 */
		{ 1, 2, 7 },		     /* column 0 */
		{ 1, 2, UINT32_MAX | UINT64_C(9) << 32 },
		{ 2, 0, 5 }, /* no function */
		{ 2, 1, 7 }, /* a size that does not fit the alignment */
		{ 2, 2, 3 }, /* no alignment */
		{ 2, 3, 0 }, /* no function */
	};
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct mm_memory m = panicked(16, false);
		const struct ptc_memory_view v = mm_view(&m);
		uint64_t at;

		memcpy(m.parts[odd[i].part].bytes + odd[i].word * 8, &odd[i].value, 8);
		cr_assert_not(ptc_rust_panic_find(&v, STACK, &at), "%zu", i);
		mm_release(&m);
	}
}

Test(message_collect, a_panic_whose_memory_is_cut_anywhere_has_less_or_is_none)
{
	size_t size, i, len;

	for (size = 16; size <= 24; size += 8)
		for (i = 0; i < 6; i++) {
			struct mm_memory m = panicked(size, false);

			for (len = m.parts[i].len; len-- > 0;) {
				const struct ptc_memory_view v = mm_view(&m);
				struct ptc_rust_panic p;
				uint64_t at;

				mm_cut(&m, i, len);
				if (!ptc_rust_panic_find(&v, STACK, &at) ||
				    !ptc_rust_panic_read(&v, at, &p))
					continue;
				cr_assert_str_eq(p.file, "src/main.rs");
				cr_assert(!p.text[0] || !strcmp(p.text, "boom"));
			}
			mm_release(&m);
		}
}

Test(message_collect, the_search_of_a_stack_without_a_panic_ends)
{
	uint8_t *bytes = malloc(1 << 20);
	struct mm_memory m = { .n = 0 };
	const struct ptc_memory_view v = mm_view(&m);
	uint64_t at;

	cr_assert_not_null(bytes);
	memset(bytes, 0x41, 1 << 20);
	mm_add(&m, STACK, bytes, 1 << 20);
	free(bytes);
	cr_assert_not(ptc_rust_panic_find(&v, STACK, &at));
	cr_assert_lt(m.reads, 10000);
	cr_assert_not(ptc_rust_panic_find(&v, UINT64_MAX - 100, &at));
	cr_assert_not(ptc_rust_panic_find(&v, UINT64_MAX, &at));
	mm_release(&m);
}

/* --- collecting --- */

Test(message_collect, what_is_collected_is_all_that_the_readers_need)
{
	struct ptc_message_search *s = calloc(1, sizeof(*s));
	struct ptc_message_found *f = calloc(1, sizeof(*f));
	struct mm_memory m = thrown(gnu), more = aborted("gone", PAGE, MESSAGE), kept = { .n = 0 };
	const struct ptc_memory_view saved = mm_view(&kept);
	struct ptc_cxx_exception e;
	uint8_t bytes[PAGE];
	char got[64];
	bool is_cut;
	size_t i;

	cr_assert(s && f);
	mm_add(&m, VARIABLES, more.parts[0].bytes, PAGE);
	mm_add(&m, MESSAGE, more.parts[1].bytes, PAGE);
	s->view = mm_view(&m);
	s->fs_base = FS_BASE;
	s->aborts = true;
	ptc_message_add_map(s, VARIABLES - PAGE, VARIABLES, PROT_READ | PROT_EXEC, "/bin/x");
	ptc_message_add_map(s, VARIABLES, VARIABLES + 16, PROT_READ | PROT_WRITE, "/bin/x");
	ptc_message_add_map(s, VARIABLES + 16, VARIABLES + PAGE, PROT_READ | PROT_WRITE, "");
	ptc_message_add_map(s, MESSAGE, MESSAGE + PAGE, PROT_READ | PROT_WRITE, "");
	cr_assert(s->nareas == 1 && s->areas[0].end == VARIABLES + PAGE);
	ptc_message_collect(s, f);
	cr_assert_eq(f->nroots, 2);
	cr_assert(f->roots[0].kind == PTC_CRASH_ABORT_MSG && f->roots[0].addr == MESSAGE);
	cr_assert(f->roots[1].kind == PTC_CRASH_CXX_EXCEPTION && f->roots[1].addr == HEADER);
	cr_assert(f->bytes < 2048, "%zu bytes", f->bytes);
	for (i = 0; i < f->nranges; i++) {
		cr_assert(f->ranges[i].len <= sizeof(bytes));
		cr_assert_eq(mm_read(&m, f->ranges[i].addr, bytes, f->ranges[i].len),
			     f->ranges[i].len);
		if (kept.n < MM_PARTS)
			mm_add(&kept, f->ranges[i].addr, bytes, f->ranges[i].len);
	}
	cr_assert_eq(kept.n, f->nranges);
	cr_assert(ptc_abort_msg_read(&saved, MESSAGE, got, sizeof(got), &is_cut));
	cr_assert_str_eq(got, "gone");
	cr_assert(ptc_cxx_exception_read(&saved, HEADER, &e));
	cr_assert_str_eq(e.text, "boom");
	mm_release(&m);
	mm_release(&more);
	mm_release(&kept);
	free(s);
	free(f);
}
