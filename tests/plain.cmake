# Plain executables. They do not use Criterion, so they run under every sanitizer, TSan included.
function(ptcap_plain NAME)
	add_executable(${NAME} plain/${NAME}.c)
	ptcap_sees_all(${NAME})
	target_include_directories(${NAME} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/support")
	add_test(NAME plain_${NAME} COMMAND ${NAME})
	set_tests_properties(plain_${NAME} PROPERTIES LABELS plain)
endfunction()

ptcap_plain(stress_rings)
ptcap_plain(stress_snapshots)
ptcap_plain(stress_timepage)
ptcap_plain(stress_code)
ptcap_plain(leaks)
ptcap_plain(options)
ptcap_plain(abi)

# The program plays QEMU, with the functions of two of its versions. ENABLE_EXPORTS lets the plugin find these functions.
foreach(qemu 8 10)
	add_executable(interface_${qemu} plain/interface.c plain/interface_qemu.c)
	ptcap_sees_all(interface_${qemu})
	target_compile_definitions(interface_${qemu} PRIVATE QEMU_${qemu})
	set_target_properties(interface_${qemu} PROPERTIES ENABLE_EXPORTS ON)
	add_test(NAME plain_interface_${qemu} COMMAND interface_${qemu})
	set_tests_properties(plain_interface_${qemu} PROPERTIES LABELS plain
		ENVIRONMENT "PTCAP_EMU_PLUGIN=$<TARGET_FILE:ptcap_emu>")
	add_dependencies(interface_${qemu} ptcap_emu)
endforeach()
set_tests_properties(plain_leaks plain_abi PROPERTIES SKIP_RETURN_CODE 77)
# Races are TSan's part: it runs these, and ASan leaves them out.
foreach(name rings snapshots timepage code)
	set_property(TEST plain_stress_${name} APPEND PROPERTY LABELS covered)
endforeach()
