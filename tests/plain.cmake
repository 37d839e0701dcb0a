# Plain executables: no Criterion, so they run under every sanitizer, TSan included.
function(ptcap_plain NAME)
	add_executable(${NAME} plain/${NAME}.c)
	ptcap_sees_all(${NAME})
	add_test(NAME plain_${NAME} COMMAND ${NAME})
	set_tests_properties(plain_${NAME} PROPERTIES TIMEOUT 120 LABELS plain)
endfunction()

ptcap_plain(stress_rings)
ptcap_plain(stress_snapshots)
ptcap_plain(stress_timepage)
ptcap_plain(leaks)
ptcap_plain(abi)
set_tests_properties(plain_leaks plain_abi PROPERTIES SKIP_RETURN_CODE 77)
