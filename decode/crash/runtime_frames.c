/* SPDX-License-Identifier: MIT */
#include "decode/crash/runtime_frames.h"

#include <stddef.h>
#include <string.h>

struct pattern {
	const char *name; /* * ends a prefix */
	enum ptc_runtime runtime;
};

/* Base names of shared libraries. */
static const struct pattern files[] = {
	{ "libc.so*", PTC_RUNTIME_C },
	{ "libc-2.*", PTC_RUNTIME_C },
	{ "libpthread.so*", PTC_RUNTIME_C },
	{ "libpthread-2.*", PTC_RUNTIME_C },
	{ "libm.so*", PTC_RUNTIME_C },
	{ "librt.so*", PTC_RUNTIME_C },
	{ "libdl.so*", PTC_RUNTIME_C },
	{ "[vdso]", PTC_RUNTIME_C },
	{ "linux-vdso*", PTC_RUNTIME_C },
	{ "ld-linux*", PTC_RUNTIME_C },
	{ "ld-2.*", PTC_RUNTIME_C },
	{ "ld-musl*", PTC_RUNTIME_C },
	{ "libstdc++.so*", PTC_RUNTIME_CXX },
	{ "libc++.so*", PTC_RUNTIME_CXX },
	{ "libc++abi.so*", PTC_RUNTIME_CXX },
	{ "libgcc_s.so*", PTC_RUNTIME_CXX },
	{ "libunwind.so*", PTC_RUNTIME_CXX },
	{ "libstd-*", PTC_RUNTIME_RUST },
	{ "libasan.so*", PTC_RUNTIME_SANITIZER },
	{ "libubsan.so*", PTC_RUNTIME_SANITIZER },
	{ "liblsan.so*", PTC_RUNTIME_SANITIZER },
	{ "libtsan.so*", PTC_RUNTIME_SANITIZER },
	{ "libclang_rt.*", PTC_RUNTIME_SANITIZER },
};

/* Functions of a runtime that is linked into the program. */
static const struct pattern functions[] = {
	/* ways to give up, and functions that these call */
	{ "abort", PTC_RUNTIME_C },
	{ "raise", PTC_RUNTIME_C },
	{ "gsignal", PTC_RUNTIME_C },
	{ "kill", PTC_RUNTIME_C },
	{ "pthread_kill*", PTC_RUNTIME_C },
	{ "__pthread_kill*", PTC_RUNTIME_C },
	{ "__GI_*", PTC_RUNTIME_C },
	{ "__assert*", PTC_RUNTIME_C },
	{ "__libc_*", PTC_RUNTIME_C },
	{ "__fortify_fail*", PTC_RUNTIME_C },
	{ "__stack_chk_fail*", PTC_RUNTIME_C },
	{ "__chk_fail", PTC_RUNTIME_C },
	{ "malloc_printerr*", PTC_RUNTIME_C },
	{ "malloc", PTC_RUNTIME_C },
	{ "realloc", PTC_RUNTIME_C },
	{ "calloc", PTC_RUNTIME_C },
	{ "free", PTC_RUNTIME_C },
	{ "_int_free*", PTC_RUNTIME_C },
	{ "_int_malloc*", PTC_RUNTIME_C },
	{ "_int_realloc*", PTC_RUNTIME_C },
	/* ways to begin */
	{ "_start", PTC_RUNTIME_C },
	{ "_start_c", PTC_RUNTIME_C },
	{ "_init", PTC_RUNTIME_C },
	{ "_fini", PTC_RUNTIME_C },
	{ "frame_dummy", PTC_RUNTIME_C },
	{ "register_tm_clones", PTC_RUNTIME_C },
	{ "deregister_tm_clones", PTC_RUNTIME_C },
	{ "start_thread", PTC_RUNTIME_C },
	{ "clone", PTC_RUNTIME_C },
	{ "clone3", PTC_RUNTIME_C },
	{ "__clone*", PTC_RUNTIME_C },

	{ "__cxa_*", PTC_RUNTIME_CXX },
	{ "__clang_call_terminate*", PTC_RUNTIME_CXX },
	{ "_Unwind_*", PTC_RUNTIME_CXX },
	{ "__gxx_personality_*", PTC_RUNTIME_CXX },
	{ "_ZSt*", PTC_RUNTIME_CXX },
	{ "_ZNSt*", PTC_RUNTIME_CXX },
	{ "_ZNKSt*", PTC_RUNTIME_CXX },
	{ "_ZN9__gnu_cxx*", PTC_RUNTIME_CXX },
	{ "_ZN10__cxxabiv1*", PTC_RUNTIME_CXX },

	{ "rust_begin_unwind*", PTC_RUNTIME_RUST },
	{ "rust_panic*", PTC_RUNTIME_RUST },
	{ "rust_eh_personality*", PTC_RUNTIME_RUST },
	{ "__rust_*", PTC_RUNTIME_RUST },
	{ "__rustc*", PTC_RUNTIME_RUST },

	{ "runtime/*", PTC_RUNTIME_GO },
	{ "internal/runtime/*", PTC_RUNTIME_GO },

	{ "__asan_*", PTC_RUNTIME_SANITIZER },
	{ "__sanitizer_*", PTC_RUNTIME_SANITIZER },
	{ "__ubsan_*", PTC_RUNTIME_SANITIZER },
	{ "__lsan_*", PTC_RUNTIME_SANITIZER },
	{ "__tsan_*", PTC_RUNTIME_SANITIZER },
	{ "__interceptor_*", PTC_RUNTIME_SANITIZER },
	{ "___interceptor_*", PTC_RUNTIME_SANITIZER },
};

/* Names that C++ prints with a list of parameters. */
static const struct pattern cxx_names[] = {
	{ "std::*", PTC_RUNTIME_CXX },		 { "__gnu_cxx::*", PTC_RUNTIME_CXX },
	{ "__cxxabiv1::*", PTC_RUNTIME_CXX },	 { "__asan::*", PTC_RUNTIME_SANITIZER },
	{ "__ubsan::*", PTC_RUNTIME_SANITIZER }, { "__sanitizer::*", PTC_RUNTIME_SANITIZER },
};

/* Names without such a list. */
static const struct pattern rust_names[] = {
	{ "std::*", PTC_RUNTIME_RUST },		 { "core::*", PTC_RUNTIME_RUST },
	{ "alloc::*", PTC_RUNTIME_RUST },	 { "panic_abort::*", PTC_RUNTIME_RUST },
	{ "panic_unwind::*", PTC_RUNTIME_RUST }, { "<std::*", PTC_RUNTIME_RUST },
	{ "<core::*", PTC_RUNTIME_RUST },	 { "<alloc::*", PTC_RUNTIME_RUST },
};

/* The same as the linker has them. C++ may have such names, too. */
static const struct pattern rust_symbols[] = {
	{ "_ZN3std*", PTC_RUNTIME_RUST },	    { "_ZN4core*", PTC_RUNTIME_RUST },
	{ "_ZN5alloc*", PTC_RUNTIME_RUST },	    { "_ZN11panic_abort*", PTC_RUNTIME_RUST },
	{ "_ZN12panic_unwind*", PTC_RUNTIME_RUST },
};

enum { RUST_HASH = 3 + 16 + 1 };

#define COUNT(of) (sizeof(of) / sizeof((of)[0]))

static enum ptc_runtime look_up(const struct pattern *of, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const size_t n = strcspn(of[i].name, "*");

		if (!strncmp(name, of[i].name, n) && (of[i].name[n] || !name[n]))
			return of[i].runtime;
	}
	return PTC_RUNTIME_NONE;
}

/* --- names of C++ and Rust --- */

/* Does @name end in the parameters of a C++ function? " const" or " [clone ...]" may follow. */
static bool has_parameters(const char *name)
{
	static const char qualifier[] = " const";
	const char *clone = strstr(name, " [clone ");
	size_t len = clone ? (size_t)(clone - name) : strlen(name);

	if (len > strlen(qualifier) &&
	    !strncmp(name + len - strlen(qualifier), qualifier, strlen(qualifier)))
		len -= strlen(qualifier);
	return len && name[len - 1] == ')';
}

/* Does @name end in the hash of Rust's older scheme: "17h", 16 digits, "E"? */
static bool has_rust_hash(const char *name)
{
	const size_t len = strlen(name);

	return len > RUST_HASH && !strncmp(name + len - RUST_HASH, "17h", 3);
}

/* The compiler makes a function that calls a closure: "<TYPE as core::ops::function::Fn>::call". */
static bool is_rust_shim(const char *name)
{
	return name[0] == '<' && strstr(name, " as core::ops::function::Fn");
}

/* --- names of Go --- */

/* A C function named "runtime" has clones: runtime.part.0, runtime.constprop.0. */
static bool is_of_go(const char *name)
{
	static const char package[] = "runtime.";
	static const struct pattern clones[] = {
		{ "part.*", PTC_RUNTIME_C }, { "constprop.*", PTC_RUNTIME_C },
		{ "isra.*", PTC_RUNTIME_C }, { "cold*", PTC_RUNTIME_C },
		{ "llvm.*", PTC_RUNTIME_C },
	};

	return !strncmp(name, package, strlen(package)) &&
	       look_up(clones, COUNT(clones), name + strlen(package)) == PTC_RUNTIME_NONE;
}

enum ptc_runtime ptc_runtime_of(const char *file, const char *function)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	enum ptc_runtime ret = PTC_RUNTIME_NONE;

	if (file)
		ret = look_up(files, COUNT(files), slash ? slash + 1 : file);
	if (ret != PTC_RUNTIME_NONE || !function)
		return ret;
	ret = look_up(functions, COUNT(functions), function);
	if (ret != PTC_RUNTIME_NONE)
		return ret;
	if (is_of_go(function))
		return PTC_RUNTIME_GO;
	if (has_parameters(function))
		return look_up(cxx_names, COUNT(cxx_names), function);
	if (has_rust_hash(function))
		return look_up(rust_symbols, COUNT(rust_symbols), function);
	if (is_rust_shim(function))
		return PTC_RUNTIME_RUST;
	return look_up(rust_names, COUNT(rust_names), function);
}

bool ptc_runtime_has_source(const char *source)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/", "/usr/share/go-",
					       "/usr/local/go/" };
	size_t i;

	for (i = 0; i < COUNT(folders); i++)
		if (!strncmp(source, folders[i], strlen(folders[i])))
			return true;
	return strstr(source, "/rustlib/src/") || strstr(source, "/rustc/") ||
	       strstr(source, "/include/c++/");
}
