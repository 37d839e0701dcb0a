# The installed library and headers, used by another program. Sanitizer builds skip these tests, because that program would
# need the sanitizer's runtime.
if(PTCAP_SANITIZE)
	return()
endif()
add_test(NAME api_example COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" count)
set_tests_properties(api_example PROPERTIES LABELS api
	ENVIRONMENT "MKREC=$<TARGET_FILE:mkrec>;PTCAP_TRACES=${PTCAP_TRACES}")

# The label pinned: these tests single-step a program.
foreach(name branches bundle doctor)
	add_test(NAME api_${name} COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
		"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" ${name})
	set_tests_properties(api_${name} PROPERTIES LABELS "api;pinned;long"
		ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;PROGS=${CMAKE_CURRENT_BINARY_DIR}/prog")
endforeach()
set_tests_properties(api_doctor PROPERTIES LABELS api)

add_test(NAME api_compare COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" compare)
set_tests_properties(api_compare PROPERTIES LABELS api ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>")

# The label pinned: this test single-steps a program.
add_test(NAME api_crash COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" crash)
set_tests_properties(api_crash PROPERTIES LABELS "api;pinned;long"
	ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;PROGS=${CMAKE_CURRENT_BINARY_DIR}/prog")

add_test(NAME api_stacks COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/example.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" stacks)
set_tests_properties(api_stacks PROPERTIES LABELS api SKIP_RETURN_CODE 77
	ENVIRONMENT "PTCAP=$<TARGET_FILE:ptcap_cli>;PROGS=${CMAKE_CURRENT_BINARY_DIR}/prog")

# A prefix that was moved after its installation: the plugin, pkg-config, find_package.
enable_language(CXX)
add_test(NAME api_installed COMMAND ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/api/installed.py"
	"${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}" "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}" "${CMAKE_COMMAND}"
	"${CMAKE_INSTALL_FULL_LIBDIR}/ptcap/ptcap-emu.so")
set_tests_properties(api_installed PROPERTIES LABELS api)
