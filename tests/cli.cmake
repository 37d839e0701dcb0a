# The output of info and dump, their errors, and perf's reading of our files.
add_executable(mkrec cli/mkrec.c cli/mkfeatures.c)
ptcap_sees_all(mkrec)
foreach(name bad_input info dump perf_reads samples)
	add_test(NAME cli_${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.sh")
	set_tests_properties(cli_${name} PROPERTIES
		ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;MKREC=$<TARGET_FILE:mkrec>;PTCAP_TRACES=${PTCAP_TRACES}"
		SKIP_RETURN_CODE 77 LABELS cli)
endforeach()
foreach(name damage plaintext)
	add_test(NAME cli_${name} COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.py")
	set_tests_properties(cli_${name} PROPERTIES LABELS cli
		ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;MKREC=$<TARGET_FILE:mkrec>")
endforeach()
foreach(shell bash zsh)
	add_test(NAME cli_completion_${shell} COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/completion.py"
		"${PROJECT_SOURCE_DIR}" ${shell})
	# covered: plain_options runs the tables of options under ASan.
	set_tests_properties(cli_completion_${shell} PROPERTIES LABELS "cli;covered" SKIP_RETURN_CODE 77
		ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>")
endforeach()
add_test(NAME cli_memory COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/memory.py")
set_tests_properties(cli_memory PROPERTIES LABELS cli ENVIRONMENT
	"PTCAP=$<TARGET_FILE:ptcap_cli>;MKREC=$<TARGET_FILE:mkrec>;PEAK=$<TARGET_FILE:peak>;PTCAP_SANITIZE=${PTCAP_SANITIZE}")
if(NOT PTCAP_SANITIZE) # QEMU runs no sanitizer build
	add_library(count_insns MODULE support/count_insns.c ../capture/emu/plugin_version.c)
	target_link_libraries(count_insns PRIVATE ptcap_flags)
	target_include_directories(count_insns PRIVATE "${PROJECT_SOURCE_DIR}")
	add_test(NAME cli_growth COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/growth.py")
	set_tests_properties(cli_growth PROPERTIES LABELS "cli;long" PROCESSORS 2 SKIP_RETURN_CODE 77
		ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;MKREC=$<TARGET_FILE:mkrec>;COUNT_INSNS=$<TARGET_FILE:count_insns>")
endif()

if(PTCAP_BENCH AND NOT PTCAP_SANITIZE)
	add_test(NAME cli_bench COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/bench.py"
		"${PROJECT_SOURCE_DIR}" $<TARGET_FILE:ptcap_cli> $<TARGET_FILE:bench_limits>)
	set_tests_properties(cli_bench PROPERTIES LABELS cli)
endif()
add_test(NAME cli_fleet_plan COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/cli/fleet_plan.py" "${PROJECT_SOURCE_DIR}"
	$<TARGET_FILE:ptcap_cli>)
set_tests_properties(cli_fleet_plan PROPERTIES LABELS "cli;covered") # covered: crash.data has a test of its own
