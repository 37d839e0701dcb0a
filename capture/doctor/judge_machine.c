/* SPDX-License-Identifier: MIT */
/* Judges of the machine and its kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/doctor/judge.h"

enum { PT_MAJOR = 4, PT_MINOR = 14 }; /* the oldest kernel for --source pt (README.md) */

void ptc_judge_processor(const struct ptc_facts *f, struct ptc_check *c)
{
	const char *name = *f->cpu.name ? f->cpu.name : f->cpu.vendor;

	if (!strcmp(f->cpu.vendor, "GenuineIntel") || f->cpu.intel_pt) {
		ptc_check_set(c, f->cpu.intel_pt ? PTC_CHECK_OK : PTC_CHECK_MISSING, "%s: %s", name,
			      f->cpu.intel_pt ? "has Intel PT" : "has no Intel PT");
		if (!f->cpu.intel_pt && !f->cpu.virtual_machine)
			ptc_check_mend(c, "use an Intel processor from Broadwell (2014) on");
		return;
	}
	ptc_check_set(c, PTC_CHECK_MISSING, "%s: only Intel processors have Intel PT", name);
	ptc_check_mend(c, "use an Intel processor from Broadwell (2014) on");
}

static const char *hypervisor_name(const char *id)
{
	static const struct {
		const char *id, *name;
	} known[] = {
		{ "KVMKVMKVM", "KVM" },		{ "Microsoft Hv", "Hyper-V" },
		{ "VMwareVMware", "VMware" },	{ "XenVMMXenVMM", "Xen" },
		{ "TCGTCGTCGTCG", "QEMU TCG" }, { "VBoxVBoxVBox", "VirtualBox" },
		{ "bhyve bhyve ", "bhyve" },	{ "ACRNACRNACRN", "ACRN" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(id, known[i].id))
			return known[i].name;
	return *id ? id : "unknown";
}

void ptc_judge_virtual(const struct ptc_facts *f, struct ptc_check *c)
{
	if (!f->cpu.virtual_machine) {
		ptc_check_set(c, PTC_CHECK_OK, "no virtual machine");
		return;
	}
	ptc_check_set(c, PTC_CHECK_NOTE, "virtual machine (%s)",
		      hypervisor_name(f->cpu.hypervisor));
	if (f->has_pmu)
		return;
	ptc_check_add(c, ", without Intel PT");
	/* KVM's parameter was put behind CONFIG_BROKEN in Linux 6.12, and in stable kernels. */
	if (!strcmp(f->cpu.vendor, "GenuineIntel"))
		ptc_check_mend(c,
			       "record on the host; or on a KVM host before Linux 6.12: `modprobe "
			       "-r kvm_intel && modprobe kvm_intel pt_mode=1`, and QEMU with -cpu "
			       "host");
	else
		ptc_check_mend(c, "record on a machine with an Intel processor");
}

void ptc_judge_container(const struct ptc_facts *f, struct ptc_check *c)
{
	if (*f->container)
		ptc_check_set(c, PTC_CHECK_NOTE, "container: %s", f->container);
	else
		ptc_check_set(c, PTC_CHECK_OK, "no container found");
	if (!f->own_userns)
		return;
	c->state = PTC_CHECK_NOTE;
	ptc_check_add(c, "; a user namespace of its own: its root has no rights for perf events");
}

void ptc_judge_kernel(const struct ptc_facts *f, struct ptc_check *c)
{
	int major = 0, minor = 0;

	if (sscanf(f->release, "%d.%d", &major, &minor) != 2) {
		ptc_check_set(c, PTC_CHECK_UNKNOWN, "Linux '%s'", f->release);
		return;
	}
	ptc_check_set(c, PTC_CHECK_OK, "Linux %s", f->release);
	if (f->tried.attr_size)
		ptc_check_add(c, ", perf_event_attr of %u bytes", f->tried.attr_size);
	if (major < PT_MAJOR || (major == PT_MAJOR && minor < PT_MINOR)) {
		c->state = PTC_CHECK_BROKEN;
		ptc_check_add(c, ", too old for Intel PT");
		ptc_check_mend(c, "use Linux %d.%d or later", PT_MAJOR, PT_MINOR);
	} else if (*f->tried.lacks) {
		c->state = PTC_CHECK_NOTE;
		ptc_check_add(c, ", lacks: %s", f->tried.lacks);
	} else if (!f->tried.event) {
		ptc_check_add(c, ", makes all records that ptcap uses");
	}
}

void ptc_judge_lockdown(const struct ptc_facts *f, struct ptc_check *c)
{
	if (!*f->lockdown) {
		ptc_check_set(c, PTC_CHECK_OK, "none known");
	} else if (!strcmp(f->lockdown, "confidentiality")) { /* LOCKDOWN_PERF, LOCKDOWN_KCORE */
		ptc_check_set(c, PTC_CHECK_BROKEN,
			      "confidentiality: forbids perf events of the kernel and /proc/kcore");
		ptc_check_mend(c, "boot without lockdown=confidentiality");
	} else {
		ptc_check_set(c, PTC_CHECK_OK, "%s", f->lockdown);
	}
}

/* Does a filter explain this refusal? Filters refuse with any errno, mostly these. */
static bool by_filter(int sys)
{
	return sys == EPERM || sys == ENOSYS;
}

void ptc_judge_seccomp(const struct ptc_facts *f, struct ptc_check *c)
{
	const bool events = by_filter(f->tried.event), trace = by_filter(f->tried.trace);

	if (f->seccomp == PTC_FACT_NONE) {
		ptc_check_set(c, PTC_CHECK_UNKNOWN, "/proc/self/status has no line Seccomp");
	} else if (!f->seccomp) {
		ptc_check_set(c, PTC_CHECK_OK, "no filter");
	} else if (!events && !trace) {
		ptc_check_set(c, PTC_CHECK_OK, "filters, which allow perf_event_open and ptrace");
	} else {
		ptc_check_set(c, PTC_CHECK_BROKEN, "filters, which probably refuse %s%s%s",
			      events ? "perf_event_open" : "", events && trace ? " and " : "",
			      trace ? "ptrace" : "");
		ptc_check_mend(c,
			       "start the container with %s%s%s --security-opt "
			       "seccomp=unconfined",
			       events ? "--cap-add PERFMON" : "", events && trace ? " " : "",
			       trace ? "--cap-add SYS_PTRACE" : "");
	}
	if (f->filters > 0)
		ptc_check_add(c, " (%ld filter%s)", f->filters, f->filters == 1 ? "" : "s");
}
