# ptcap_flags: what every target of ours is compiled with. Flags live on targets, not in globals.
add_library(ptcap_flags INTERFACE)
target_compile_definitions(ptcap_flags INTERFACE _GNU_SOURCE _FILE_OFFSET_BITS=64)
target_compile_options(ptcap_flags INTERFACE
	-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wvla -Wstrict-prototypes
	-Wmissing-prototypes -Wwrite-strings -Wformat=2 -Wundef -fno-common -fvisibility=hidden
	-fno-omit-frame-pointer)
if(PTCAP_WERROR)
	target_compile_options(ptcap_flags INTERFACE -Werror)
endif()
if(PTCAP_SANITIZE)
	target_compile_options(ptcap_flags INTERFACE -fsanitize=${PTCAP_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(ptcap_flags INTERFACE -fsanitize=${PTCAP_SANITIZE})
endif()
include(CheckLinkerFlag)
if(PTCAP_SANITIZE)
	# These builds link dozens of programs with all debug information: lld takes a third of bfd's time.
	check_linker_flag(C -fuse-ld=lld PTCAP_HAS_LLD)
	if(PTCAP_HAS_LLD)
		target_link_options(ptcap_flags INTERFACE -fuse-ld=lld)
	endif()
endif()
if(PTCAP_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# gcc says that TSan does not understand fences. Ours orders reads of a page that the kernel
	# writes (capture/clock.c), of which TSan sees nothing anyway.
	target_compile_options(ptcap_flags INTERFACE -Wno-tsan)
endif()
if(PTCAP_FUZZ)
	target_compile_options(ptcap_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(ptcap_flags SYSTEM INTERFACE "${PROJECT_SOURCE_DIR}/third_party/uapi")

# What makes a memory error end the program instead of something worse. Each compiler or linker gets what it knows.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE PTCAP_PIE_WHY LANGUAGES C) # CMAKE_POSITION_INDEPENDENT_CODE compiles for it
if(NOT CMAKE_C_LINK_PIE_SUPPORTED)
	message(STATUS "No position-independent executables: ${PTCAP_PIE_WHY}")
endif()
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
	string(MAKE_C_IDENTIFIER "PTCAP_HAS${flag}" known)
	check_c_compiler_flag(${flag} ${known})
	if(${known})
		target_compile_options(ptcap_flags INTERFACE ${flag})
	endif()
endforeach()

# ptcap_hardened_link: for targets of objects that others compiled, too.
add_library(ptcap_hardened_link INTERFACE)
foreach(flag relro now noexecstack)
	check_linker_flag(C "LINKER:-z,${flag}" PTCAP_HAS_Z_${flag})
	if(PTCAP_HAS_Z_${flag})
		target_link_options(ptcap_hardened_link INTERFACE "LINKER:-z,${flag}")
	endif()
endforeach()
target_link_libraries(ptcap_flags INTERFACE ptcap_hardened_link)

# The C library checks sizes only where the compiler optimises, and warns otherwise. It also warns of a level that it
# does not know. A sanitizer finds more than these checks, which hide calls from it. Distributors set a level, too.
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
