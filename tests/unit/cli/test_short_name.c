/* SPDX-License-Identifier: MIT */
/* Description: names of functions lose parts, the least important first, until they fit. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/common/short_name.h"

enum { ALL = 10000 };

static void is(const char *name, size_t width, const char *want)
{
	char *got = ptc_short_name(name, width);

	cr_assert_not_null(got);
	cr_expect_str_eq(got, want, "%zu columns: '%s', not '%s'", width, got, want);
	cr_expect(ptc_plain_width(got) <= width, "%zu columns: '%s'", width, got);
	free(got);
}

/* No width gives a longer result. */
static void every_width(const char *name)
{
	const size_t len = strlen(name);
	size_t width;
	char *got;

	for (width = 0; width < len + 10 && width < 400; width++) {
		got = ptc_short_name(name, width);
		cr_assert_not_null(got);
		cr_assert(ptc_plain_width(got) <= width, "%zu columns: '%s'", width, got);
		free(got);
	}
}

Test(short_name, plain_names_stay_as_they_are)
{
	is("", 0, "");
	is("main", 4, "main");
	is("__pthread_kill_implementation.constprop.0", ALL,
	   "__pthread_kill_implementation.constprop.0");
	is("use(shape const*)", ALL, "use(shape const*)");
	is("(anonymous namespace)::tree<int>::insert(int)", ALL,
	   "(anonymous namespace)::tree<int>::insert(int)");
}

Test(short_name, strings_and_default_arguments_of_the_library)
{
	is("f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
	   "const&)",
	   ALL, "f(std::string const&)");
	is("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
	   "::_M_append(char const*, unsigned long)",
	   ALL, "std::string::_M_append(char const*, unsigned long)");
	is("f(std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t>, "
	   "std::allocator<wchar_t> >, std::basic_string_view<char, std::char_traits<char> >)",
	   ALL, "f(std::wstring, std::string_view)");
	is("std::map<int, std::vector<long, std::allocator<long> >, std::less<int>, "
	   "std::allocator<std::pair<int const, std::vector<long, std::allocator<long> > > > "
	   ">::operator[](int const&)",
	   ALL, "std::map<int, std::vector<long>>::operator[](int const&)");
	is("std::unordered_map<int, long, std::hash<int>, std::equal_to<int>, "
	   "std::allocator<std::pair<int const, long> > >::at(int const&)",
	   ALL, "std::unordered_map<int, long>::at(int const&)");
	is("std::unique_ptr<session, std::default_delete<session> >::~unique_ptr()", ALL,
	   "std::unique_ptr<session>::~unique_ptr()");
	is("std::__1::vector<int, std::__1::allocator<int>>::push_back(int&&)", ALL,
	   "std::vector<int>::push_back(int&&)");
	/* Arguments that are the first, or the user's, stay. */
	is("f(std::allocator<char> const&)", ALL, "f(std::allocator<char> const&)");
	is("std::vector<std::less<int>, std::allocator<std::less<int> > >::size() const", ALL,
	   "std::vector<std::less<int>>::size() const");
	is("std::set<int, by_size, std::allocator<int> >::clear()", ALL,
	   "std::set<int, by_size>::clear()");
	is("std::map<int, std::allocator<int>, mine>::f()", ALL,
	   "std::map<int, std::allocator<int>, mine>::f()");
	is("my::basic_thing<char>::f()", ALL, "my::basic_thing<char>::f()");
	is("std::basic_thing<charm>::f()", ALL, "std::basic_thing<charm>::f()");
	is("std::basic_<char>::f()", ALL, "std::basic_<char>::f()");
}

Test(short_name, hashes_tags_and_clones)
{
	is("core::ptr::drop_in_place<alloc::string::String>::h0123456789abcdef", ALL,
	   "core::ptr::drop_in_place<alloc::string::String>");
	is("app::run::h0123456789abcdef.llvm.1234", ALL, "app::run.llvm.1234");
	is("app::h0123456789abcdefg", ALL, "app::h0123456789abcdefg");
	is("app::h0123456789abcde", ALL, "app::h0123456789abcde");
	is("app[317d481089b8c8fe]::run::{closure#0}", ALL, "app::run::{closure#0}");
	is("name[abi:cxx11](int)", ALL, "name(int)");
	is("parse(int) [clone .constprop.0] [clone .cold]", ALL, "parse(int) [cold]");
	is("parse(int) [clone .isra.0]", ALL, "parse(int)");
	is("parse(int) [clone .unheard_of]", ALL, "parse(int) [clone .unheard_of]");
}

Test(short_name, the_steps_until_it_fits)
{
	static const char name[] =
		"app::index<app::key<int, long>, app::value>::insert(app::key<int, long> const&)";

	is(name, 79, name);
	is(name, 78, "app::index<app::key<...>, app::value>::insert(app::key<int, long> const&)");
	is(name, 72, "app::index<app::key<...>, app::value>::insert(...)");
	is(name, 49, "app::index<...>::insert(...)");
	is(name, 27, "...::insert(...)");
}

Test(short_name, scopes_and_the_end_go_last)
{
	is("a_long_name::of_a_scope::inner::function(int, char)", 30, "...::inner::function(...)");
	is("a_long_name::of_a_scope::inner::function(int, char)", 24, "...::function(...)");
	is("a_long_name::of_a_scope::inner::function(int, char)", 17, "a_long_name::o...");
	is("a_very_long_name_in_c", 10, "a_very_...");
	is("abcdef", 3, "abc");
	is("abcdef", 0, "");
	is("github.com/user/project/store.(*Server).handle", 30, ".../store.(*Server).handle");
}

Test(short_name, operators_are_no_brackets)
{
	is("app::operator<<(std::ostream&, app::point<int, long> const&)", 30,
	   "app::operator<<(...)");
	is("app::point<int>::operator<(app::point<int> const&) const", 38,
	   "app::point<int>::operator<(...) const");
	is("bool operator< <int, long>(box<int> const&)", 25, "bool operator< <...>(...)");
	is("std::shared_ptr<app::thing<long> >::operator->() const", 42,
	   "std::shared_ptr<...>::operator->() const");
	is("main::{lambda(int, char)#1}::operator()(int, char) const", 44,
	   "main::{lambda(...)#1}::operator()(...) const");
	is("app::item::operator std::vector<int, std::allocator<int> >() const", ALL,
	   "app::item::operator std::vector<int>() const");
	is("app::myoperator<int, char>::f()", 26, "app::myoperator<...>::f()");
	is("operator new(unsigned long)", 18, "operator new(...)");
	is("f<(a)<(b)>(int, char)", 12, "f<...>(...)");
	is("f<{lambda(int)#1}>::f(decltype (x->y))", 25, "f<...>::f(...)");
}

Test(short_name, rust_and_paths)
{
	is("<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop", 20, "<...>::drop");
	is("<alloc::vec::Vec<u8, alloc::alloc::Global>>::push", 45, "<alloc::vec::Vec<...>>::push");
	is("app::run::{closure#0}", 16, "...::{closure#0}");
}

static void is_bare(const char *name, size_t width, const char *want)
{
	char *got = ptc_bare_name(name, width);

	cr_assert_not_null(got);
	cr_expect_str_eq(got, want, "%zu columns: '%s', not '%s'", width, got, want);
	free(got);
}

Test(short_name, bare_names_have_no_arguments)
{
	is_bare("main", ALL, "main");
	is_bare("use(shape const*)", ALL, "use");
	is_bare("f()", ALL, "f");
	is_bare("store::table<int, long>::find(int) const", ALL, "store::table<...>::find");
	is_bare("(anonymous namespace)::f(int)", ALL, "(anonymous namespace)::f");
	is_bare("(anonymous namespace)", ALL, "(anonymous namespace)");
	is_bare("main::{lambda(int, char)#1}::operator()(int, char) const", ALL,
		"main::{lambda(...)#1}::operator()");
	is_bare("operator()", ALL, "operator()");
	is_bare("main.(*server).handle", ALL, "main.(*server).handle");
	is_bare("f(int) [clone .cold]", ALL, "f");
	is_bare("a::b::c(int)", 6, "...::c");
	is_bare("", 5, "");
	is_bare("(", 5, "(");
	is_bare("(a)", 5, "(a)");
}

Test(short_name, characters_stay_whole)
{
	is("h\xc3\xa9h\xc3\xa9h\xc3\xa9h\xc3\xa9", 7, "h\xc3\xa9h\xc3\xa9...");
	is("\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2", 5, "\xe6\xbc\xa2...");
	every_width("\xff\x1b[31m\xc3\xa9<\xe6\xbc\xa2>::\xc3");
}

Test(short_name, hostile_names)
{
	static const char *const names[] = {
		"<",
		"<<<<<",
		">>>>",
		"a<b",
		"a>b",
		"(((",
		")))(((",
		"<(>)",
		"<{)>",
		"operator",
		"operator<",
		"::",
		"a::",
		"::::::",
		"[[[]]",
		"...",
		"[",
		" [clone .isra",
		"f(((((a))))",
		"std::basic_string<char",
		"std::basic_<>",
		"std::vector<, std::allocator<>>",
		"::h0123456789abcdef",
		"operator()operator()",
		"std::__cxx11::",
		"[0123456789abcdef",
		"a<std::less<int>",
		"<>::<>::<>",
		"- > ->",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		every_width(names[i]);
}

/* Each unit is repeated to 64 KiB and more. */
Test(short_name, long_names_are_bounded, .timeout = 60)
{
	static const char *const units[] = { "<",
					     "a<",
					     "a<b>::",
					     "(",
					     "a::",
					     "operator<",
					     ", std::less<",
					     " [clone .isra",
					     "::h",
					     "[",
					     ">",
					     "std::basic_string<char>",
					     "a<b, std::allocator<c> >",
					     "\xc3\xa9",
					     "\x1b" };
	enum { SIZE = PTC_SHORT_NAME_LIMIT + 1000 };
	char *name = malloc(SIZE + 1), *got;
	size_t i, n;

	cr_assert_not_null(name);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t len = strlen(units[i]);

		for (n = 0; n < SIZE; n++)
			name[n] = units[i][n % len];
		name[SIZE] = '\0';
		got = ptc_short_name(name, 40);
		cr_assert_not_null(got);
		cr_assert(ptc_plain_width(got) <= 40, "'%s': '%s'", units[i], got);
		free(got);
	}
	free(name);
}
