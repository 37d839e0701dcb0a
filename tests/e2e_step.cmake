# Programs recorded by single-stepping, and the behaviour of `ptcap record` with the step source.
foreach(name hello recurse indirect jcc string signal fault trap segv wild killself flags map)
	e2e_case(${name} CHECKS ${all} RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_case(hello_pie CHECKS ${all} RUN "${e2e_bin}/prog_hello_pie")
e2e_case(signal_pie CHECKS ${all} RUN "${e2e_bin}/prog_signal_pie")
e2e_case(int1 CHECKS truth ref RUN "${e2e_bin}/prog_int1")
e2e_case(restart CHECKS truth perf RUN "${e2e_bin}/prog_restart")
e2e_case(rounds CHECKS "says=good" RUN "${e2e_bin}/prog_rounds")
e2e_case(exit_3 CHECKS truth RUN "${e2e_bin}/prog_exit" 3)
foreach(mode rwx flip shared private text cross mem fork unreadable remap self same)
	e2e_case(jit_${mode} CHECKS jit RUN "${e2e_bin}/prog_jit" ${mode})
endforeach()
foreach(name recurse indirect signal string)
	e2e_case(${name}_noretcomp CHECKS noretcomp RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_case(small_rings CHECKS smallrings RUN "${e2e_bin}/prog_busy" 3000)
foreach(name calls once from limit)
	e2e_case(zone_${name} CHECKS zone RUN "${e2e_bin}/prog_busy" 100)
endforeach()
e2e_case(compressed CHECKS compressed RUN "${e2e_bin}/prog_hello")
e2e_case(busy CHECKS truth perf RUN "${e2e_bin}/prog_busy" 6000)

# Programs of 0.1 to 0.2 million steps each.
e2e_case(true CHECKS ${all} RUN /bin/true)
e2e_case(pie CHECKS truth json perf RUN "${e2e_bin}/prog_pie")
e2e_case(longjmp CHECKS truth perf RUN "${e2e_bin}/prog_longjmp")
e2e_case(libc_static CHECKS truth perf RUN "${e2e_bin}/prog_libc_static")
e2e_case(vdso CHECKS truth perf RUN "${e2e_bin}/prog_vdso")
e2e_case(dlopen CHECKS truth perf
	RUN "${e2e_bin}/prog_dlopen" "${e2e_bin}/libprog_lib.so")
e2e_case(zone_threads CHECKS zone RUN "${e2e_bin}/prog_tasks_static" locks)
e2e_case(zone_storm CHECKS zone RUN "${e2e_bin}/prog_tasks" storm)
e2e_case(zone_main CHECKS zone RUN "${e2e_bin}/prog_tasks_static" locks)
e2e_case(zone_forked CHECKS zone
	RUN /bin/dash -c "'${e2e_bin}/prog_exit' 0 & echo a | cat; wait; exit 4")
# Threads and processes: compared for each tid, also with perf.
foreach(mode locks spin storm spawn exec group alarm)
	e2e_case(tasks_${mode} CHECKS tasks RUN "${e2e_bin}/prog_tasks_static" ${mode})
endforeach()
# Dynamic: pthread_exit of a static program starts a loader of its own to find a library, in 4 million steps.
e2e_case(tasks_leader CHECKS tasks RUN "${e2e_bin}/prog_tasks" leader)
e2e_case(tasks_pool CHECKS tasks clean RUN "${e2e_bin}/prog_tasks_static" pool)
e2e_case(jit_threads CHECKS jit RUN "${e2e_bin}/prog_jitthread")
e2e_case(pipeline CHECKS tasks
	RUN /bin/sh -c "echo a b c | tr a-c x-z | cat | cat; exit 4")
e2e_is_field(pipeline) # e2e_emu_pipeline is in the suite
e2e_case(pie_small_rings CHECKS smallrings RUN "${e2e_bin}/prog_pie")
# Programs with the ordinary libraries.
e2e_case(ls CHECKS whole RUN /bin/ls -R "${e2e_bin}/folder")
e2e_case(except CHECKS "says=again deep" onepsb RUN "${e2e_bin}/prog_except")
foreach(mode dlopen map over)
	e2e_case(swap_${mode} CHECKS says=same
		RUN "${e2e_bin}/prog_swap" ${mode} "${e2e_bin}/libprog_lib.so" "${e2e_bin}/libprog_lib_two.so")
endforeach()
e2e_case(chain CHECKS "says=argument last one" RUN "${e2e_bin}/chain" one)
e2e_case(interpreter CHECKS length RUN /bin/dash "${e2e_dir}/interpreter.sh" 3)
e2e_is_field(interpreter)
if(NOT PTCAP_SANITIZE) # these tests take ten times as long in sanitizer builds
	foreach(name plain_script context context_terminal)
		e2e_test(${name} "${e2e_dir}/behave.py" "${name}")
	endforeach()
endif()

foreach(name status not_found not_executable bad_options no_pt auto_emu auto_step auto_fails bad_folder keeps_old full_disk file_limit
	daemon attach_process attach_asleep attach_thread attach_refused attach_to_the_end
	killed killed_attached tracer_killed max_steps max_time progress zone_unreached zone_attached zone_bad
	interrupt hang_up group_beside interrupt_default interrupt_twice interrupt_twice_busy terminate terminate_default
	terminate_then_interrupt refuses_32bit leaves_32bit leaves_far_jump attach_stopped
	attach_blocked_trap attach_32bit no_ptrace killed_command stopped_command inherits comparison_can_fail
	guard_can_fail)
	e2e_test(${name} "${e2e_dir}/behave.py" "${name}")
endforeach()

# Programs that stepping could disturb. refstep does not handle most of them.
e2e_case(masks CHECKS tasks RUN "${e2e_bin}/prog_masks")
e2e_case(masks_fatal CHECKS tasks RUN "${e2e_bin}/prog_masks" f)
e2e_case(vsyscall CHECKS truth ref perf RUN "${e2e_bin}/prog_vsyscall")
e2e_case(handlers CHECKS truth perf RUN "${e2e_bin}/prog_handlers")
foreach(mode kill thread trap errno trace strict sigkill)
	e2e_case(seccomp_${mode} CHECKS truth perf RUN "${e2e_bin}/prog_seccomp" ${mode})
endforeach()
e2e_case(jobs CHECKS tasks RUN "${e2e_bin}/prog_jobs")
e2e_case(late CHECKS ${all} RUN "${e2e_bin}/prog_late")
e2e_case(tf CHECKS truth perf RUN "${e2e_bin}/prog_tf")
e2e_case(trapthreads CHECKS tasks RUN "${e2e_bin}/prog_trapthreads" "${e2e_bin}/prog_exit")
