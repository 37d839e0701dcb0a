/* SPDX-License-Identifier: MIT */
#include "arch/cxx_exception.h"

#include <string.h>

#include "base/cursor.h"

enum {
	WORD = 8,
	/* struct _Unwind_Exception, the end of the header, which the thrown object follows */
	HEADER = 32,
	/* from the end of __cxa_exception: exceptionType. A dependent one has its object there. */
	TYPE_BEFORE_OBJECT = 112,
	/* __cxa_eh_globals points to the whole structure: to its unwinder's header in ... */
	TO_HEADER_GNU = 80,
	TO_HEADER_LLVM = 96,
	/* memory in front of the thread pointer that is searched for variables */
	STATIC_TLS = 8192,
	/* the same of each module that the dynamic thread vector has */
	MODULE_TLS = 512,
	MODULES_MAX = 256,
	BASES_MAX = 8,	/* base classes of base classes */
	WHAT_SLOT = 16, /* offset in the virtual table: behind two destructors */
};

enum whose { NOBODY, GNU, GNU_DEPENDENT, LLVM };

/* Returns whose exception the header at @addr belongs to, by its class. */
static enum whose header_of(const struct ptc_memory_view *v, uint64_t addr)
{
	static const struct {
		char class[WORD + 1];
		enum whose whose;
	} known[] = {
		{ "\0++CCUNG", GNU },
		{ "\1++CCUNG", GNU_DEPENDENT },
		{ "\0++CGNLC", LLVM },
	};
	uint8_t class[WORD];
	size_t i;

	if (addr % WORD || !ptc_view_read(v, addr, class, sizeof(class)))
		return NOBODY;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!memcmp(class, known[i].class, sizeof(class)))
			return known[i].whose;
	return NOBODY;
}

/* --- finding --- */

/* Is @addr the address of an exception, as __cxa_eh_globals.caughtExceptions is? */
static bool points_to_exception(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret)
{
	const enum whose gnu = header_of(v, addr + TO_HEADER_GNU);

	if (gnu == GNU || gnu == GNU_DEPENDENT)
		*ret = addr + TO_HEADER_GNU;
	else if (header_of(v, addr + TO_HEADER_LLVM) == LLVM)
		*ret = addr + TO_HEADER_LLVM;
	else
		return false;
	return true;
}

/* Searches variables for the address of an exception. A heap is above the first page of memory. */
static bool search(const struct ptc_memory_view *v, uint64_t from, size_t len, uint64_t *ret)
{
	uint8_t bytes[MODULE_TLS];
	size_t done, i;

	for (done = 0; done < len; done += sizeof(bytes)) {
		if (!ptc_view_read(v, from + done, bytes, sizeof(bytes)))
			continue;
		for (i = 0; i < sizeof(bytes); i += WORD) {
			const uint64_t addr = ptc_le64(bytes + i);

			if (addr >= STATIC_TLS && !(addr % WORD) && addr >> 47 == 0 &&
			    points_to_exception(v, addr, ret))
				return true;
		}
	}
	return false;
}

/*
 * The thread pointer is followed by the address of the dynamic thread vector (dtv): pairs of the
 * address of a module's variables and a pointer for free(). Their number is in front of the vector
 * (glibc: sysdeps/generic/dl-dtv.h). Module 1 is the second pair.
 */
static bool search_modules(const struct ptc_memory_view *v, uint64_t fs_base, uint64_t *ret)
{
	uint64_t dtv, count, vars;
	size_t i;

	if (!ptc_view_word(v, fs_base + WORD, &dtv) || dtv % WORD ||
	    !ptc_view_word(v, dtv - (uint64_t)2 * WORD, &count))
		return false;
	for (i = 1; i <= count && i <= MODULES_MAX; i++)
		if (ptc_view_word(v, dtv + i * 2 * WORD, &vars) && vars && !(vars % WORD) &&
		    search(v, vars, MODULE_TLS, ret))
			return true;
	return false;
}

bool ptc_cxx_exception_find(const struct ptc_memory_view *v, uint64_t fs_base, uint64_t *ret)
{
	if (fs_base < STATIC_TLS || fs_base % WORD)
		return false;
	return search_modules(v, fs_base, ret) || search(v, fs_base - STATIC_TLS, STATIC_TLS, ret);
}

/* --- reading --- */

/* Names of types are mangled: letters, digits, underscores. */
static bool is_type(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.$";

	return *name && !name[strspn(name, letters)];
}

/*
 * Read the name of the type_info at @addr. A '*' in front tells the library to compare addresses
 * instead of names.
 */
static bool read_type(const struct ptc_memory_view *v, uint64_t addr, char ret[PTC_CXX_TYPE])
{
	uint64_t name;
	bool cut;

	if (addr % WORD || !ptc_view_word(v, addr + WORD, &name) ||
	    !ptc_view_string(v, name, ret, PTC_CXX_TYPE, &cut) || cut)
		return false;
	if (ret[0] == '*')
		memmove(ret, ret + 1, strlen(ret));
	return is_type(ret);
}

/*
 * Get the first base of the type_info at @addr, which must be at the same place as the derived
 * object. __si_class_type_info has a pointer there; __vmi_class_type_info flags, a count, and then
 * the pointer with an offset (Itanium C++ ABI 2.9.5). A type without bases has neither.
 */
static bool first_base(const struct ptc_memory_view *v, uint64_t addr, uint64_t *ret)
{
	uint64_t word, offset;

	if (!ptc_view_word(v, addr + (uint64_t)2 * WORD, &word))
		return false;
	*ret = word;
	if (word >> 32 == 0 || word >> 32 > BASES_MAX || (word & UINT32_MAX) > 3)
		return true;
	return ptc_view_word(v, addr + (uint64_t)3 * WORD, ret) &&
	       ptc_view_word(v, addr + (uint64_t)4 * WORD, &offset) && offset >> 8 == 0;
}

/* Does the type, or one of its bases, keep a string: std::runtime_error and std::logic_error? */
static bool keeps_string(const struct ptc_memory_view *v, uint64_t type)
{
	char name[PTC_CXX_TYPE];
	size_t i;

	for (i = 0; i < BASES_MAX && read_type(v, type, name); i++) {
		if (!strcmp(name, "St13runtime_error") || !strcmp(name, "St11logic_error"))
			return true;
		if (!first_base(v, type, &type))
			return false;
	}
	return false;
}

/* Is the type a pointer to characters, or std::string, which begins with such a pointer? */
static bool is_string(const char *type)
{
	return !strcmp(type, "PKc") || !strcmp(type, "Pc") ||
	       !strcmp(type, "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
}

static void read_text(const struct ptc_memory_view *v, uint64_t at, struct ptc_cxx_exception *ret)
{
	uint64_t text;

	if (!ptc_view_word(v, at, &text) ||
	    !ptc_view_string(v, text, ret->text, sizeof(ret->text), &ret->text_cut) ||
	    !ptc_is_text(ret->text)) {
		ret->text[0] = '\0';
		ret->text_cut = false;
	}
}

/* An object with a string begins with its virtual table, and the string follows. */
static void read_object(const struct ptc_memory_view *v, uint64_t object,
			struct ptc_cxx_exception *ret)
{
	uint64_t table;

	read_text(v, object + WORD, ret);
	if (!ptc_view_word(v, object, &table) || table % WORD ||
	    !ptc_view_word(v, table + WHAT_SLOT, &ret->what))
		ret->what = 0;
}

bool ptc_cxx_exception_read(const struct ptc_memory_view *v, uint64_t addr,
			    struct ptc_cxx_exception *ret)
{
	const enum whose whose = header_of(v, addr);
	uint64_t object = addr + HEADER, type;

	*ret = (struct ptc_cxx_exception){ .what = 0 };
	if (whose == NOBODY)
		return false;
	if (whose == GNU_DEPENDENT && !ptc_view_word(v, object - TYPE_BEFORE_OBJECT, &object))
		return false;
	if (object % WORD || !ptc_view_word(v, object - TYPE_BEFORE_OBJECT, &type) ||
	    !read_type(v, type, ret->type))
		return false;
	if (is_string(ret->type))
		read_text(v, object, ret);
	else if (keeps_string(v, type))
		read_object(v, object, ret);
	return true;
}
