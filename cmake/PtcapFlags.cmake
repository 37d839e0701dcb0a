# ptcap_flags: the compiler and linker flags of all our targets. Flags belong to targets, not to global variables.
add_library(ptcap_flags INTERFACE)
target_compile_definitions(ptcap_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(ptcap_flags INTERFACE
	-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wvla -Wstrict-prototypes
	-Wmissing-prototypes -Wwrite-strings -Wformat=2 -Wundef -fno-common -fvisibility=hidden
	-fno-omit-frame-pointer)
# No object has the folder of its clone, so that ccache finds objects of other clones. Run gdb in the folder of the sources.
target_compile_options(ptcap_flags INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
if(PTCAP_WERROR)
	target_compile_options(ptcap_flags INTERFACE -Werror)
endif()
if(PTCAP_SANITIZE)
	target_compile_options(ptcap_flags INTERFACE -fsanitize=${PTCAP_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(ptcap_flags INTERFACE -fsanitize=${PTCAP_SANITIZE})
endif()
include(CheckLinkerFlag)
if(PTCAP_SANITIZE)
	# Sanitizer builds link dozens of programs with all debug information. lld takes a third of bfd's time for this.
	check_linker_flag(C -fuse-ld=lld PTCAP_HAS_LLD)
	if(PTCAP_HAS_LLD)
		target_link_options(ptcap_flags INTERFACE -fuse-ld=lld)
	endif()
endif()
if(PTCAP_SANITIZE STREQUAL "address,undefined" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# gcc's shared libasan asks the dynamic linker for its thread's data at each call of a function. No program loads libptcap.so here.
	check_linker_flag(C "-fsanitize=${PTCAP_SANITIZE};-static-libasan;-static-libubsan" PTCAP_HAS_STATIC_ASAN)
	if(PTCAP_HAS_STATIC_ASAN)
		set(executable $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
		target_link_options(ptcap_flags INTERFACE $<${executable}:-static-libasan> $<${executable}:-static-libubsan>)
	endif()
endif()
if(PTCAP_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# gcc warns that TSan does not support atomic_thread_fence. No source of ours has a fence today.
	target_compile_options(ptcap_flags INTERFACE -Wno-tsan)
endif()
if(PTCAP_FUZZ)
	target_compile_options(ptcap_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(ptcap_flags SYSTEM INTERFACE "${PROJECT_SOURCE_DIR}/third_party/uapi")

# Hardening: a memory error should end the program before an attacker can use it. Only supported flags are set.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)
if(PTCAP_SANITIZE MATCHES address)
	# The sanitizers' tables have 200,000 addresses. A position-independent program relocates them at each start: 10 to 25 ms.
	target_link_options(ptcap_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
else()
	check_pie_supported(OUTPUT_VARIABLE PTCAP_PIE_WHY LANGUAGES C) # adds -pie; CMAKE_POSITION_INDEPENDENT_CODE adds -fPIE
	if(NOT CMAKE_C_LINK_PIE_SUPPORTED)
		message(STATUS "No position-independent executables: ${PTCAP_PIE_WHY}")
	endif()
endif()
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
	string(MAKE_C_IDENTIFIER "PTCAP_HAS${flag}" known)
	check_c_compiler_flag(${flag} ${known})
	if(${known})
		target_compile_options(ptcap_flags INTERFACE ${flag})
	endif()
endforeach()

# ptcap_hardened_link: the linker's part, also for targets that link objects of other targets.
add_library(ptcap_hardened_link INTERFACE)
foreach(flag relro now noexecstack)
	check_linker_flag(C "LINKER:-z,${flag}" PTCAP_HAS_Z_${flag})
	if(PTCAP_HAS_Z_${flag})
		target_link_options(ptcap_hardened_link INTERFACE "LINKER:-z,${flag}")
	endif()
endforeach()
target_link_libraries(ptcap_flags INTERFACE ptcap_hardened_link)

# _FORTIFY_SOURCE works only if the compiler optimises. Otherwise the C library warns, as it does for an unknown level.
# Sanitizer builds do not set a level, because the checked functions hide calls from the sanitizer, which finds more.
# -U: distributions set a level of their own.
if(NOT PTCAP_SANITIZE)
	set(CMAKE_TRY_COMPILE_CONFIGURATION "${CMAKE_BUILD_TYPE}")
	foreach(level 3 2)
		set(CMAKE_REQUIRED_FLAGS "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level} -Werror")
		check_c_source_compiles("
			#include <stdio.h>
			#ifndef __OPTIMIZE__
			#error the compiler does not optimise
			#endif
			int main(void) { return 0; }" PTCAP_FORTIFY_${level})
		if(PTCAP_FORTIFY_${level})
			target_compile_options(ptcap_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
			break()
		endif()
	endforeach()
	unset(CMAKE_REQUIRED_FLAGS)
	unset(CMAKE_TRY_COMPILE_CONFIGURATION)
endif()
