# Checks of our own text. The result is the same in every build, so sanitizer builds skip these tests.
if(PTCAP_SANITIZE)
	return()
endif()

function(ptcap_check NAME)
	add_test(NAME check_${NAME} COMMAND ${Python3_EXECUTABLE} -B
		"${CMAKE_CURRENT_SOURCE_DIR}/checks/${NAME}.py" "${PROJECT_SOURCE_DIR}" ${ARGN})
	set_tests_properties(check_${NAME} PROPERTIES SKIP_RETURN_CODE 77 LABELS check)
endfunction()

ptcap_check(layers)
ptcap_check(size)
ptcap_check(names)
ptcap_check(banned)
ptcap_check(programs)
ptcap_check(opens)
ptcap_check(unchanged)
ptcap_check(pick "${PROJECT_BINARY_DIR}")
ptcap_check(pipes)
ptcap_check(headers "${CMAKE_C_COMPILER}")
ptcap_check(format)
ptcap_check(prose)
ptcap_check(help $<TARGET_FILE:ptcap_cli>)
ptcap_check(man)
ptcap_check(circles "${PROJECT_BINARY_DIR}" "${CMAKE_NM}")
set(fortify plain)
if(PTCAP_FORTIFY_3 OR PTCAP_FORTIFY_2)
	set(fortify fortify)
endif()
ptcap_check(hardened "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" ${fortify} $<TARGET_FILE:ptcap_cli>
	$<TARGET_FILE:ptcap_shared> $<TARGET_FILE:ptcap_emu>)
# The first run after a release builds the library of the release.
ptcap_check(abi "${PROJECT_BINARY_DIR}")
set_tests_properties(check_abi PROPERTIES LABELS "check;long")

# clang-tidy takes minutes, so only `ctest -C Tidy` runs it (scripts/test --all).
add_test(NAME check_tidy CONFIGURATIONS Tidy COMMAND ${Python3_EXECUTABLE} -B
	"${CMAKE_CURRENT_SOURCE_DIR}/checks/tidy.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}"
	"${PROJECT_SOURCE_DIR}/build/dev")
set_tests_properties(check_tidy PROPERTIES SKIP_RETURN_CODE 77 LABELS tidy)
