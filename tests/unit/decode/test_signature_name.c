/* SPDX-License-Identifier: MIT */
/* Description: names in the signature of a crash do not depend on compilers and versions. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/crash/signature_name.h"

struct known {
	const char *name, *want;
};

static void check_all(char *(*normalise)(const char *name), const struct known *k, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		char *have = normalise(k[i].name);

		cr_assert_not_null(have);
		cr_assert_str_eq(have, k[i].want, "%s: %s, not %s", k[i].name, have, k[i].want);
		free(have);
	}
}

#define CHECK(normalise, k) check_all(normalise, k, sizeof(k) / sizeof((k)[0]))

Test(signature_name, suffixes_of_the_compiler_and_versions_are_dropped)
{
	static const struct known k[] = {
		{ "main", "main" },
		{ "foo.constprop.0", "foo" },
		{ "foo.part.12", "foo" },
		{ "foo.isra.0", "foo" },
		{ "foo.cold", "foo" },
		{ "foo.cold.3", "foo" },
		{ "foo.isra.0.constprop.1.cold", "foo" },
		{ "foo.lto_priv.0", "foo" },
		{ "foo.llvm.1234567890", "foo" },
		{ "foo.localalias", "foo" },
		{ "nested.0", "nested" },
		{ "memcpy@GLIBC_2.2.5", "memcpy" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "puts@plt", "puts" },
		{ "foo2", "foo2" },
		{ "part.0", "part" },
		{ ".part.0", ".part" },
		{ ".cold", ".cold" },
		{ ".0", ".0" },
		{ "", "" },
		{ "@", "@" },
	};

	CHECK(ptc_signature_function, k);
}

Test(signature_name, cplusplus_has_no_parameters_and_no_template_arguments)
{
	static const struct known k[] = {
		{ "_ZNK5names5shape4areaEi", "names::shape::area" },
		{ "names::shape::area(int) const", "names::shape::area" },
		{ "_ZN1n5twiceImEET_S1_", "n::twice" },
		{ "get<int, std::vector<int>>(std::vector<int> const&) [clone .isra.0]", "get" },
		{ "box<pair<int, long> >::put(int) [clone .constprop.0] [clone .cold]",
		  "box::put" },
		{ "f(void (*)(int), std::function<int (long)>)", "f" },
		{ "operator<< <int>(box<int>&)", "operator<<" },
		{ "box<int>::operator()(int) const", "box::operator()" },
		{ "box<int>::operator()<a<b> >(int) const", "box::operator()" },
		{ "box<int>::operator->() const", "box::operator->" },
		{ "bool operator< (a const&, a const&)", "bool operator<" },
		{ "ref() &&", "ref" },
		{ "ref() const &", "ref" },
		{ "name[abi:cxx11](int)", "name" },
		{ "non-virtual thunk to square::area(int)", "square::area" },
		{ "std::__cxx11::basic_string<char>::at(unsigned long)", "std::basic_string::at" },
		{ "std::__1::vector<int>::at(unsigned long)", "std::vector::at" },
	};

	CHECK(ptc_signature_function, k);
}

Test(signature_name, namespaces_without_a_name_and_lambdas_have_no_number)
{
	static const struct known k[] = {
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f" },
		{ "_GLOBAL__N_1::f", "(anonymous namespace)::f" },
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()" },
		{ "f(int)::{lambda()#12}::operator()() const::{lambda(auto:1)#2}::operator()<int>("
		  "int) const",
		  "f::{lambda}::operator()::{lambda}::operator()" },
		{ "f(int)::$_0::operator()() const", "f::{lambda}::operator()" },
		{ "f(int)::'lambda1'(int)::operator()(int) const", "f::{lambda}::operator()" },
		{ "{unnamed type#1}::f()", "{unnamed type}::f" },
	};

	CHECK(ptc_signature_function, k);
}

Test(signature_name, rust_has_no_hash_and_no_number)
{
	static const struct known k[] = {
		{ "_ZN4prog3get17h0123456789abcdefE", "prog::get" },
		{ "prog::get::h0123456789abcdef", "prog::get" },
		{ "prog::help::h0123456789abcdeg", "prog::help::h0123456789abcdeg" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "mycrate[0123456789abcdef]::foo", "mycrate::foo" },
		{ "prog::main::{{closure}}", "prog::main::{closure}" },
		{ "prog::main::{closure#3}", "prog::main::{closure}" },
		{ "<prog::Shape as core::fmt::Debug>::fmt",
		  "<prog::Shape as core::fmt::Debug>::fmt" },
		{ "<prog::Box<u8> as prog::Get<u8>>::get", "<prog::Box as prog::Get>::get" },
		{ "<prog::Shape>::area", "prog::Shape::area" },
		{ "prog::map::<u8, alloc::vec::Vec<u8>>", "prog::map" },
		{ "prog::map::<u8>::{closure#0}", "prog::map::{closure}" },
	};

	CHECK(ptc_signature_function, k);
}

Test(signature_name, go_has_no_type_arguments_and_no_number)
{
	static const struct known k[] = {
		{ "main.use", "main.use" },
		{ "main.(*node).next", "main.(*node).next" },
		{ "main.main.func1", "main.main.func" },
		{ "main.main.func1.2", "main.main.func" },
		{ "main.main.func2.1.func3", "main.main.func.func" },
		{ "main.function1", "main.function1" },
		{ "main.func1x", "main.func1x" },
		{ "main.Map[go.shape.int_0,go.shape.struct { F []int }]", "main.Map" },
		{ "main.Map[...].func1", "main.Map.func" },
		{ "main.(*Box[...]).Get", "main.(*Box).Get" },
		{ "main.run.deferwrap1", "main.run.deferwrap" },
		{ "main.run.gowrap2", "main.run.gowrap" },
		{ "main.init.0", "main.init" },
		{ "gopkg.in/yaml%2ev3.parse", "gopkg.in/yaml%2ev3.parse" },
	};

	CHECK(ptc_signature_function, k);
}

Test(signature_name, a_name_of_brackets_or_with_damage_does_no_harm)
{
	static const char name[] = "<a as b<{lambda(int)#1}>>::f[abi:x](int (*)(c<d>)) const::$_0::"
				   "_GLOBAL__N_1::operator()<(e)(1)>() [clone .cold.0].func1.2";
	char *text, *have;
	size_t n, first;

	for (first = 0; first < sizeof(name); first++)
		for (n = 0; n < sizeof(name) - first; n++) {
			text = strndup(name + first, n);
			cr_assert_not_null(text);
			have = ptc_signature_function(text);
			cr_assert(have && (!n || *have), "%s", text);
			free(have);
			free(text);
		}
	text = malloc(1 << 20);
	cr_assert_not_null(text);
	memset(text, '{', 1 << 20);
	text[(1 << 20) - 1] = '\0';
	have = ptc_signature_function(text);
	cr_assert(have && strlen(have) < 1 << 16);
	free(have);
	free(text);
}

Test(signature_name, a_module_has_no_folder_and_no_version)
{
	static const struct known k[] = {
		{ "/usr/bin/prog", "prog" },
		{ "prog", "prog" },
		{ "/usr/bin/prog (deleted)", "prog" },
		{ "/usr/lib/libfoo.so", "libfoo.so" },
		{ "/usr/lib/libfoo.so.1.2.3", "libfoo.so" },
		{ "/usr/lib/libfoo.so.1 (deleted)", "libfoo.so" },
		{ "/usr/lib/libfoo-1.2.so.0", "libfoo.so" },
		{ "/opt/libfoo-0cf96a72.so.3.23", "libfoo.so" },
		{ "/opt/libfoo-deadline.so", "libfoo-deadline.so" },
		{ "/usr/lib/libQt5Core.so.5", "libQt5Core.so" },
		{ "/usr/bin/python3.11", "python" },
		{ "/usr/bin/python3", "python3" },
		{ "/usr/lib/libpython3.11.so.1.0", "libpython.so" },
		{ "/x/_ssl.cpython-311-x86_64-linux-gnu.so", "_ssl.so" },
		{ "/x/fast.abi3.so", "fast.so" },
		{ "/usr/bin/gcc-12", "gcc" },
		{ "/usr/bin/tool_v1.5", "tool_v" },
		{ "/usr/bin/tool_1.5", "tool" },
		{ "/usr/bin/worker2", "worker2" },
		{ "/x/1.2", "1.2" },
		{ "/x/prog.", "prog." },
		{ "/x/a.sound", "a.sound" },
		{ "/x/.so", ".so" },
		{ "/tmp/jitted-123-4.so", "[anonymous]" },
		{ "//anon", "[anonymous]" },
		{ "/memfd:code (deleted)", "[anonymous]" },
		{ "[heap]", "[anonymous]" },
		{ NULL, "[anonymous]" },
		{ "", "" },
	};

	CHECK(ptc_signature_module, k);
}

Test(signature_name, pythons_functions_do_not_depend_on_its_version)
{
	static const struct known k[] = {
		{ "main", "main" },
		{ "<module>", "<module>" },
		{ "Shop.open.<locals>.<lambda>", "Shop.open.<lambda>" },
		{ "Shop.open.<locals>.<listcomp>.<lambda>", "Shop.open.<lambda>" },
		{ "<listcomp>.<lambda>", "<lambda>" },
		{ "f.<locals>.g.<locals>.<genexpr>", "f.g.<genexpr>" },
		{ "<loc<locals>.als>.", "" },
	};

	CHECK(ptc_signature_python_function, k);
	cr_assert(ptc_signature_is_python("python"));
	cr_assert(ptc_signature_is_python("libpython.so"));
	cr_assert(ptc_signature_is_python("_ctypes.so"));
	cr_assert_not(ptc_signature_is_python("_json.so"));
	cr_assert_not(ptc_signature_is_python("pythonic"));
}
