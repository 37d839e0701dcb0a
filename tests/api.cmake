# What is installed, used as somebody else would. A sanitizer's library needs its runtime in every program: not there.
if(PTCAP_SANITIZE)
	return()
endif()
add_test(NAME api_example COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" count)
set_tests_properties(api_example PROPERTIES LABELS api
	ENVIRONMENT "MKREC=$<TARGET_FILE:mkrec>;PTCAP_TRACES=${PTCAP_TRACES}")

# It steps a program.
add_test(NAME api_branches COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" branches)
set_tests_properties(api_branches PROPERTIES LABELS "api;pinned"
	ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;PROGS=${CMAKE_CURRENT_BINARY_DIR}/prog")
