# Programs that a signal kills: what `ptcap crash show` says of them. tests/e2e/crash.py has the cases.
foreach(name faults jumps interrupted jit aborts libraries nobody bounded refused attached core others_read_it)
	e2e_test(crash_${name} "${e2e_dir}/crash.py" "${name}")
endforeach()
foreach(name faults cores children attached stopped left asleep killed)
	e2e_test(watch_${name} "${e2e_dir}/watch.py" "${name}")
endforeach()
if(NOT PTCAP_SANITIZE) # which keeps what is freed
	e2e_test(watch_flat "${e2e_dir}/watch.py" flat)
	e2e_test(watch_killed_100 "${e2e_dir}/watch.py" killed 100)
	e2e_is_long(watch_killed_100)
endif()
# Which registers and frames there are is the compiler's choice.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
	foreach(name faults jumps jit aborts libraries)
		set_property(TEST e2e_crash_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_GOLDEN=1")
	endforeach()
endif()
