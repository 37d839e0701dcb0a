# The perf source on a real kernel's rings, in QEMU: tests/guest/README.md. Once is enough, so not under sanitizers.
if(NOT PTCAP_SANITIZE)
	add_test(NAME guest_smoke COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/guest/smoke.sh" "${CMAKE_CURRENT_BINARY_DIR}/guest"
		$<TARGET_FILE:ptcap_cli> $<TARGET_FILE:refstep> "${CMAKE_CURRENT_BINARY_DIR}/prog")
	add_test(NAME guest_targets COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/guest/smoke.sh" "${CMAKE_CURRENT_BINARY_DIR}/guest"
		$<TARGET_FILE:ptcap_cli> $<TARGET_FILE:refstep> "${CMAKE_CURRENT_BINARY_DIR}/prog" targets.sh)
	set_tests_properties(guest_targets PROPERTIES ENVIRONMENT SECONDS_MAX=500)
	set_tests_properties(guest_smoke guest_targets PROPERTIES LABELS "guest;pinned" RESOURCE_LOCK cpu TIMEOUT 600
		SKIP_RETURN_CODE 77)
endif()
