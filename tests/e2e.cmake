# End to end: programs are recorded and decoded. The result is compared with the branches that the source saw, with an
# independent stepper, and with perf. tests/e2e/truth.py lists the checks of a case.
find_program(PERF_PROGRAM perf)

set(e2e_dir "${CMAKE_CURRENT_SOURCE_DIR}/e2e")

# Tests that only read a recording take it from a store (tests/e2e/store.py). A sanitizer build may use the recorder, store
# and test programs of another build (PTCAP_RECORDER_BUILD). Then its tests read that build's recordings, and no test
# program is built twice.
set(PTCAP_RECORDER_BUILD "" CACHE PATH "A build folder whose ptcap makes the recordings that tests read; empty: this one")
if(PTCAP_RECORDER_BUILD)
	set(e2e_recorder_build "${PTCAP_RECORDER_BUILD}")
else()
	set(e2e_recorder_build "${PROJECT_BINARY_DIR}")
endif()
set(e2e_bin "${e2e_recorder_build}/tests/prog")
include(programs.cmake)
# These tests record in every build: one test of each feature and source, and the tests with threads of ptcap for TSan.
set(e2e_recorded_here hello signal small_rings tasks_locks jit_rwx zone_calls compressed recurse_noretcomp pie
	emu_hello emu_signal emu_small_rings emu_lossy emu_tasks_locks emu_tasks_storm emu_jit_rwx emu_compressed
	emu_snapshots emu_vcpus_tasks_locks lbr_threads emu_lbr_threads crash_jit)

# A digest of all objects that take part in recording. An edit of other code keeps the store valid.
ptcap_layer_objects(e2e_recorder base arch auxtrace capture)
file(GLOB e2e_recorder_cli CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/common/*.[ch]"
	"${PROJECT_SOURCE_DIR}/cli/record/*.[ch]" "${PROJECT_SOURCE_DIR}/cli/snapshot/*.[ch]"
	"${PROJECT_SOURCE_DIR}/cli/crash/cmd_crash.c")
set(e2e_recorder_id "${PROJECT_BINARY_DIR}/bin/recorder.id")
add_custom_command(OUTPUT "${e2e_recorder_id}" DEPENDS ${e2e_recorder} ${e2e_recorder_cli} ptcap_emu ptcap_cli
	COMMAND ${Python3_EXECUTABLE} -B "${e2e_dir}/recorder_id.py" "${e2e_recorder_id}" ${e2e_recorder} ${e2e_recorder_cli}
		$<TARGET_FILE:ptcap_emu>
	COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(recorder_id ALL DEPENDS "${e2e_recorder_id}")

add_executable(refstep support/refstep.c)
target_link_libraries(refstep PRIVATE ptcap_flags)

add_executable(peak support/peak.c)
target_link_libraries(peak PRIVATE ptcap_flags)
add_executable(refuse support/refuse.c)
target_link_libraries(refuse PRIVATE ptcap_flags)
add_executable(sandboxed support/sandboxed.c ../cli/common/cli.c ../cli/common/landlock.c ../cli/common/sandbox.c ../cli/common/seccomp_filter.c)
ptcap_sees_all(sandboxed)
add_executable(hashflow support/hashflow.c)
target_link_libraries(hashflow PRIVATE ptcap_flags)

# LC_ALL=C: loading another locale is half of the instructions of /bin/cat, and each instruction is a step.
set(e2e_env "LC_ALL=C" "PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache" "PTCAP=$<TARGET_FILE:ptcap_cli>" "REFSTEP=$<TARGET_FILE:refstep>" "PEAK=$<TARGET_FILE:peak>"
	"HASHFLOW=$<TARGET_FILE:hashflow>" "PERF=${PERF_PROGRAM}" "PROGS=${e2e_bin}" "PTCAP_TRACES=${PTCAP_TRACES}"
	"PTCAP_NPM=${e2e_recorder_build}/npm" "PTCAP_STORE=${e2e_recorder_build}/store" "PTCAP_RECORDER=${e2e_recorder_build}/bin/ptcap")

# Long tests, minutes in all. `scripts/test --all` runs them in the gcc build, if an input has changed since they passed.
set(e2e_long true arrow_sizes crash_faults statements_of_senders zone_forked tasks_spawn context leaves_32bit stopped_command swap_dlopen emu_code_full emu_code_once
	emu_big_xz emu_snapshots_vcpus lbr_filters lbr_exec missing_core crash_aborts crash_libraries lines_compilers
	corpus_c corpus_cxx corpus_rust lines_linked lines_sections unwound_linked sandbox_rights_of_command snapshot_asleep_step parallel_shell
	inlined_crash crash_core_kernels crash_core_others crash_message_rust crash_message_exceptions crash_message_traced_throw
	snapshot_crashes compare_clean replaced_snapshots replaced_crashing plaintext_printed
	spoilt_stale parallel_except lines_go_stripped emu_everyday_short unwound_uncaught emu_snapshots_threads snapshot_on_exit_step
	crash_core_snapshots busy unwound_stray crash_message_c_library call_profiles_folded_many
	snapshot_stacks_children_step snapshot_stacks_turns_step snapshot_stacks_crashes_step snapshot_stacks_left_step
	snapshot_stacks_place_step snapshot_stacks_without_step view_sums view_time view_selected view_gaps view_many view_system_theme)
# Long tests of the gcc build only: ASan needs them for the code that they reach.
set(e2e_long_without_asan view_hostile crash_core attach_process emu_spoilt_stale parallel_cpus snapshot_threads_step crash_nobody
	crash_message_asan jitdump_names jitdump_like_node jitdump_parts lbr_threads emu_handled_bounded emu_crowd
	emu_signature_c emu_signature_cxx emu_signature_rust crash_message_none emu_last_threads crash_jumps crash_message_text_thrown crash_bounded compare_spoilt compare_calls
	replaced_attached emu_busy trapthreads view_serve_served view_serve_found view_serve_levels view_serve_selected
	view_serve_inert view_serve_axes view_serve_ends fleet_commands fleet_schedulers arrow_branches arrow_calls arrow_counts
	shards_cpus shards_locks shards_raw shards_recordings emu_signature_recordings fleet_crashes arrow_signatures cutouts_cpus)
if(NOT PTCAP_SANITIZE)
	list(APPEND e2e_long ${e2e_long_without_asan})
endif()
ptcap_unchanged(e2e_if_changed NAME $<TARGET_FILE:ptcap_cli> $<TARGET_FILE:ptcap_emu> $<TARGET_FILE:refstep>
	$<TARGET_FILE:hashflow> "${e2e_bin}" "${e2e_dir}" "${CMAKE_CURRENT_SOURCE_DIR}/support")

# e2e_test(NAME SCRIPT ARG...): adds the test e2e_NAME. Tracer and target take turns on one CPU, so each test uses one CPU of
# CTest's resource file (scripts/test). -S: Python's search for site packages takes longer than the rest of its start.
function(e2e_test NAME)
	set(labels "e2e;pinned")
	set(if_changed "")
	if(NAME IN_LIST e2e_long)
		set(labels "e2e;pinned;long")
		if(NOT PTCAP_SANITIZE)
			string(REPLACE "/passed/NAME" "/passed/e2e_${NAME}" if_changed "${e2e_if_changed}")
		endif()
	endif()
	add_test(NAME e2e_${NAME} COMMAND ${if_changed} ${Python3_EXECUTABLE} -S ${ARGN})
	set_tests_properties(e2e_${NAME} PROPERTIES LABELS "${labels}" RESOURCE_GROUPS "cpus:1"
		SKIP_RETURN_CODE 77
		ENVIRONMENT "${e2e_env}")
	if(NAME IN_LIST e2e_recorded_here)
		set_property(TEST e2e_${NAME} APPEND PROPERTY ENVIRONMENT
			"PTCAP_STORE=${PROJECT_BINARY_DIR}/store" "PTCAP_RECORDER=$<TARGET_FILE:ptcap_cli>")
	endif()
endfunction()

# e2e_case(NAME CHECKS check... RUN PROGRAM ARGS...): a program with checks of e2e/truth.py.
function(e2e_case NAME)
	cmake_parse_arguments(PARSE_ARGV 1 C "" "" "CHECKS;RUN")
	if(PTCAP_SANITIZE)
		list(REMOVE_ITEM C_CHECKS both ref)
	endif()
	if(PTCAP_RECORDER_BUILD AND NOT NAME IN_LIST e2e_recorded_here)
		# The other build has run the remaining checks: the recording itself, perf, other steppers.
		list(REMOVE_ITEM C_CHECKS both clean hash length lossy perf ref snapshots vcpushash)
		if(NOT C_CHECKS)
			return()
		endif()
	endif()
	list(JOIN C_CHECKS "," checks)
	e2e_test(${NAME} "${e2e_dir}/truth.py" "${NAME}" "${checks}" ${C_RUN})
	if(PTCAP_RECORDER_BUILD AND NOT NAME IN_LIST e2e_recorded_here)
		set_tests_properties(e2e_${NAME} PROPERTIES LABELS "e2e;reads" RESOURCE_GROUPS "")
	endif()
endfunction()

# e2e_is_field(NAME): marks a test with many or large programs of users, for `scripts/test --field`. Run it before a release,
# and after a change of the test's subject. The suite has a shorter test of each kind, or the same test emulated.
function(e2e_is_field NAME)
	if(TEST e2e_${NAME})
		get_test_property(e2e_${NAME} LABELS labels)
		set_tests_properties(e2e_${NAME} PROPERTIES LABELS "${labels};field")
	endif()
endfunction()

# e2e_is_emulated(NAME): runs the test with the emulated source. Nothing is stepped, so the test needs no CPU of its own.
function(e2e_is_emulated NAME)
	if(NOT TEST e2e_${NAME})
		return()
	endif()
	set_property(TEST e2e_${NAME} APPEND PROPERTY ENVIRONMENT "PTCAP_SOURCE=emu")
	set_tests_properties(e2e_${NAME} PROPERTIES RESOURCE_GROUPS "")
	get_test_property(e2e_${NAME} LABELS labels)
	list(REMOVE_ITEM labels pinned)
	set_tests_properties(e2e_${NAME} PROPERTIES LABELS "${labels}")
endfunction()

# e2e_emu(NAME ...): as e2e_case, with the emulated source. Check `both`: for programs that do the same in each run.
function(e2e_emu NAME)
	e2e_case(emu_${NAME} ${ARGN})
	e2e_is_emulated(emu_${NAME})
endfunction()

set(all truth json ref perf tools)
include(e2e_step.cmake)
include(e2e_emu.cmake)

# Snapshots, each in a file of its own.
foreach(name on_exit control pipelined clock paused interrupt killed threads asleep)
	foreach(source step emu)
		e2e_test(snapshot_${name}_${source} "${e2e_dir}/snapshot.py" "${name}")
	endforeach()
	e2e_is_emulated(snapshot_${name}_emu)
endforeach()
if(NOT PTCAP_SANITIZE)
	e2e_test(snapshot_killed_100 "${e2e_dir}/snapshot.py" killed 100)
	e2e_is_field(snapshot_killed_100)
endif()
foreach(name verdict silent nothing lost damaged moved)
	e2e_test(snapshot_${name} "${e2e_dir}/snapshot.py" "${name}")
	e2e_is_emulated(snapshot_${name})
endforeach()
foreach(name signals places crashes)
	e2e_test(snapshot_${name} "${e2e_dir}/snapshot.py" "${name}")
	e2e_test(emu_snapshot_${name} "${e2e_dir}/snapshot.py" "${name}")
	e2e_is_emulated(emu_snapshot_${name})
endforeach()
e2e_test(snapshot_attached "${e2e_dir}/snapshot.py" attached)
e2e_test(snapshot_refused "${e2e_dir}/snapshot.py" refused)

# Files that are gone or replaced when the recording is decoded.
foreach(name removed in_json replaced in_place cached symfs core)
	e2e_test(missing_${name} "${e2e_dir}/missing.py" "${name}")
	if(NOT name STREQUAL "core") # the kernel's core of an emulated program would be QEMU's
		e2e_is_emulated(missing_${name})
	endif()
endforeach()
# Bundles of `ptcap archive`.
foreach(name replaced other_root no_id no_secrets debug_files split alternate jitdump crash folders forms perf_reads damaged hostile)
	e2e_test(archive_${name} "${e2e_dir}/archive.py" "${name}")
	e2e_is_emulated(archive_${name})
endforeach()
foreach(name without_trace reached reached_lacks reached_library)
	e2e_test(archive_${name} "${e2e_dir}/archive_parts.py" "${name}")
	e2e_is_emulated(archive_${name})
endforeach()
# perf's cache of build-ids.
foreach(name filled lacking refused)
	e2e_test(perf_cache_${name} "${e2e_dir}/perf_cache.py" "${name}")
	e2e_is_emulated(perf_cache_${name})
endforeach()
# Files that are replaced while they are mapped.
foreach(name library itself forked container snapshots attached crashing)
	e2e_test(replaced_${name} "${e2e_dir}/replaced.py" "${name}")
endforeach()
foreach(name library unlinked itself forked bound container nameless rebuilt snapshots forgotten)
	e2e_test(emu_replaced_${name} "${e2e_dir}/replaced.py" "${name}")
	e2e_is_emulated(emu_replaced_${name})
endforeach()
# File names from untrusted places.
foreach(name output_link output_special swapped swapped_running named below_symfs debug_files alternate others_jitdump)
	e2e_test(untrusted_${name} "${e2e_dir}/untrusted.py" "${name}")
endforeach()
e2e_test(emu_untrusted_swapped "${e2e_dir}/untrusted.py" swapped)
e2e_is_emulated(emu_untrusted_swapped)
# Hostile programs (ADR 25).
foreach(name deaf grace itself storm waits_in_vfork attached_in_vfork traces_back watched_traces_back nobody_traces_back stops_tracer
	stops_ptcap rights)
	e2e_test(hostile_${name} "${e2e_dir}/hostile.py" "${name}")
endforeach()
foreach(name deaf itself storm)
	e2e_test(emu_hostile_${name} "${e2e_dir}/hostile.py" "${name}")
	e2e_is_emulated(emu_hostile_${name})
endforeach()
# SIGKILL at each system call of a commit (ADR 24).
foreach(name copies recordings snapshots)
	e2e_test(commits_${name} "${e2e_dir}/commits.py" "${name}")
	e2e_is_emulated(commits_${name})
endforeach()
# Files that claim or need much memory (ADR 23).
foreach(name debugdata sections names_compressed sparse lines instructions starved options)
	e2e_test(budget_${name} "${e2e_dir}/budget.py" "${name}")
endforeach()
# Names with terminal control characters.
foreach(name printed refused)
	if(NOT PTCAP_SANITIZE) # these tests start many processes; unit_base tests terminal_escape.c in sanitizer builds
		e2e_test(plaintext_${name} "${e2e_dir}/plaintext.py" "${name}")
	endif()
endforeach()
# Closed descriptors, limits, pagers, and files that shrink.
foreach(name closed for_command limited nobody_reads cut_recording cut_program no_pager pager_leaves
	pager_interrupted terminal_without_utf_8)
	e2e_test(odds_${name} "${e2e_dir}/odds.py" "${name}")
endforeach()
# The sandbox of commands that read a recording, and the capabilities of commands that record. Sanitizer builds have no
# sandbox.
foreach(name reading writing fetching serving without_landlock without_seccomp off commands sums nothing_refused pager
		rights_of_record rights_of_step rights_of_crash rights_of_snapshot rights_of_all rights_of_output rights_of_command)
	if(NOT PTCAP_SANITIZE)
		e2e_test(sandbox_${name} "${e2e_dir}/sandbox.py" "${name}")
		set_property(TEST e2e_sandbox_${name} APPEND PROPERTY ENVIRONMENT "SANDBOXED=$<TARGET_FILE:sandboxed>")
	endif()
endforeach()
# Extreme numbers in AUXTRACE_INFO.
e2e_test(numbers_auxtrace_info "${e2e_dir}/numbers.py" auxtrace_info)
# Several threads give the same output as one.
foreach(name signal jit recurse storm cpus dlopen except shell renamed long_names traces twins many_queues many_slices)
	e2e_test(parallel_${name} "${e2e_dir}/parallel.py" "${name}")
	set_property(TEST e2e_parallel_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
	set_tests_properties(e2e_parallel_${name} PROPERTIES RESOURCE_GROUPS "")
endforeach()
# The outputs of shards add up to the whole.
foreach(name signal jit locks cpus dlopen snapshot lossy recordings raw hardware damaged balance profiles refused)
	e2e_test(shards_${name} "${e2e_dir}/shards.py" "${name}")
	set_property(TEST e2e_shards_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
endforeach()
# Recordings of one shard.
foreach(name signal jit locks cpus dlopen lossy recordings hardware small damaged end perf refused)
	e2e_test(cutouts_${name} "${e2e_dir}/cutouts.py" "${name}")
	set_property(TEST e2e_cutouts_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
endforeach()
# The calls of shards, joined by ptcap sum, are those of the whole.
foreach(name recurse except longjmp signal handlers jit threads cpus dlopen shell snapshot lossy recordings raw hardware damaged order faults broken_costs
		refused)
	e2e_test(shard_calls_${name} "${e2e_dir}/shard_calls.py" "${name}")
	set_property(TEST e2e_shard_calls_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
endforeach()
# Names of functions, source lines, and their debug files.
foreach(name demangled aliases plt like_perf debug_by_link debug_by_id packed static debuginfod)
	e2e_test(names_${name} "${e2e_dir}/names.py" "${name}")
	e2e_is_emulated(names_${name})
endforeach()
e2e_case(terminal CHECKS terminal RUN "${e2e_bin}/prog_signal")
# Parts of a recording (--last), and --format bin.
e2e_case(bin_signal CHECKS bin RUN "${e2e_bin}/prog_signal")
e2e_emu(bin_threads CHECKS bin RUN "${e2e_bin}/prog_tasks" locks)
e2e_case(last_signal CHECKS last RUN "${e2e_bin}/prog_signal")
e2e_emu(last_threads CHECKS last RUN "${e2e_bin}/prog_tasks" locks)
if(NOT PTCAP_SANITIZE) # last_threads runs the same code
	e2e_emu(last_true CHECKS last RUN /bin/true)
	e2e_emu(last_pipeline CHECKS last RUN /bin/sh -c "echo a b c | tr a-c x-z | cat")
endif()

# Compare `ptcap dump` with `perf report -D` for one file. Sanitizer builds run only perf's files that need other parsers.
set(e2e_dumps_sanitized data stack z pipe_z folder_z tracepoints)
function(e2e_dump NAME)
	if(PTCAP_SANITIZE AND "${ARGV1}" MATCHES "^perf" AND NOT NAME IN_LIST e2e_dumps_sanitized)
		return()
	endif()
	e2e_test(dump_${NAME} "${e2e_dir}/perfdump.py" "dump_${NAME}" ${ARGN})
	set_tests_properties(e2e_dump_${NAME} PROPERTIES RESOURCE_GROUPS "" LABELS e2e)
endfunction()
e2e_dump(hello ptcap "${e2e_bin}/prog_hello")
e2e_dump(threads ptcap "${e2e_bin}/prog_tasks" locks)
e2e_dump(jit ptcap "${e2e_bin}/prog_jit" rwx)
foreach(name intel_pt-4.14/perf.data.intel_pt-4.14 branch-stack/perf.data.branch-4.14
	branch-stack/perf.data.branch_stack_hw_index branch-stack/perf.data.branch_stack_spec
	piped.intel_pt-4.14/perf.data.piped.intel_pt-4.14)
	string(REGEX REPLACE "^.*perf.data." "" short "${name}")
	e2e_dump(quipper_${short} "file=${PTCAP_TRACES}/quipper-${name}")
endforeach()
e2e_dump(calls perf -e cpu-clock -g)
e2e_dump(wide perf -e cpu-clock --switch-events -a)
e2e_dump(data perf -e cpu-clock:u -d -W --phys-data --data-page-size --code-page-size)
e2e_dump(regs perf -e cpu-clock --user-regs=ip,sp,ax -g)
e2e_dump(stack perf -e cpu-clock --call-graph dwarf,512)
e2e_dump(cgroups perf -e cpu-clock --all-cgroups --namespaces)
e2e_dump(group perf -e "{cpu-clock,task-clock}:S")
e2e_dump(two perf -e cpu-clock,task-clock)
e2e_dump(build_ids perf -e cpu-clock --buildid-mmap)
e2e_dump(counts perf -e cpu-clock -s)
e2e_dump(intr_regs perf -e cpu-clock --intr-regs=ip,sp,ax --timestamp-boundary -k CLOCK_MONOTONIC)
e2e_dump(z perf -e cpu-clock -z -g)
e2e_dump(pipe perf-pipe -e cpu-clock -g --switch-events)
e2e_dump(pipe_z perf-pipe -e cpu-clock -z)
e2e_dump(folder perf -e cpu-clock --threads)
e2e_dump(folder_z perf -e cpu-clock --threads -z)
e2e_dump(tracepoints perf -e sched:sched_switch,sched:sched_process_exit -e raw_syscalls:sys_enter -c 500)
e2e_dump(tracepoints_pipe perf-pipe -e sched:sched_process_exit -e raw_syscalls:sys_enter -c 500)
e2e_dump(made made)
e2e_dump(ours_z ptcap -z -- "${e2e_bin}/prog_jit" rwx)
e2e_dump(emu ptcap "${e2e_bin}/prog_tasks" locks)
e2e_dump(emu_vcpus ptcap --vcpus 2 -z -- "${e2e_bin}/prog_tasks" locks)
e2e_dump(emu_snapshots ptcap -S -- "${e2e_bin}/prog_tasks" locks)
foreach(name emu emu_vcpus emu_snapshots)
	e2e_is_emulated(dump_${name})
endforeach()
# Programs that do odd things, and programs that QEMU itself runs differently.
foreach(name late vsyscall)
	e2e_emu(${name} CHECKS both ${all} RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_emu(handlers CHECKS both truth perf RUN "${e2e_bin}/prog_handlers")
e2e_emu(jobs CHECKS tasks RUN "${e2e_bin}/prog_jobs")
e2e_emu(trapthreads CHECKS tasks RUN "${e2e_bin}/prog_trapthreads" "${e2e_bin}/prog_exit")
foreach(name known_of_qemu context_of_qemu)
	e2e_test(emu_${name} "${e2e_dir}/behave.py" "${name}")
	e2e_is_emulated(emu_${name})
endforeach()

# Large programs, 2e9 instructions in all.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-prog-name=cc1 OUTPUT_VARIABLE cc1
	OUTPUT_STRIP_TRAILING_WHITESPACE)
e2e_emu(big_xz CHECKS hash RUN /usr/bin/xz -k -c -1 "${e2e_bin}/prog_crash_static" "${e2e_bin}/prog_except")
e2e_emu(big_xz_threads CHECKS hash RUN /usr/bin/xz -T2 --block-size=100KiB -k -c -0 "${e2e_bin}/prog_crash_static")
e2e_emu(big_vcpus CHECKS vcpushash RUN /usr/bin/xz -T2 --block-size=100KiB -k -c -0 "${e2e_bin}/prog_crash_static")
e2e_emu(big_perl CHECKS hash RUN /usr/bin/perl "${e2e_dir}/big.pl")
e2e_emu(big_python CHECKS hash RUN /usr/bin/python3 -c "print(sum(i * i for i in range(1000000)))")
e2e_emu(big_sqlite CHECKS hash RUN /usr/bin/sqlite3 :memory: ".read ${e2e_dir}/big.sql")
e2e_emu(big_cc1 CHECKS hash RUN "${cc1}" -quiet -O2 -D_GNU_SOURCE -imultiarch x86_64-linux-gnu "${CMAKE_CURRENT_SOURCE_DIR}/support/prog_tasks.c" -o /dev/null)

foreach(name vcpus xz_threads perl python sqlite cc1)
	e2e_is_field(emu_big_${name})
endforeach()

# Tests of many single steps. The suite has each of them as e2e_emu_NAME, except context_terminal: e2e_context on a terminal.
foreach(name chain ls except plain_script context_terminal tasks_exec tasks_pool tasks_leader tasks_group pie_small_rings
	jit_threads swap_map swap_over progress)
	e2e_is_field(${name})
endforeach()

# The emulated source follows a program through exec and namespaces.
foreach(name own_exe by_descriptor bad_pointers loader_variables any_variable own_name killed another_user another_ipc pid_namespaces mount_namespace rights foreign another_root unreadable lacking)
	e2e_test(follow_${name} "${e2e_dir}/follow.py" "${name}")
	e2e_is_emulated(follow_${name})
endforeach()

# A hundred everyday command lines, emulated. The suite runs a few of them (short).
foreach(name short long)
	e2e_test(emu_everyday_${name} "${e2e_dir}/everyday.py" "${name}")
	e2e_is_emulated(emu_everyday_${name})
endforeach()
e2e_is_field(emu_everyday_long)

# Every form of perf.data, written by perf and by ptcap.
foreach(name perf_file perf_z perf_pipe perf_pipe_z perf_threads perf_threads_z perf_events killed ours bad_places places fifos features)
	e2e_test(forms_${name} "${e2e_dir}/forms.py" "${name}")
endforeach()

# ptcap convert and recover.
function(e2e_convert)
	foreach(name IN LISTS ARGN)
		e2e_test(convert_${name} "${e2e_dir}/convert.py" "${name}")
		set_property(TEST e2e_convert_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
	endforeach()
endfunction()
e2e_convert(perf_file perf_calls perf_two perf_z perf_pipe perf_pipe_z perf_threads perf_threads_z
	perf_tracepoints perf_tracepoints_pipe quipper_pt quipper_pipe quipper_branch quipper_hw_index ours ours_z ours_folder part strip clash killed cut cut_trace)
foreach(name ours_vcpus ours_snapshot queues)
	e2e_convert(${name})
	e2e_is_emulated(convert_${name})
endforeach()

# Branch stacks of the software sources beside a trace, with and without injected errors.
foreach(name filters threads calls event onward exec refused)
	e2e_test(lbr_${name} "${e2e_dir}/lbr.py" "${name}")
endforeach()
foreach(name filters threads calls event onward exec spoilt snapshot)
	e2e_test(emu_lbr_${name} "${e2e_dir}/lbr.py" "${name}")
	e2e_is_emulated(emu_lbr_${name})
endforeach()

# Names of JIT code from a jitdump.
foreach(name names like_node parts)
	e2e_test(jitdump_${name} "${e2e_dir}/jitdump.py" "${name}")
	e2e_test(emu_jitdump_${name} "${e2e_dir}/jitdump.py" "${name}")
	e2e_is_emulated(emu_jitdump_${name})
endforeach()

# JIT code of node and java, if these are installed.
if(NOT PTCAP_SANITIZE)
	foreach(name node_jitdump node_map java_map)
		e2e_test(emu_${name} "${e2e_dir}/runtimes.py" "${name}")
		e2e_is_emulated(emu_${name})
		e2e_is_field(emu_${name})
	endforeach()
	e2e_test(node_attached "${e2e_dir}/runtimes.py" node_attached)
endif()

# Instruction counts of branches: decode -F icount.
foreach(name programs selected json_too calls real binary)
	e2e_test(icount_${name} "${e2e_dir}/icount.py" "${name}")
	e2e_is_emulated(icount_${name})
	set_property(TEST e2e_icount_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
endforeach()
# decode --calls: parts, and folded calls.
foreach(name sym depth least fold folds_much gaps refused)
	e2e_test(calls_${name} "${e2e_dir}/calls.py" "${name}")
	e2e_is_emulated(calls_${name})
endforeach()
# ptcap report.
foreach(name sums timed counted grouped comma inlined bounded gaps selected forms golden names real)
	e2e_test(report_${name} "${e2e_dir}/report.py" "${name}")
	e2e_is_emulated(report_${name})
	set_property(TEST e2e_report_${name} APPEND PROPERTY ENVIRONMENT "PTCAP_TRACES=${PTCAP_TRACES}")
endforeach()
foreach(name callers comma_calls places valgrind)
	e2e_test(report_${name} "${e2e_dir}/report_function.py" "${name}")
	e2e_is_emulated(report_${name})
endforeach()
# Profiles for other tools, which read them: decode --format=bolt ...
foreach(name bolt profgen afdo lcov refused)
	e2e_test(profiles_${name} "${e2e_dir}/profiles.py" "${name}")
	e2e_is_emulated(profiles_${name})
endforeach()
foreach(name callgrind callgrind_calls callgrind_time callgrind_hostile
	folded_stacks folded_threads folded_depth folded_many folded_hostile pprof_top pprof_hostile)
	e2e_test(call_profiles_${name} "${e2e_dir}/call_profiles.py" "${name}")
	e2e_is_emulated(call_profiles_${name})
endforeach()
# The page of ptcap view, in headless Chromium.
foreach(name complete sums time search keys system_theme gaps many branches crash snapshot hostile sources output
	selected)
	e2e_test(view_${name} "${e2e_dir}/view.py" "${name}")
	e2e_is_emulated(view_${name})
endforeach()
foreach(name served levels found selected zoomed ends axes refused inert stopped)
	e2e_test(view_serve_${name} "${e2e_dir}/view_serve.py" "${name}")
	e2e_is_emulated(view_serve_${name})
endforeach()
# Samples with call chains: convert --callchains.
foreach(name like_perf left_frames threads readers messages forms)
	e2e_test(callchains_${name} "${e2e_dir}/callchains.py" "${name}")
	e2e_is_emulated(callchains_${name})
endforeach()
# Calls as files of other tools, decode --format=uftrace and fxt.
foreach(name uftrace_record uftrace_tools uftrace_tasks uftrace_selected uftrace_gaps uftrace_damaged uftrace_hostile
		uftrace_replaced uftrace_refused fxt_calls fxt_budget fxt_gaps fxt_damaged fxt_hostile fxt_output)
	e2e_test(timelines_${name} "${e2e_dir}/timelines.py" "${name}")
	e2e_is_emulated(timelines_${name})
endforeach()
# Sums of the outputs of several recordings: ptcap sum.
foreach(name one windows elsewhere rebuilt counted reports stacks lcov crashes refused)
	e2e_test(sum_${name} "${e2e_dir}/sum.py" "${name}")
endforeach()
foreach(name bolt profgen afdo)
	e2e_test(sum_${name} "${e2e_dir}/sum.py" "${name}")
	e2e_is_emulated(sum_${name})
endforeach()
# The commands of doc/fleet.md.
foreach(name commands schedulers crashes)
	e2e_test(fleet_${name} "${e2e_dir}/fleet.py" "${name}")
	e2e_is_emulated(fleet_${name})
endforeach()
# Tables for other programs, decode --format=arrow.
foreach(name counts branches calls crashes signatures deaths parquet stream hostile sizes bounded cut damaged replaced)
	e2e_test(arrow_${name} "${e2e_dir}/arrow.py" "${name}")
	e2e_is_emulated(arrow_${name})
endforeach()
# decode --counts.
foreach(name edges blocks gaps calls places lines coverage forms)
	e2e_test(counts_${name} "${e2e_dir}/counts.py" "${name}")
	e2e_is_emulated(counts_${name})
endforeach()
foreach(mode map over)
	e2e_test(counts_swap_${mode} "${e2e_dir}/counts.py" swap ${mode} "${e2e_bin}/libprog_lib.so"
		"${e2e_bin}/libprog_lib_two.so")
	e2e_is_emulated(counts_swap_${mode})
endforeach()

# The CPU of a recording: model and microcode, and the software in its place.
foreach(name recorded old part hostile)
	e2e_test(cpu_${name} "${e2e_dir}/cpu.py" "${name}")
endforeach()

# Branch stacks of one run, compared with the trace of another run.
e2e_test(runs_libraries "${e2e_dir}/runs.py" libraries)
foreach(name same libraries threads signals changes target source type order shift refused options hostile)
	e2e_test(emu_runs_${name} "${e2e_dir}/runs.py" ${name})
	e2e_is_emulated(emu_runs_${name})
endforeach()

# Branch stacks made from traces, compared with traces, and with injected errors.
foreach(name clean spoilt calls shift leak time perf damaged exits report real programs)
	e2e_test(compare_${name} "${e2e_dir}/compare.py" "${name}")
endforeach()
e2e_test(compare_far "${e2e_dir}/compare.py" far)
e2e_is_emulated(compare_far)
e2e_test(spoilt_clean "${e2e_dir}/spoilt.py" clean)
e2e_test(spoilt_stale "${e2e_dir}/spoilt.py" stale 1)
set(emu_spoilt stale shift shift_by_any)
if(NOT PTCAP_SANITIZE) # compare_spoilt runs the same code
	list(APPEND emu_spoilt modes)
endif()
foreach(name ${emu_spoilt})
	e2e_test(emu_spoilt_${name} "${e2e_dir}/spoilt.py" ${name})
	e2e_is_emulated(emu_spoilt_${name})
endforeach()
if(NOT PTCAP_SANITIZE)
	e2e_test(compare_forks "${e2e_dir}/compare.py" forks)
	e2e_is_field(compare_forks)
endif()

# The examples of the documents. examples/README.md needs the whole build, because it installs the library.
if(NOT PTCAP_SANITIZE)
	e2e_test(examples_readme "${e2e_dir}/examples.py" page README.md)
	e2e_test(examples_library "${e2e_dir}/examples.py" page examples/README.md "${PROJECT_BINARY_DIR}")
	file(GLOB pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/doc/man/*.1.md")
	foreach(page IN LISTS pages)
		string(REGEX REPLACE "^doc/man/(ptcap-)?(.*)[.]1[.]md$" "\\2" name "${page}")
		string(REPLACE "-" "_" name "${name}")
		e2e_test(examples_${name} "${e2e_dir}/examples.py" page "${page}")
	endforeach()
	e2e_test(examples_every_block "${e2e_dir}/examples_all.py" every_block README.md examples/README.md ${pages})
	foreach(name every_block_can_fail every_span format_program json_samples)
		e2e_test(examples_${name} "${e2e_dir}/examples_all.py" ${name})
	endforeach()
	foreach(name comparison_can_fail a_missing_program_fails)
		e2e_test(examples_${name} "${e2e_dir}/examples.py" ${name})
	endforeach()
endif()

# The kernel's events, compared with perf's records of the same run. No PT hardware and no CPU of their own is needed.
set(events threads pool processes wide some_cpus per_thread attach churn one_thread killed vanishing samples refusals unprivileged)
if(PTCAP_SANITIZE)
	set(events threads churn killed vanishing samples)
endif()
foreach(name ${events})
	e2e_test(events_${name} "${e2e_dir}/events.py" "${name}")
	set_tests_properties(e2e_events_${name} PROPERTIES RESOURCE_GROUPS "" LABELS e2e)
endforeach()
# Refused requests, and processes that are killed at 20 random moments (field: 200).
foreach(name refused software descriptors target killed stray cpus)
	e2e_test(failing_${name} "${e2e_dir}/failing.py" "${name}")
	set_tests_properties(e2e_failing_${name} PROPERTIES RESOURCE_GROUPS "" LABELS e2e)
endforeach()
# `ptcap doctor` as several users, and under several limits. Sanitizer builds have no sandbox.
set(doctor_cases "")
if(NOT PTCAP_SANITIZE)
	set(doctor_cases sandboxed)
endif()
foreach(name here user perfmon namespace memlock seccomp no_qemu measured text process others traced hostile mended memory plugin ${doctor_cases})
	e2e_test(doctor_${name} "${e2e_dir}/doctor.py" "${name}")
	set_tests_properties(e2e_doctor_${name} PROPERTIES RESOURCE_GROUPS "" LABELS e2e)
	set_property(TEST e2e_doctor_${name} APPEND PROPERTY ENVIRONMENT "REFUSE=$<TARGET_FILE:refuse>")
endforeach()
if(NOT PTCAP_SANITIZE)
	foreach(name target killed)
		e2e_test(failing_${name}_200 "${e2e_dir}/failing.py" "${name}" 200)
		e2e_is_field(failing_${name}_200)
	endforeach()
endif()

# e2e_compare_spoilt and e2e_emu_last_threads test the same in less time.
e2e_is_field(emu_spoilt_modes)
# e2e_snapshot_asleep_emu, e2e_emu_lbr_exec and e2e_emu_lbr_filters test the same in less time.
e2e_is_field(snapshot_asleep_step)
e2e_is_field(lbr_exec)
e2e_is_field(lbr_filters)
e2e_is_field(emu_last_pipeline)
