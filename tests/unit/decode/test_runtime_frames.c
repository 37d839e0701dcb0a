/* SPDX-License-Identifier: MIT */
/* Description: functions of a runtime are distinguished from functions of the program. */
#include <criterion/criterion.h>

#include "decode/crash/runtime_frames.h"

struct known {
	const char *file, *function;
	enum ptc_runtime runtime;
};

static void check_all(const struct known *k, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		cr_assert_eq(ptc_runtime_of(k[i].file, k[i].function), k[i].runtime, "%s %s",
			     k[i].file, k[i].function);
}

Test(runtime_frames, a_function_of_a_runtimes_library_is_known_by_the_file)
{
	static const struct known k[] = {
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "anything", PTC_RUNTIME_C },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL, PTC_RUNTIME_C },
		{ "/lib64/libc-2.31.so", NULL, PTC_RUNTIME_C },
		{ "/lib64/ld-linux-x86-64.so.2", NULL, PTC_RUNTIME_C },
		{ "libstdc++.so.6.0.30", NULL, PTC_RUNTIME_CXX },
		{ "/lib/libgcc_s.so.1", NULL, PTC_RUNTIME_CXX },
		{ "/lib/libstd-0123456789abcdef.so", NULL, PTC_RUNTIME_RUST },
		{ "/lib/libasan.so.8", NULL, PTC_RUNTIME_SANITIZER },
		{ "/lib/libm.so.6", "sin", PTC_RUNTIME_C },
		{ "[vdso]", "__vdso_time", PTC_RUNTIME_C },
		{ "/lib/libcurl.so.4", "easy", PTC_RUNTIME_NONE },
		{ "/lib/libcrypt.so.1", NULL, PTC_RUNTIME_NONE },
		{ "/libc.so.6/prog", NULL, PTC_RUNTIME_NONE },
		{ NULL, NULL, PTC_RUNTIME_NONE },
		{ "", "", PTC_RUNTIME_NONE },
	};

	check_all(k, sizeof(k) / sizeof(k[0]));
}

Test(runtime_frames, a_function_that_is_linked_into_the_program_is_known_by_its_name)
{
	static const struct known k[] = {
		{ "/bin/x", "abort", PTC_RUNTIME_C },
		{ "/bin/x", "aborts", PTC_RUNTIME_NONE },
		{ "/bin/x", "__assert_fail_base.cold", PTC_RUNTIME_C },
		{ "/bin/x", "_int_free", PTC_RUNTIME_C },
		{ "/bin/x", "free_twice", PTC_RUNTIME_NONE },
		{ "/bin/x", "_init", PTC_RUNTIME_C },
		{ "/bin/x", "_initialize", PTC_RUNTIME_NONE },
		{ "/bin/x", "main", PTC_RUNTIME_NONE },
		{ "/bin/x", "std::terminate()", PTC_RUNTIME_CXX },
		{ "/bin/x", "std::map<int, int>::at(int const&) const", PTC_RUNTIME_CXX },
		{ "/bin/x", "std::f(int) [clone .cold]", PTC_RUNTIME_CXX },
		{ "/bin/x", "_ZSt9terminatev", PTC_RUNTIME_CXX },
		{ "/bin/x", "__cxa_throw", PTC_RUNTIME_CXX },
		{ "/bin/x", "core::fail(int)", PTC_RUNTIME_NONE },
		{ "/bin/x", "core::panicking::panic_fmt", PTC_RUNTIME_RUST },
		{ "/bin/x", "<core::option::Option<T>>::unwrap", PTC_RUNTIME_RUST },
		{ "/bin/x", "std::panicking::begin_panic_handler::{{closure}}", PTC_RUNTIME_RUST },
		{ "/bin/x", "<&dyn Run as core::ops::function::FnOnce<()>>::call_once",
		  PTC_RUNTIME_RUST },
		{ "/bin/x", "<prog::Shape as core::fmt::Debug>::fmt", PTC_RUNTIME_NONE },
		{ "/bin/x", "_ZN4core9panicking9panic_fmt17h0123456789abcdefE", PTC_RUNTIME_RUST },
		{ "/bin/x", "_ZN4core4failEi", PTC_RUNTIME_NONE },
		{ "/bin/x", "prog::main", PTC_RUNTIME_NONE },
		{ "/bin/x", "runtime.gopanic", PTC_RUNTIME_GO },
		{ "/bin/x", "internal/runtime/maps.fatal", PTC_RUNTIME_GO },
		{ "/bin/x", "main.use", PTC_RUNTIME_NONE },
		{ "/bin/x", "runtime.part.0", PTC_RUNTIME_NONE },
		{ "/bin/x", "__asan_report_load4", PTC_RUNTIME_SANITIZER },
		{ "/bin/x", "__asan::ReportGenericError(unsigned long)", PTC_RUNTIME_SANITIZER },
		{ "/bin/x", ")", PTC_RUNTIME_NONE },
		{ "/bin/x", " const", PTC_RUNTIME_NONE },
		{ "/bin/x", " [clone ", PTC_RUNTIME_NONE },
	};

	check_all(k, sizeof(k) / sizeof(k[0]));
}

Test(runtime_frames, sources_of_runtimes_and_headers_are_known_by_their_folder)
{
	cr_assert(ptc_runtime_has_source("/usr/include/c++/12/bits/stl_vector.h"));
	cr_assert(ptc_runtime_has_source("/opt/gcc/include/c++/13/vector"));
	cr_assert(ptc_runtime_has_source("/rustc/0123/library/core/src/option.rs"));
	cr_assert(ptc_runtime_has_source("/home/x/.rustup/lib/rustlib/src/rust/library/a.rs"));
	cr_assert_not(ptc_runtime_has_source("/home/x/usr/include/a.h"));
	cr_assert_not(ptc_runtime_has_source("src/main.rs"));
	cr_assert_not(ptc_runtime_has_source(""));
}
