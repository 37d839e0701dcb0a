# Programs recorded with the emulated source.
foreach(name hello recurse indirect jcc string signal fault trap segv wild killself flags)
	e2e_emu(${name} CHECKS both ${all} RUN "${e2e_bin}/prog_${name}")
endforeach()
foreach(name hello_pie signal_pie map)
	e2e_emu(${name} CHECKS truth json perf tools RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_emu(restart CHECKS both truth perf RUN "${e2e_bin}/prog_restart")
e2e_emu(exit_3 CHECKS both truth RUN "${e2e_bin}/prog_exit" 3)
# e2e/known.txt has the other modes.
foreach(mode rwx flip cross fork unreadable remap self same)
	e2e_emu(jit_${mode} CHECKS jit RUN "${e2e_bin}/prog_jit" ${mode})
endforeach()
e2e_emu(jit_threads CHECKS jit RUN "${e2e_bin}/prog_jitthread")
foreach(name recurse indirect signal string)
	e2e_emu(${name}_noretcomp CHECKS noretcomp RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_emu(snapshots CHECKS snapshots RUN "${e2e_bin}/prog_laps" 1)
e2e_emu(snapshots_threads CHECKS snapshots RUN "${e2e_bin}/prog_laps" 3)
e2e_emu(snapshots_vcpus CHECKS snapshots RUN "${e2e_bin}/prog_laps" 3)
e2e_emu(lossy CHECKS lossy RUN "${e2e_bin}/prog_busy" 60000)
e2e_emu(small_rings CHECKS smallrings RUN "${e2e_bin}/prog_busy" 3000)
e2e_emu(compressed CHECKS compressed RUN "${e2e_bin}/prog_tasks" pool)
e2e_emu(busy CHECKS both truth perf RUN "${e2e_bin}/prog_busy" 6000)
e2e_emu(true CHECKS truth json perf tools RUN /bin/true)
foreach(name pie longjmp libc_static vdso)
	e2e_emu(${name} CHECKS truth json perf RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_emu(dlopen CHECKS truth perf RUN "${e2e_bin}/prog_dlopen" "${e2e_bin}/libprog_lib.so")
# Emulated threads run side by side. In these modes some threads may not have begun when the process ends. e2e/known.txt has
# the mode `spawn`.
foreach(mode group spin)
	e2e_emu(tasks_${mode} CHECKS whole RUN "${e2e_bin}/prog_tasks" ${mode})
endforeach()
foreach(mode locks storm exec leader alarm)
	e2e_emu(tasks_${mode} CHECKS tasks RUN "${e2e_bin}/prog_tasks" ${mode})
endforeach()
e2e_emu(tasks_pool CHECKS tasks clean RUN "${e2e_bin}/prog_tasks" pool)
e2e_emu(pipeline CHECKS tasks
	RUN /bin/sh -c "echo a b c | tr a-c x-z | cat | sed s/x/w/; exit 4")
# Several virtual CPUs.
foreach(mode locks pool storm exec leader alarm)
	e2e_emu(vcpus_tasks_${mode} CHECKS vcpus RUN "${e2e_bin}/prog_tasks" ${mode})
endforeach()
e2e_emu(vcpus_pipeline CHECKS vcpus
	RUN /bin/sh -c "echo a b c | tr a-c x-z | cat | sed s/x/w/; exit 4")
e2e_emu(pie_small_rings CHECKS smallrings RUN "${e2e_bin}/prog_pie")
e2e_emu(ls CHECKS whole RUN /bin/ls -lR "${e2e_bin}/folder")
e2e_emu(except CHECKS "says=again deep" onepsb RUN "${e2e_bin}/prog_except")
foreach(mode map over)
	e2e_emu(swap_${mode} CHECKS says=same
		RUN "${e2e_bin}/prog_swap" ${mode} "${e2e_bin}/libprog_lib.so" "${e2e_bin}/libprog_lib_two.so")
endforeach()
e2e_emu(chain CHECKS "says=argument last one" RUN "${e2e_bin}/chain" one)

foreach(name status not_found not_executable plain_script keeps_old full_disk full_disk_later file_limit daemon killed
	max_time progress interrupt hang_up group_beside interrupt_default interrupt_twice interrupt_twice_busy terminate
	terminate_default terminate_then_interrupt snapshot_refused snapshot_left snapshot_max_time
	snapshot_file_limit code_once code_full signals_moved crowd churn forks busy_daemon)
	e2e_test(emu_${name} "${e2e_dir}/behave.py" "${name}")
	e2e_is_emulated(emu_${name})
endforeach()

# The tree of calls, and single instructions.
foreach(name recurse signal longjmp except)
	e2e_emu(calls_${name} CHECKS calls RUN "${e2e_bin}/prog_${name}")
endforeach()
foreach(name signal longjmp)
	e2e_emu(insn_${name} CHECKS insn RUN "${e2e_bin}/prog_${name}")
endforeach()
e2e_emu(calls_exec_itself CHECKS calls RUN "${e2e_bin}/prog_chain_static" "${e2e_bin}/prog_chain_static"
	"${e2e_bin}/prog_chain_static")
e2e_emu(calls_exec CHECKS calls RUN "${e2e_bin}/chain" one)
e2e_emu(calls_threads CHECKS calls RUN "${e2e_bin}/prog_tasks" locks)
e2e_emu(calls_ls CHECKS calls RUN /bin/ls -lR "${e2e_bin}/folder")
