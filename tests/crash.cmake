# Programs that a signal kills: what `ptcap crash show` says of them. tests/e2e/crash.py has the cases.
add_executable(prog_crash support/prog_crash.c)
add_executable(prog_crash_cxx support/prog_crash_cxx.cpp)
foreach(name crash crash_cxx)
	e2e_output(prog_${name})
	set_target_properties(prog_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
	target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
	# Assertions stay, and each function has its frame: so what is on the stack is known.
	target_compile_options(prog_${name} PRIVATE -O1 -g -fPIE -UNDEBUG -fcf-protection=none
		-fno-omit-frame-pointer -fno-optimize-sibling-calls)
endforeach()
target_link_options(prog_crash PRIVATE -pie)
target_link_options(prog_crash_cxx PRIVATE -pie -static-libstdc++)
target_compile_options(prog_crash PRIVATE -std=gnu17)
target_link_libraries(prog_crash PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
# The same without a loader, which is most of what a stepped program does; and at fixed addresses.
add_executable(prog_crash_static support/prog_crash.c)
e2e_output(prog_crash_static)
target_compile_definitions(prog_crash_static PRIVATE _GNU_SOURCE STATIC)
target_compile_options(prog_crash_static PRIVATE -std=gnu17 -O1 -g -fno-pie -fcf-protection=none
	-fno-omit-frame-pointer -fno-optimize-sibling-calls)
target_link_options(prog_crash_static PRIVATE -static)
target_link_libraries(prog_crash_static PRIVATE Threads::Threads)
add_library(prog_lib_store SHARED support/prog_lib_store.c)
e2e_output(prog_lib_store)
set_target_properties(prog_lib_store PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(prog_lib_store PRIVATE -O1 -g)

foreach(name faults jumps jit aborts libraries nobody bounded refused attached core others_read_it)
	e2e_test(crash_${name} 200 "${e2e_dir}/crash.py" "${name}")
endforeach()
foreach(name faults children attached stopped left flat)
	e2e_test(watch_${name} 100 "${e2e_dir}/watch.py" "${name}")
endforeach()
# Which registers and frames there are is the compiler's choice.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	e2e_test(crash_golden 200 "${e2e_dir}/crash.py" golden)
endif()
