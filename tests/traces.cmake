# `ptcap decode` of real hardware traces, compared with known counts and hashes (expected.json), and its command line. The
# real traces are no part of the project. Tests skip and report a missing trace.
add_executable(iphash traces/iphash.c)
target_link_libraries(iphash PRIVATE ptcap_flags)
set(traces_env "PTCAP=$<TARGET_FILE:ptcap_cli>;IPHASH=$<TARGET_FILE:iphash>;PTCAP_TRACES=${PTCAP_TRACES}")

# Compare both engines for the same traces.
add_executable(fastcmp traces/fastcmp.c support/lib_fast.c)
ptcap_sees_all(fastcmp)
target_include_directories(fastcmp PRIVATE support)

foreach(name griffin-hello griffin-ovf-01-poc griffin-uaf-01-poc xdc-foo xdc-unzip dr-hello)
	add_test(NAME trace_${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/traces/raw.sh" ${name})
	if(EXISTS "${PTCAP_TRACES}/${name}")
		add_test(NAME trace_fast_${name} COMMAND fastcmp "${PTCAP_TRACES}/${name}")
		set_tests_properties(trace_fast_${name} PROPERTIES LABELS traces)
	endif()
endforeach()
add_test(NAME trace_quipper COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/traces/quipper.sh")
add_test(NAME cli_decode COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/traces/decode_cli.sh")
add_test(NAME trace_quipper_dump COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/traces/quipper_dump.py")
set_tests_properties(cli_decode trace_quipper trace_quipper_dump trace_griffin-hello trace_griffin-ovf-01-poc
	trace_griffin-uaf-01-poc trace_xdc-foo trace_xdc-unzip trace_dr-hello PROPERTIES
	ENVIRONMENT "${traces_env}" SKIP_RETURN_CODE 77 LABELS traces)
set_tests_properties(cli_decode PROPERTIES LABELS cli)

# The last branches of two traces that end in a crash.
foreach(name griffin-ovf-01-poc griffin-uaf-01-poc)
	add_test(NAME trace_last_${name} COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/traces/last.py" ${name})
	set_tests_properties(trace_last_${name} PROPERTIES ENVIRONMENT "${traces_env}" SKIP_RETURN_CODE 77 LABELS traces)
endforeach()

# The recordings in traces/ at the top: the commands of their README.md print what is kept there.
file(GLOB recordings CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/traces" "${PROJECT_SOURCE_DIR}/traces/*.data")
foreach(file folder neutral comparison_can_fail ${recordings})
	string(REGEX REPLACE "[.]data$" "" name "${file}")
	add_test(NAME recording_${name} COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/traces/kept.py" ${name})
	set_tests_properties(recording_${name} PROPERTIES ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>" LABELS traces)
endforeach()

find_program(PERF_PROGRAM perf)
add_test(NAME trace_clock COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/traces/clock.py")
set_tests_properties(trace_clock PROPERTIES ENVIRONMENT "${traces_env};PERF=${PERF_PROGRAM}" SKIP_RETURN_CODE 77
	LABELS traces)
