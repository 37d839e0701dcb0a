# The recorded test programs. With PTCAP_RECORDER_BUILD the programs of that build are used, and none are built here.
enable_language(ASM)
enable_language(CXX)
find_program(AS_PROGRAM as REQUIRED)
if(PTCAP_RECORDER_BUILD)
	return()
endif()

# Test programs do not use the project's flags: no sanitizer, no PIC.
set(e2e_freestanding
	-O1 -g -std=c17 -ffreestanding -fno-builtin -fno-stack-protector -fcf-protection=none
	-fno-asynchronous-unwind-tables -fno-sanitize=all)

function(e2e_output TARGET)
	set_target_properties(${TARGET} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${e2e_bin}"
		LIBRARY_OUTPUT_DIRECTORY "${e2e_bin}" POSITION_INDEPENDENT_CODE OFF)
endfunction()

# Programs without libc, at fixed addresses. Each run executes the same instructions.
set(e2e_static hello recurse indirect jcc string signal fault trap int1 segv wild killself flags map jit
	restart exit wait busy rounds masks tf vsyscall handlers
	seccomp jobs late loops pairs rare run)
foreach(name IN LISTS e2e_static)
	file(GLOB source "${CMAKE_CURRENT_SOURCE_DIR}/support/prog_${name}.[cS]")
	add_executable(prog_${name} ${source})
	e2e_output(prog_${name})
	target_compile_definitions(prog_${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
	target_compile_options(prog_${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:${e2e_freestanding}> -fno-pie)
	target_link_options(prog_${name} PRIVATE -static -nostdlib -Wl,--build-id)
endforeach()
# The same programs, position-independent.
foreach(name hello signal)
	file(GLOB source "${CMAKE_CURRENT_SOURCE_DIR}/support/prog_${name}.[cS]")
	add_executable(prog_${name}_pie ${source})
	e2e_output(prog_${name}_pie)
	target_compile_definitions(prog_${name}_pie PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE>)
	target_compile_options(prog_${name}_pie PRIVATE $<$<COMPILE_LANGUAGE:C>:${e2e_freestanding}> -fpie)
	target_link_options(prog_${name}_pie PRIVATE -static-pie -nostdlib -Wl,--build-id)
endforeach()
# Ordinary programs, dynamically linked.
foreach(name pie longjmp vdso dlopen tasks swap chain context jitdump jitthread trapthreads laps crowd stacks absent vforked unused upgrade int80 killed handled)
	add_executable(prog_${name} support/prog_${name}.c)
	e2e_output(prog_${name})
	set_target_properties(prog_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
	target_compile_options(prog_${name} PRIVATE -O1 -g -fPIE)
	target_link_options(prog_${name} PRIVATE -pie)
endforeach()
# The linker removes an unused function of prog_unused.
target_compile_options(prog_unused PRIVATE -ffunction-sections)
target_link_options(prog_unused PRIVATE -Wl,--gc-sections)
target_link_libraries(prog_dlopen PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(prog_swap PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(prog_upgrade PRIVATE ${CMAKE_DL_LIBS})
target_link_libraries(prog_handled PRIVATE Threads::Threads)
target_link_libraries(prog_tasks PRIVATE Threads::Threads)
target_link_libraries(prog_trapthreads PRIVATE Threads::Threads)
target_link_libraries(prog_jitthread PRIVATE Threads::Threads)
target_link_libraries(prog_laps PRIVATE Threads::Threads)
target_link_libraries(prog_vforked PRIVATE Threads::Threads)
target_link_libraries(prog_crowd PRIVATE Threads::Threads)
target_link_libraries(prog_stacks PRIVATE Threads::Threads)
target_link_libraries(prog_absent PRIVATE Threads::Threads)
foreach(name lib lib_two)
	add_library(prog_${name} SHARED support/prog_${name}.c)
	e2e_output(prog_${name})
	set_target_properties(prog_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_compile_options(prog_${name} PRIVATE -O1 -g)
endforeach()
# Static programs. In a dynamic program, most instructions are the loader's, and each instruction is a step.
foreach(pair special:special libc_static:longjmp chain_static:chain context_static:context tasks_static:tasks stacks_static:stacks upgrade_static:upgrade)
	string(REPLACE ":" ";" pair "${pair}")
	list(GET pair 0 name)
	list(GET pair 1 source)
	add_executable(prog_${name} support/prog_${source}.c)
	e2e_output(prog_${name})
	target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
	target_compile_options(prog_${name} PRIVATE -O1 -g -fno-pie)
	target_link_options(prog_${name} PRIVATE -static)
	target_link_libraries(prog_${name} PRIVATE Threads::Threads)
endforeach()
target_compile_definitions(prog_upgrade_static PRIVATE WITHOUT_LOADER)
# libstdc++ is linked statically, because its relocation takes 1.5 M steps. The unwinder stays a shared library.
add_executable(prog_except support/prog_except.cpp)
e2e_output(prog_except)
set_target_properties(prog_except PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(prog_except PRIVATE -O1 -g -fPIE)
target_link_options(prog_except PRIVATE -pie -static-libstdc++)

# C++ programs without libstdc++, because its relocation would be most of a recording. The PLT stubs of prog_names_ibt are
# in .plt.sec.
foreach(name names names_ibt)
	add_executable(prog_${name} support/prog_names.cpp)
	e2e_output(prog_${name})
	set_target_properties(prog_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
	target_compile_options(prog_${name} PRIVATE -O1 -g -fPIE)
	target_link_options(prog_${name} PRIVATE -pie -Wl,--build-id -Wl,-z,lazy)
endforeach()
target_compile_options(prog_names PRIVATE -fcf-protection=none)
add_executable(prog_virtual support/prog_virtual.cpp)
e2e_output(prog_virtual)
set_target_properties(prog_virtual PROPERTIES LINKER_LANGUAGE C)
target_compile_options(prog_virtual PRIVATE -O1 -g -fno-pie -fno-rtti -fno-exceptions)
target_link_options(prog_virtual PRIVATE -static)
target_compile_options(prog_names_ibt PRIVATE -fcf-protection=full)
target_link_options(prog_names_ibt PRIVATE -Wl,-z,ibtplt)

# A folder to list, and a chain of execs: a script with a #! line, a script without one, a static program, and a dynamic
# program.
file(WRITE "${e2e_bin}/folder/one" "1\n")
file(WRITE "${e2e_bin}/folder/two words" "22\n")
file(WRITE "${e2e_bin}/folder/deeper/.hidden" "")
file(WRITE "${e2e_bin}/chain" "#!/bin/sh\nexec '${e2e_bin}/chain_plain' \"$@\" two\n")
file(WRITE "${e2e_bin}/chain_plain"
	"exec '${e2e_bin}/prog_chain_static' '${e2e_bin}/prog_chain' \"$@\" \"\" 'last one'\n")
file(CHMOD "${e2e_bin}/chain" "${e2e_bin}/chain_plain"
	PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ WORLD_READ)

add_executable(prog_far32 support/prog_far32.c)
e2e_output(prog_far32)
target_compile_options(prog_far32 PRIVATE -O1 -g -fno-pie)
target_link_options(prog_far32 PRIVATE -no-pie)
target_link_libraries(prog_far32 PRIVATE Threads::Threads)
# 32-bit programs. as and ld make them, so no 32-bit libgcc is needed.
foreach(abi 32 x32)
	string(REPLACE x32 elf32_x86_64 emulation ${abi})
	string(REGEX REPLACE "^32$" elf_i386 emulation ${emulation})
	set(source "${CMAKE_CURRENT_SOURCE_DIR}/support/prog_32.S")
	add_custom_command(OUTPUT "${e2e_bin}/prog_${abi}" DEPENDS "${source}"
		COMMAND ${CMAKE_COMMAND} -E make_directory "${e2e_bin}"
		COMMAND ${CMAKE_ASM_COMPILER} -E "$<$<STREQUAL:${abi},x32>:-DX32>" "${source}" -o prog_${abi}.s
		COMMAND ${AS_PROGRAM} --${abi} prog_${abi}.s -o prog_${abi}.o
		COMMAND ${CMAKE_LINKER} -m ${emulation} prog_${abi}.o -o "${e2e_bin}/prog_${abi}"
		COMMAND_EXPAND_LISTS)
	add_custom_target(prog_${abi} ALL DEPENDS "${e2e_bin}/prog_${abi}")
endforeach()

# Programs that a signal kills.
add_executable(prog_crash support/prog_crash.c)
add_executable(prog_crash_cxx support/prog_crash_cxx.cpp)
add_executable(prog_crash_sort support/prog_crash_sort.c)
add_executable(prog_crash_names support/prog_crash_names.cpp)
foreach(name crash crash_cxx crash_sort crash_names)
	e2e_output(prog_${name})
	set_target_properties(prog_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
	# -UNDEBUG keeps assertions. Each function has its own frame, so the contents of the stack are known.
	target_compile_options(prog_${name} PRIVATE -O1 -g -fPIE -UNDEBUG -fcf-protection=none
		-fno-omit-frame-pointer -fno-optimize-sibling-calls)
endforeach()
target_link_options(prog_crash PRIVATE -pie)
target_link_options(prog_crash_sort PRIVATE -pie)
target_link_options(prog_crash_cxx PRIVATE -pie -static-libstdc++)
target_link_options(prog_crash_names PRIVATE -static-pie)
target_compile_options(prog_crash PRIVATE -std=gnu17)
target_compile_options(prog_crash_sort PRIVATE -std=gnu17)
target_link_libraries(prog_crash_sort PRIVATE Threads::Threads)
target_link_libraries(prog_crash PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
# The same, static and at fixed addresses: in a dynamic program, most steps are the loader's.
add_executable(prog_crash_static support/prog_crash.c)
e2e_output(prog_crash_static)
target_compile_definitions(prog_crash_static PRIVATE _GNU_SOURCE STATIC)
target_compile_options(prog_crash_static PRIVATE -std=gnu17 -O1 -g -fno-pie -fcf-protection=none
	-fno-omit-frame-pointer -fno-optimize-sibling-calls)
target_link_options(prog_crash_static PRIVATE -static)
target_link_libraries(prog_crash_static PRIVATE Threads::Threads)
add_executable(prog_stray support/prog_stray.c)
e2e_output(prog_stray)
target_compile_definitions(prog_stray PRIVATE _GNU_SOURCE)
target_compile_options(prog_stray PRIVATE -std=gnu17 -O1 -g -fno-pie -fcf-protection=none -fno-optimize-sibling-calls)
target_link_options(prog_stray PRIVATE -static)
add_library(prog_lib_store SHARED support/prog_lib_store.c)
e2e_output(prog_lib_store)
set_target_properties(prog_lib_store PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(prog_lib_store PRIVATE -O1 -g)
# Static, because half of the steps of such a program would be the loader's.
add_executable(prog_hostile support/prog_hostile.c)
e2e_output(prog_hostile)
target_compile_definitions(prog_hostile PRIVATE _GNU_SOURCE)
target_compile_options(prog_hostile PRIVATE -O1 -g -fno-pie)
target_link_options(prog_hostile PRIVATE -static -no-pie)
