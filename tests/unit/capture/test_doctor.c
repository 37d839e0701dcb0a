/* SPDX-License-Identifier: MIT */
/* Description: the checks of `ptcap doctor`, for made-up machines and users. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "capture/doctor/commands.h"
#include "capture/doctor/facts.h"
#include "capture/doctor/judge.h"
#include "capture/doctor/programs.h"
#include "lib_sysfs.h"

#define BIT(cap) (UINT64_C(1) << (cap))

/* A user on a Skylake with Intel PT at perf_event_paranoid 2. */
static struct ptc_facts skylake(void)
{
	struct ptc_facts f = {
		.cpu = { .vendor = "GenuineIntel", .name = "Skylake", .intel_pt = true },
		.release = "6.1.0-42-amd64",
		.uid = 1000,
		.yama = 1,
		.has_counters = true,
		.lbr_entries = 32,
		.limits = { .paranoid = 2,
			    .mlock_kb = 516,
			    .cpus = 4,
			    .memlock = 8 << 20,
			    .files = 1024 },
		.available = UINT64_C(8) << 30,
		.tried = { .kernel_part = EACCES,
			   .cpu = EACCES,
			   .branches_by_pt = EBUSY,
			   .kcore = EACCES,
			   .rings = PTC_TRIAL_NONE,
			   .attr_size = 128 }
	};
	struct ptc_err err;
	char root[64];

	sysfs_make(root, sizeof(root), "intel_pt");
	sysfs_set(root, "intel_pt", "caps/ip_filtering", "1\n");
	sysfs_set(root, "intel_pt", "caps/topa_output", "1\n");
	f.has_pmu = !ptc_pmu_read(&f.pmu, root, "intel_pt", &err);
	sysfs_remove(root);
	cr_assert(f.has_pmu);
	return f;
}

/* A user in a virtual machine without Intel PT. */
static struct ptc_facts plain(void)
{
	struct ptc_facts f = skylake();

	f.cpu = (struct ptc_processor){ .vendor = "AuthenticAMD",
					.virtual_machine = true,
					.hypervisor = "KVMKVMKVM" };
	f.has_pmu = f.has_counters = false;
	f.tried.pt = f.tried.branches_by_pt = ENODEV;
	f.tried.branches = ENOENT;
	return f;
}

static struct ptc_check judged(ptc_judge judge, const struct ptc_facts *f)
{
	struct ptc_check c = { .name = "x" };

	judge(f, &c);
	return c;
}

static void has(const struct ptc_check *c, enum ptc_check_state state, const char *value,
		const char *mend)
{
	cr_assert_eq(c->state, state, "%s, not %s: %s", ptc_check_state_name(c->state),
		     ptc_check_state_name(state), c->value);
	cr_assert(strstr(c->value, value), "'%s' is not in '%s'", value, c->value);
	if (mend)
		cr_assert(*mend ? strstr(c->mend, mend) != NULL : !*c->mend, "'%s', not '%s'",
			  c->mend, mend);
}

#define JUDGED(f, judge, state, value, mend)                                                       \
	do {                                                                                       \
		const struct ptc_check checked = judged(judge, f);                                 \
                                                                                                   \
		has(&checked, state, value, mend);                                                 \
	} while (0)

Test(doctor, a_machine_with_intel_pt_lists_its_capabilities)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_processor, PTC_CHECK_OK, "Skylake: has Intel PT", "");
	JUDGED(&f, ptc_judge_virtual, PTC_CHECK_OK, "no virtual machine", "");
	JUDGED(&f, ptc_judge_pt, PTC_CHECK_OK, "PMU intel_pt, type 8", "");
	JUDGED(&f, ptc_judge_pt_event, PTC_CHECK_OK, "opens", "");
	JUDGED(&f, ptc_judge_pt_caps, PTC_CHECK_OK,
	       "has cycle counts (-e intel_pt/cyc/u), MTC times, address filters (--filter), large "
	       "rings (ToPA); 2 address filters; lacks ptwrite, power_event_trace",
	       "");
}

Test(doctor, a_missing_pmu_and_a_missing_feature_of_the_processor_differ)
{
	struct ptc_facts f = skylake();

	f.has_pmu = false;
	JUDGED(&f, ptc_judge_pt, PTC_CHECK_BROKEN, "the kernel has no PMU 'intel_pt'", "dmesg");
	f = plain();
	JUDGED(&f, ptc_judge_pt, PTC_CHECK_MISSING, "no Intel PT on this CPU", NULL);
	JUDGED(&f, ptc_judge_processor, PTC_CHECK_MISSING, "only Intel processors", "Broadwell");
	JUDGED(&f, ptc_judge_virtual, PTC_CHECK_NOTE, "KVM", "an Intel processor");
	f.cpu = (struct ptc_processor){ .vendor = "GenuineIntel", .virtual_machine = true };
	JUDGED(&f, ptc_judge_virtual, PTC_CHECK_NOTE, "unknown", "pt_mode=1");
	JUDGED(&f, ptc_judge_processor, PTC_CHECK_MISSING, "has no Intel PT", "");
}

Test(doctor, each_refusal_of_an_event_of_intel_pt_has_its_remedy)
{
	struct ptc_facts f = skylake();

	f.tried.pt = EBUSY;
	JUDGED(&f, ptc_judge_pt_event, PTC_CHECK_BROKEN, "the PMU is in use", "other tracer");
	f.tried.pt = EACCES;
	JUDGED(&f, ptc_judge_pt_event, PTC_CHECK_BROKEN, "paranoid", "perf_event_paranoid=2");
}

Test(doctor, the_trials_tell_what_a_level_of_paranoid_allows)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_NOTE,
	       "2: this user may trace your own programs in "
	       "user mode",
	       "sudo sysctl kernel.perf_event_paranoid=0");
	f.tried.kernel_part = 0;
	f.limits.paranoid = 1;
	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_NOTE, "their kernel part", "for whole CPUs (-a)");
	f.tried.cpu = 0;
	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_OK, "everything (root, or a capability)", "");
	f.limits.paranoid = 0; /* a user may open events of CPUs */
	cr_assert_str_eq(judged(ptc_judge_paranoid, &f).value, "0: this user may trace everything");
	f.limits.paranoid = -1;
	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_OK, "-1: this user may trace everything", "");
	/* 3 forbids everything on Debian's kernel, and nothing more than 2 on Linus' kernel. */
	f = skylake();
	f.limits.paranoid = 3;
	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_NOTE, "3: this user may trace your own", "=0");
	f.tried.event = EACCES;
	JUDGED(&f, ptc_judge_paranoid, PTC_CHECK_BROKEN, "3: this user may trace nothing",
	       "sudo sysctl kernel.perf_event_paranoid=2");
	JUDGED(&f, ptc_judge_events, PTC_CHECK_BROKEN, "Permission denied",
	       "sudo sysctl kernel.perf_event_paranoid=2");
}

Test(doctor, capabilities_of_an_own_user_namespace_count_for_nothing)
{
	struct ptc_facts f = skylake();
	bool limited;

	JUDGED(&f, ptc_judge_capabilities, PTC_CHECK_NOTE, "user 1000 has none; lacks perfmon",
	       "setpriv");
	f.caps = BIT(CAP_PERFMON);
	JUDGED(&f, ptc_judge_capabilities, PTC_CHECK_NOTE, "has perfmon; lacks sys_admin",
	       "setpriv");
	cr_assert_not(strstr(judged(ptc_judge_capabilities, &f).mend, "setcap"),
		      "the capabilities of a file are those of all users");
	cr_assert_not(strstr(judged(ptc_judge_capabilities, &f).mend, "ptrace"));
	f.caps = UINT64_MAX;
	JUDGED(&f, ptc_judge_capabilities, PTC_CHECK_OK, "ipc_lock", "");
	(void)ptc_ring_sizes_largest(&f, 4, &limited);
	cr_assert(!limited);
	f.own_userns = true;
	JUDGED(&f, ptc_judge_capabilities, PTC_CHECK_NOTE, "own user namespace only", "outside");
	JUDGED(&f, ptc_judge_container, PTC_CHECK_NOTE, "no container found; a user namespace", "");
	(void)ptc_ring_sizes_largest(&f, 4, &limited);
	cr_assert(limited);
}

Test(doctor, yama_restricts_users_but_not_cap_sys_ptrace)
{
	static const struct {
		long scope;
		enum ptc_check_state user, root;
		const char *mend;
	} table[] = {
		{ PTC_FACT_NONE, PTC_CHECK_OK, PTC_CHECK_OK, "" },
		{ 0, PTC_CHECK_OK, PTC_CHECK_OK, "" },
		{ 1, PTC_CHECK_NOTE, PTC_CHECK_OK, "sudo sysctl kernel.yama.ptrace_scope=0" },
		{ 2, PTC_CHECK_BROKEN, PTC_CHECK_OK, "sudo sysctl kernel.yama.ptrace_scope=0" },
		{ 3, PTC_CHECK_BROKEN, PTC_CHECK_BROKEN, "boot" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct ptc_facts f = skylake();

		f.yama = table[i].scope;
		JUDGED(&f, ptc_judge_yama, table[i].user, "", table[i].mend);
		f.caps = BIT(CAP_SYS_PTRACE);
		JUDGED(&f, ptc_judge_yama, table[i].root, "", NULL);
	}
}

/* Yama asks for the capability in the user namespace of the traced process. */
Test(doctor, cap_sys_ptrace_counts_for_yama_in_an_own_user_namespace)
{
	struct ptc_facts f = skylake();

	f.caps = BIT(CAP_SYS_PTRACE);
	f.own_userns = true;
	cr_assert(ptc_abilities_of(&f, NULL, false).attach);
	JUDGED(&f, ptc_judge_yama, PTC_CHECK_OK, "all processes of its user namespace", "");
	f.yama = 2;
	cr_assert(ptc_abilities_of(&f, NULL, false).attach);
	JUDGED(&f, ptc_judge_yama, PTC_CHECK_OK, "all processes of its user namespace", "");
	f.own_userns = false;
	f.yama = 3; /* refuses root, too */
	cr_assert_not(ptc_abilities_of(&f, NULL, false).attach);
	JUDGED(&f, ptc_judge_yama, PTC_CHECK_BROKEN, "no process may be traced", "boot");
}

/* The kernel refuses to leave ptrace_scope 3. */
Test(doctor, a_refused_ptrace_has_the_remedy_of_its_ptrace_scope)
{
	struct ptc_facts f = skylake();

	f.tried.trace = EPERM;
	JUDGED(&f, ptc_judge_ptrace, PTC_CHECK_BROKEN, "cannot be traced", "");
	f.yama = 2;
	JUDGED(&f, ptc_judge_ptrace, PTC_CHECK_BROKEN, "cannot be traced", "ptrace_scope=0");
	f.yama = 3;
	JUDGED(&f, ptc_judge_ptrace, PTC_CHECK_BROKEN, "cannot be traced", "see yama");
	f.seccomp = 2;
	JUDGED(&f, ptc_judge_ptrace, PTC_CHECK_BROKEN, "cannot be traced", "see yama");
}

Test(doctor, filters_are_broken_only_if_they_refuse_a_needed_call)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_OK, "no filter", "");
	f.seccomp = 2;
	f.filters = 3;
	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_OK, "allow perf_event_open and ptrace (3 filters)",
	       "");
	f.tried.event = EPERM;
	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_BROKEN, "refuse perf_event_open (",
	       "--cap-add PERFMON");
	f.tried.trace = EPERM;
	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_BROKEN, "perf_event_open and ptrace",
	       "--cap-add PERFMON --cap-add SYS_PTRACE --security-opt");
	JUDGED(&f, ptc_judge_ptrace, PTC_CHECK_BROKEN, "Operation not permitted", "SYS_PTRACE");
	f.tried.event = EACCES; /* by perf_event_paranoid */
	f.tried.trace = 0;
	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_OK, "allow", "");
	f.seccomp = PTC_FACT_NONE;
	JUDGED(&f, ptc_judge_seccomp, PTC_CHECK_UNKNOWN, "Seccomp", "");
}

Test(doctor, the_kernel_is_judged_by_its_release_and_its_records)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_kernel, PTC_CHECK_OK,
	       "Linux 6.1.0-42-amd64, perf_event_attr of 128 bytes, makes all records", "");
	(void)snprintf(f.tried.lacks, sizeof(f.tried.lacks), "build-ids (needs Linux 5.12)");
	JUDGED(&f, ptc_judge_kernel, PTC_CHECK_NOTE, "lacks: build-ids (needs Linux 5.12)", "");
	(void)snprintf(f.release, sizeof(f.release), "4.13.7");
	JUDGED(&f, ptc_judge_kernel, PTC_CHECK_BROKEN, "too old", "4.14");
	(void)snprintf(f.release, sizeof(f.release), "strange");
	JUDGED(&f, ptc_judge_kernel, PTC_CHECK_UNKNOWN, "strange", "");
	JUDGED(&f, ptc_judge_lockdown, PTC_CHECK_OK, "none known", "");
	(void)snprintf(f.lockdown, sizeof(f.lockdown), "confidentiality");
	JUDGED(&f, ptc_judge_lockdown, PTC_CHECK_BROKEN, "/proc/kcore", "boot");
}

Test(doctor, lbr_beside_intel_pt_is_a_property_of_its_own)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_lbr, PTC_CHECK_NOTE, "32 entries, but not beside Intel PT", "convert");
	f.tried.branches_by_pt = 0;
	JUDGED(&f, ptc_judge_lbr, PTC_CHECK_OK, "32 entries, also beside Intel PT", "");
	f.tried.branches = EOPNOTSUPP;
	JUDGED(&f, ptc_judge_lbr, PTC_CHECK_MISSING, "no LBR", "convert --branch-stacks");
	f = plain();
	JUDGED(&f, ptc_judge_lbr, PTC_CHECK_MISSING, "no hardware counters in this virtual machine",
	       NULL);
}

/* The kernel's arithmetic: data, AUX and a control page for each CPU. */
static uint64_t locked_kib(const struct ptc_ring_sizes *s, uint64_t cpus)
{
	return (s->data + s->aux + 4096) / 1024 * cpus;
}

Test(doctor, the_largest_rings_fit_the_limits_and_larger_ones_do_not)
{
	static const struct {
		long mlock_kb, cpus;
		uint64_t memlock, data_kib, aux_kib;
	} table[] = {
		{ 516, 4, 0, 256, 256 },
		{ 516, 2, 8 << 20, 512, 4096 },
		{ 516, 2, 64 << 10, 32, 512 },
		{ 128, 4, 0, 32, 64 },
		{ 516, 64, 64 << 10, 256, 256 },
		{ 20, 1, 0, 8, 8 },
		{ 19, 1, 0, 0, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const uint64_t cpus = (uint64_t)table[i].cpus;
		const uint64_t allowed =
			(uint64_t)table[i].mlock_kb * cpus + table[i].memlock / 1024;
		struct ptc_facts f = skylake();
		struct ptc_ring_sizes s, more;
		bool limited;

		f.limits.mlock_kb = table[i].mlock_kb;
		f.limits.cpus = table[i].cpus;
		f.limits.memlock = table[i].memlock;
		s = ptc_ring_sizes_largest(&f, cpus, &limited);
		cr_assert(limited);
		cr_assert_eq(s.data, table[i].data_kib * 1024, "row %zu: %lu", i, s.data);
		cr_assert_eq(s.aux, table[i].aux_kib * 1024, "row %zu: %lu", i, s.aux);
		if (!s.aux)
			continue;
		cr_assert_leq(locked_kib(&s, cpus), allowed);
		more = (struct ptc_ring_sizes){ s.data * 2, s.aux };
		cr_assert(locked_kib(&more, cpus) > allowed);
		more = (struct ptc_ring_sizes){ s.data, s.aux * 2 };
		cr_assert(locked_kib(&more, cpus) > allowed || more.aux > 16 * more.data);
	}
}

Test(doctor, rings_without_a_limit_depend_on_the_memory)
{
	struct ptc_facts f = skylake();
	struct ptc_ring_sizes s;
	bool limited;

	JUDGED(&f, ptc_judge_rings, PTC_CHECK_NOTE,
	       "at most -m 512K,2M (computed) for each of 4 CPUs",
	       "sudo prlimit --pid $$ --memlock=unlimited");
	f.tried.rings = EPERM;
	JUDGED(&f, ptc_judge_rings, PTC_CHECK_NOTE, "refuses now", NULL);
	f.limits.paranoid = -1;
	f.tried.rings = 0;
	s = ptc_ring_sizes_largest(&f, 4, &limited);
	cr_assert(!limited);
	cr_assert_eq(s.data + s.aux, UINT64_C(768) << 20, "%lu", s.data + s.aux);
	JUDGED(&f, ptc_judge_rings, PTC_CHECK_OK, "-m 256M,512M (tried)", "");
	f.available = 0;
	JUDGED(&f, ptc_judge_rings, PTC_CHECK_BROKEN, "no ring fits", NULL);
}

Test(doctor, descriptors_limit_the_threads)
{
	struct ptc_facts f = skylake();

	JUDGED(&f, ptc_judge_descriptors, PTC_CHECK_OK, "needs 8, so about 128 threads", "");
	f.limits.files = 64;
	JUDGED(&f, ptc_judge_descriptors, PTC_CHECK_NOTE, "about 8 threads", "--nofile");
}

/* --- commands --- */

static const struct ptc_check *command(const struct ptc_check *all, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n && strcmp(all[i].name, name) != 0; i++)
		;
	cr_assert(i < n, "no '%s'", name);
	return &all[i];
}

/* Checks the state of each command for a machine, one letter each: o, n, m. */
static void commands_are(const struct ptc_facts *f, bool emu, const char *states)
{
	static const char *const names[] = { "record -- CMD",	    "record -p PID",
					     "record -a",	    "record --kcore",
					     "record --lbr -- CMD", "snapshot -p PID",
					     "snapshot -- CMD",	    "crash -- CMD",
					     "crash -p PID",	    "crash -e dummy:u -p PID",
					     "stacks -p PID",	    "decode, info, crash show" };
	const struct ptc_abilities a = ptc_abilities_of(f, NULL, emu);
	const struct ptc_doctor_costs none = { 0 };
	struct ptc_check all[PTC_COMMANDS_MAX];
	const size_t n = ptc_commands_judge(&a, &none, all);
	size_t i;

	cr_assert_eq(n, strlen(states));
	for (i = 0; i < n; i++)
		cr_assert_eq(*ptc_check_state_name(command(all, n, names[i])->state), states[i],
			     "%s: %s", names[i], command(all, n, names[i])->value);
}

Test(doctor, the_commands_that_work_follow_from_the_abilities)
{
	struct ptc_facts f = skylake();

	f.yama = 0;
	commands_are(&f, true, "oommmooooooo");
	f.tried.cpu = f.tried.kernel_part = f.tried.kcore = f.tried.branches_by_pt = 0;
	commands_are(&f, false, "oooooooooooo");
	f.yama = 1;
	commands_are(&f, false, "ooooooooommo");
	f = plain();
	f.yama = 0;
	commands_are(&f, true, "onmmnnnonooo");
	f.yama = 1;
	commands_are(&f, true, "ommmnmnommmo");
	f.yama = 2;
	f.tried.trace = EPERM;
	commands_are(&f, true, "ommmnmnommmo");
	commands_are(&f, false, "mmmmmmmmmmmo");
}

Test(doctor, measured_costs_replace_the_stated_ones)
{
	const struct ptc_abilities a = { .emu = true, .trace = true, .attach = true };
	const struct ptc_doctor_costs none = { 0 }, costs = { .native_ns = 2000000,
							      .emu_ns = 100000000,
							      .emu_per_second = 200000000,
							      .step_per_second = 40123,
							      .step_slowdown = 250000 };
	struct ptc_check all[PTC_COMMANDS_MAX];
	size_t n = ptc_commands_judge(&a, &none, all);

	cr_assert(strstr(command(all, n, "record -- CMD")->value, "doc/performance.md"));
	n = ptc_commands_judge(&a, &costs, all);
	cr_assert_str_eq(command(all, n, "record -- CMD")->value,
			 "emu: 200 million instructions/s measured, 50 times slower");
	cr_assert_str_eq(command(all, n, "record -p PID")->value,
			 "only with --source step; step: 40000 instructions/s measured, 250000 "
			 "times slower");
}

/* --- a process --- */

static struct ptc_check target_judged(ptc_target_judge judge, const struct ptc_target *t,
				      const struct ptc_facts *f)
{
	struct ptc_check c = { .name = "x" };

	judge(t, f, &c);
	return c;
}

#define TARGET(t, f, judge, state, value, mend)                                                    \
	do {                                                                                       \
		const struct ptc_check checked = target_judged(judge, t, f);                       \
                                                                                                   \
		has(&checked, state, value, mend);                                                 \
	} while (0)

Test(doctor, a_process_is_judged_by_its_user_its_tracer_and_its_threads)
{
	struct ptc_facts f = skylake();
	struct ptc_target t = { .pid = 7, .comm = "server", .uid = 1000, .threads = 100 };

	TARGET(&t, &f, ptc_judge_target, PTC_CHECK_OK,
	       "process 7 (server) of user 1000, 100 threads", "");
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_OK, "may trace it", "");
	TARGET(&t, &f, ptc_judge_target_events, PTC_CHECK_OK, "may open events", "");
	t.threads = 129; /* each has 2 events on 4 CPUs, and 1024 descriptors are allowed */
	TARGET(&t, &f, ptc_judge_target, PTC_CHECK_BROKEN, "more descriptors", "--nofile");
	t.attach = EPERM; /* by yama */
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "not permitted",
	       "ptrace_scope=0");
	t.uid = 0;
	t.event = EACCES;
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "not permitted",
	       "CAP_SYS_PTRACE");
	TARGET(&t, &f, ptc_judge_target_events, PTC_CHECK_BROKEN, "other users", "CAP_PERFMON");
	t.tracer = 9;
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "process 9 traces it",
	       "process 9");
	t.kernel = true;
	TARGET(&t, &f, ptc_judge_target, PTC_CHECK_MISSING, "thread of the kernel", NULL);
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_MISSING, "no code", "");
}

/* Root without capabilities, as in a container. */
Test(doctor, root_gets_no_advice_to_be_root)
{
	static const ptc_judge judges[] = { ptc_judge_capabilities, ptc_judge_kernel_code };
	struct ptc_target t = { .pid = 7, .attach = EPERM, .event = EACCES, .maps = EACCES };
	struct ptc_facts f = skylake();
	size_t i;

	f.uid = 0;
	f.yama = 0;
	for (i = 0; i < 2; i++)
		cr_assert_not(strstr(judged(judges[i], &f).mend, "root"), "judge %zu", i);
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "", "run ptcap with CAP_SYS_");
	TARGET(&t, &f, ptc_judge_target_events, PTC_CHECK_BROKEN, "", "run ptcap with CAP_PERF");
	(void)snprintf(f.container, sizeof(f.container), "docker");
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_UNKNOWN, "", "start the container with");
	JUDGED(&f, ptc_judge_capabilities, PTC_CHECK_NOTE, "has none", "start the container with");
}

/* A user with all capabilities gets no advice to use them. */
Test(doctor, a_refusal_to_root_names_the_lsm_or_the_filter)
{
	struct ptc_facts f = skylake();
	struct ptc_target t = { .pid = 7, .attach = EACCES, .event = EACCES, .maps = EACCES };

	f.uid = 0;
	f.caps = UINT64_MAX;
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN,
	       ": a security module (LSM) refuses", "");
	TARGET(&t, &f, ptc_judge_target_events, PTC_CHECK_BROKEN,
	       ": a security module (LSM) refuses", "");
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_UNKNOWN,
	       ": a security module (LSM) refuses", "");
	f.seccomp = 2;
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, ": a seccomp filter or", "");
	f.own_userns = true; /* the process may belong to another one */
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "may not trace", "outside of");
	f.yama = 3;
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "may not trace", "see yama");
	t = (struct ptc_target){ .pid = 7, .attach = ESRCH, .event = ESRCH, .maps = ESRCH };
	TARGET(&t, &f, ptc_judge_target_ptrace, PTC_CHECK_BROKEN, "No such process", "");
	TARGET(&t, &f, ptc_judge_target_events, PTC_CHECK_BROKEN, "No such process", "");
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_UNKNOWN, "No such process", "");
}

Test(doctor, memory_with_code_is_no_file_and_has_no_remedy)
{
	struct ptc_facts f = skylake();
	struct ptc_doctor_file files[2] = { { .in_memory = true }, { .gone = false } };
	struct ptc_target t = { .files = files, .nfiles = 2 };

	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_NOTE,
	       "1 file with code; code in no file: memory with 1 name", "");
	files[1].gone = true;
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_BROKEN, "1 of them gone", "restart");
}

Test(doctor, files_that_are_gone_are_counted)
{
	struct ptc_facts f = skylake();
	struct ptc_doctor_file files[2] = { { .gone = true }, { .gone = false } };
	struct ptc_target t = { .files = files, .nfiles = 2 };

	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_BROKEN,
	       "2 files with code, 1 of them gone", "restart");
	files[0].gone = false;
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_OK, "2 files with code", "");
	t.maps = EACCES;
	TARGET(&t, &f, ptc_judge_target_files, PTC_CHECK_UNKNOWN, "cannot be read", "root");
}

Test(doctor, commands_with_a_process_depend_on_the_process)
{
	struct ptc_facts f = plain();
	struct ptc_target t = { .pid = 7 };
	struct ptc_abilities a = ptc_abilities_of(&f, &t, true);

	cr_assert(a.attach && a.events && !a.pt_attach && a.emu);
	t.tracer = 9;
	a = ptc_abilities_of(&f, &t, true);
	cr_assert(!a.attach && a.events && a.trace);
	f = skylake();
	t = (struct ptc_target){ .pid = 7, .event = EACCES, .attach = EPERM };
	a = ptc_abilities_of(&f, &t, true);
	cr_assert(a.pt && !a.pt_attach && !a.attach && !a.events);
}

Test(doctor, the_remedy_for_a_missing_qemu_depends_on_the_distribution)
{
	static const struct {
		const char *text, *remedy;
	} table[] = {
		{ "NAME=\"x\"\nVERSION_ID=\"12\"\nID=debian\n", "sudo apt install qemu-user" },
		{ "ID=debian\nVERSION_ID=\"13\"\n", "scripts/qemu" },
		{ "ID=debian\n", "sudo apt install qemu-user" },
		{ "VERSION_ID=\"24.04\"\nID=ubuntu\nID_LIKE=debian\n",
		  "sudo apt install qemu-user" },
		{ "ID=\"opensuse-leap\"\n", "sudo zypper install qemu-linux-user" },
		{ "ID=fedora\nVERSION_ID=40", "sudo dnf install qemu-user" },
		{ "ID=", "install qemu-user 7.2 or later, or build it with scripts/qemu" },
		{ "", "install qemu-user 7.2 or later, or build it with scripts/qemu" },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		cr_assert_str_eq(ptc_qemu_remedy(table[i].text), table[i].remedy, "row %zu", i);
}
