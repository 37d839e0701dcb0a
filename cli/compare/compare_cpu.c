/* SPDX-License-Identifier: MIT */
/* The CPU in the report of compare: its model, its microcode, and whether software replaced it. */
#include <stdio.h>

#include "base/terminal_escape.h"
#include "cli/common/jsontext.h"
#include "cli/compare/compare_report.h"

enum { TEXT_MAX = 512 };

void ptc_compare_print_cpu(const struct ptc_recorded_cpu *cpu)
{
	char text[TEXT_MAX], microcode[PTC_RECORDED_CPU_TEXT];

	ptc_recorded_cpu_microcode(cpu, microcode);
	ptc_plain_copy(text, sizeof(text), *cpu->model ? cpu->model : "unknown");
	printf("cpu      %s", text);
	if (*cpu->cpuid) {
		ptc_plain_copy(text, sizeof(text), cpu->cpuid);
		printf(", %s", text);
	}
	printf(", %s\n", microcode);
	ptc_recorded_cpu_show_kinds(stdout, "        ", cpu);
	if (cpu->software)
		printf("source   %s: this software made the trace and the stacks, not the CPU\n",
		       cpu->software);
}

static json_t *text_of(const char *s)
{
	return *s ? ptc_json_text(s) : json_null();
}

bool ptc_compare_set_cpu(json_t *o, const struct ptc_recorded_cpu *cpu)
{
	json_t *c = json_pack("{s:o,s:o,s:o}", "name", text_of(cpu->model), "cpuid",
			      text_of(cpu->cpuid), "microcode",
			      ptc_recorded_cpu_microcode_json(cpu));

	return !json_object_set_new(o, "cpu", c) &&
	       !json_object_set_new(o, "software_source",
				    cpu->software ? json_string(cpu->software) : json_null());
}
