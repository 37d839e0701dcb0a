# The installed library and headers, used by another program. Sanitizer builds skip these tests, because that program would
# need the sanitizer's runtime.
if(PTCAP_SANITIZE)
	return()
endif()
add_test(NAME api_example COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" count)
set_tests_properties(api_example PROPERTIES LABELS api
	ENVIRONMENT "MKREC=$<TARGET_FILE:mkrec>;PTCAP_TRACES=${PTCAP_TRACES}")

# The label pinned: this test single-steps a program.
add_test(NAME api_branches COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" branches)
set_tests_properties(api_branches PROPERTIES LABELS "api;pinned"
	ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;PROGS=${CMAKE_CURRENT_BINARY_DIR}/prog")
