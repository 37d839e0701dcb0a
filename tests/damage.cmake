# Damaged recordings. tests/damage/mutate.c defines the required output.
add_executable(mutate damage/mutate.c damage/base.c damage/change.c damage/stuff.c)
ptcap_sees_all(mutate)
target_include_directories(mutate PRIVATE support)
target_link_options(mutate PRIVATE -Wl,--wrap=pt_iscache_add_file)

# ptcap_damage(NAME SCRIPT COUNT SEED ARG...): adds the test damage_NAME. SCRIPT is a file of damage/.
function(ptcap_damage NAME SCRIPT COUNT SEED)
	ptcap_unchanged(if_changed damage_${NAME} $<TARGET_FILE:mutate> "${CMAKE_CURRENT_SOURCE_DIR}/damage"
		"${CMAKE_CURRENT_SOURCE_DIR}/e2e/lib.py" "${CMAKE_CURRENT_SOURCE_DIR}/e2e/store.py"
		"${e2e_recorder_build}/bin/recorder.id" "${e2e_recorder_build}/tests/prog" ${traces_there})
	add_test(NAME damage_${NAME} COMMAND ${if_changed} ${Python3_EXECUTABLE} -B "${CMAKE_CURRENT_SOURCE_DIR}/damage/${SCRIPT}"
		"${CMAKE_CURRENT_BINARY_DIR}/damaged" ${COUNT} ${SEED} ${ARGN})
	set_tests_properties(damage_${NAME} PROPERTIES LABELS damage
		ENVIRONMENT "${e2e_env};MUTATE=$<TARGET_FILE:mutate>")
endfunction()

set(some 120)
if(PTCAP_SANITIZE)
	set(some 30)
endif()
ptcap_damage(some damage.py ${some} 1)
if(NOT PTCAP_SANITIZE)
	# damage_some has a part of these changes. All of them take four minutes of two CPUs.
	ptcap_damage(much damage.py 600 2 1)
	set_tests_properties(damage_much PROPERTIES LABELS "damage;field")
endif()

# Both engines, each with one, two and four threads. The environment variable PTCAP_DAMAGE_CHANGES sets the number of changes.
set(alike 220)
if(PTCAP_SANITIZE)
	set(alike 40)
endif()
ptcap_damage(alike alike.py ${alike} 1)
if(NOT PTCAP_SANITIZE)
	set_tests_properties(damage_alike PROPERTIES LABELS "damage;long")
endif()

# Several threads must give the same output as one.
if(EXISTS "${PTCAP_TRACES}/xdc-unzip")
	set(jobs_changes 40)
	if(PTCAP_SANITIZE)
		set(jobs_changes 12)
	endif()
	ptcap_unchanged(if_changed damage_jobs $<TARGET_FILE:mutate> "${PTCAP_TRACES}")
	add_test(NAME damage_jobs COMMAND ${if_changed} $<TARGET_FILE:mutate> -j -s 1 -n ${jobs_changes} -l 16384 "raw:${PTCAP_TRACES}/xdc-unzip"
		"packet:${PTCAP_TRACES}/xdc-unzip" "raw:${PTCAP_TRACES}/griffin-hello" "raw:${PTCAP_TRACES}/xdc-foo")
	set_tests_properties(damage_jobs PROPERTIES LABELS damage)
	if(NOT PTCAP_SANITIZE) # e2e_parallel_* compares jobs of whole recordings
		set_tests_properties(damage_jobs PROPERTIES LABELS "damage;long")
	endif()
	# The second engine must give the same output as libipt. Each change is decoded in three of the eight ways, in others
	# than the change before. damage_much and damage_alike have more changes.
	ptcap_unchanged(if_changed damage_engine $<TARGET_FILE:mutate> "${PTCAP_TRACES}")
	add_test(NAME damage_engine COMMAND ${if_changed} $<TARGET_FILE:mutate> -e -w 2 -s 3 -n ${jobs_changes} -l 16384 "raw:${PTCAP_TRACES}/xdc-unzip"
		"packet:${PTCAP_TRACES}/griffin-hello" "packet:${PTCAP_TRACES}/xdc-foo" "mtc:${PTCAP_TRACES}/xdc-unzip")
	set_tests_properties(damage_engine PROPERTIES LABELS damage)
endif()
