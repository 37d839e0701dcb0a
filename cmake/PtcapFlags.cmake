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
if(PTCAP_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
	# gcc says that TSan does not understand fences. Ours orders reads of a page that the kernel
	# writes (capture/clock.c), of which TSan sees nothing anyway.
	target_compile_options(ptcap_flags INTERFACE -Wno-tsan)
endif()
if(PTCAP_FUZZ)
	target_compile_options(ptcap_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(ptcap_flags SYSTEM INTERFACE "${PROJECT_SOURCE_DIR}/third_party/uapi")
