/* SPDX-License-Identifier: MIT */
#include "capture/host/processor.h"

#include <cpuid.h>
#include <string.h>

#define LEAF_HYPERVISOR 0x40000000u /* the vendor of the hypervisor, in ebx, ecx, edx */
#define LEAF_EXTENDED	0x80000000u
#define LEAF_BRAND	0x80000002u /* and the next two leaves: the brand string */

/* Copies the four letters in each of @n registers. */
static void put_letters(char *to, const unsigned int *regs, size_t n)
{
	memcpy(to, regs, n * sizeof(*regs));
	to[n * sizeof(*regs)] = '\0';
}

static void read_brand(char *to)
{
	unsigned int r[12] = { 0 }, i, *at = r;
	size_t blanks;

	if ((unsigned int)__get_cpuid_max(LEAF_EXTENDED, NULL) < LEAF_BRAND + 2) /* int in clang */
		return;
	for (i = 0; i < 3; i++, at += 4)
		__cpuid(LEAF_BRAND + i, at[0], at[1], at[2], at[3]);
	put_letters(to, r, 12);
	to[strcspn(to, "\n")] = '\0';
	/* Some processors fill the string with blanks, before or behind the name. */
	while (*to && to[strlen(to) - 1] == ' ')
		to[strlen(to) - 1] = '\0';
	blanks = strspn(to, " ");
	memmove(to, to + blanks, strlen(to + blanks) + 1);
}

void ptc_processor_read(struct ptc_processor *ret)
{
	unsigned int a, b, c, d;

	memset(ret, 0, sizeof(*ret));
	if (__get_cpuid(0, &a, &b, &c, &d))
		put_letters(ret->vendor, (const unsigned int[]){ b, d, c }, 3);
	read_brand(ret->name);
	/* CPUID.(EAX=07H,ECX=0H):EBX[25]: the processor has Intel PT (SDM vol. 3C, 33.3.1). */
	ret->intel_pt = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 25 & 1);
	/* CPUID.01H:ECX[31] is always 0 on hardware; hypervisors set it. */
	ret->virtual_machine = __get_cpuid(1, &a, &b, &c, &d) && (c >> 31 & 1);
	if (!ret->virtual_machine)
		return;
	__cpuid(LEAF_HYPERVISOR, a, b, c, d);
	put_letters(ret->hypervisor, (const unsigned int[]){ b, c, d }, 3);
}

const char *ptc_processor_why_no_pt(bool cpu, bool pmu)
{
	if (pmu)
		return NULL;
	return cpu ? "the CPU has Intel PT, but the kernel has no PMU 'intel_pt'" :
		     "no Intel PT on this CPU or virtual machine";
}
