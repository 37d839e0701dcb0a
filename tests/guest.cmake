# --source pt on a real kernel's rings, in QEMU: tests/guest/README.md. Sanitizer builds skip it.
if(NOT PTCAP_SANITIZE)
	add_executable(countcheck support/countcheck.c)
	target_link_libraries(countcheck PRIVATE ptcap_flags ptcap_static)
	target_include_directories(countcheck PRIVATE "${PROJECT_SOURCE_DIR}/include")
	ptcap_unchanged(if_changed guest $<TARGET_FILE:ptcap_cli> $<TARGET_FILE:refstep> $<TARGET_FILE:countcheck>
		"${CMAKE_CURRENT_BINARY_DIR}/prog" "${CMAKE_CURRENT_SOURCE_DIR}/guest" "${CMAKE_CURRENT_SOURCE_DIR}/e2e")
	add_test(NAME guest COMMAND ${if_changed} "${CMAKE_CURRENT_SOURCE_DIR}/guest/suites" "${CMAKE_CURRENT_BINARY_DIR}/guest"
		"${PROJECT_BINARY_DIR}" smoke.sh doctor.sh targets.sh count.sh samples.sh snapshots.sh crash.sh stacks.sh places.sh filter.sh kernel.sh clock.sh vanish.sh)
	# This test needs no CPU of its own, so it runs at the same time as tests that single-step.
	set_tests_properties(guest PROPERTIES ENVIRONMENT SECONDS_MAX=1800 LABELS "guest;long" SKIP_RETURN_CODE 77)
endif()
