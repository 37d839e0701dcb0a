/* SPDX-License-Identifier: MIT */
/* Which source: what the machine has, and what to say when it has it not. */
#include <cpuid.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/err.h"
#include "ptcap/capture.h"

#define PT_PMU "/sys/bus/event_source/devices/intel_pt"

/* CPUID.(EAX=07H,ECX=0H):EBX[25]: the processor has Intel PT (SDM vol. 3C, 33.3.1). */
static bool cpu_has_pt(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 25 & 1);
}

int ptc_source_choose(enum ptc_source_kind want, bool attach, enum ptc_source_kind *ret,
		      const char **ret_why, struct ptc_err *err)
{
	const bool pmu = !access(PT_PMU "/type", R_OK);
	const char *missing =
		cpu_has_pt() ? "the CPU has Intel PT, but the kernel offers no PMU 'intel_pt'" :
			       "the CPU (or the virtual machine) has no Intel PT";

	if (want == PTC_SOURCE_PT && !pmu)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot record with Intel PT: %s (" PT_PMU " is missing); "
				"--source step works anywhere",
				missing);
	if (want == PTC_SOURCE_AUTO && !pmu && attach)
		return ptc_fail(
			err, PTC_E_UNSUPPORTED,
			"%s: a running process is not stepped unasked, because that slows it "
			"a thousandfold; --source step does it",
			missing);
	if (want == PTC_SOURCE_STEP || want == PTC_SOURCE_EMU) {
		*ret = want;
		*ret_why = "asked for";
	} else if (pmu) {
		*ret = PTC_SOURCE_PT;
		*ret_why = want == PTC_SOURCE_PT ? "asked for" : "this machine has Intel PT";
	} else {
		*ret = PTC_SOURCE_STEP;
		*ret_why = missing;
	}
	return 0;
}
