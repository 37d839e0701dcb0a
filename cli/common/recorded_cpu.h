/* SPDX-License-Identifier: MIT */
/*
 * The CPU of a recording: model and microcode, and whether software made the trace in its place.
 * All texts come from the recording. So they are bounded, and escaped when they are printed.
 */
#ifndef PTC_CLI_COMMON_RECORDED_CPU_H
#define PTC_CLI_COMMON_RECORDED_CPU_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ptcap/file.h"
#include "ptcap/ledger.h"

/* KINDS: kinds of CPUs that are kept. TEXT: bytes that hold the text about the microcode. */
enum { PTC_RECORDED_CPU_KINDS = 16, PTC_RECORDED_CPU_TEXT = 128 };

/* Starts zeroed. */
struct ptc_recorded_cpu {
	char model[128];      /* CPUDESC; "": not recorded; not escaped */
	char cpuid[64];	      /* CPUID, the same */
	const char *software; /* static: the software source, "emu" or "step"; NULL: none known */
	struct ptc_ledger_processor kinds[PTC_RECORDED_CPU_KINDS];
	size_t n;	 /* 0: an older recording, or another recorder */
	uint64_t beyond; /* kinds that are not kept */
};

/* Set model, cpuid and software from the header of @f. */
void ptc_recorded_cpu_header(struct ptc_recorded_cpu *c, const struct ptc_file *f);

/* Add the processors of @rec, if it is a ledger record with processors. Ignores damaged records. */
void ptc_recorded_cpu_add(struct ptc_recorded_cpu *c, const struct ptc_rec *rec);

/* Do both, for all records of @f. A damaged rest of the file is ignored. */
void ptc_recorded_cpu_read(struct ptc_recorded_cpu *c, const struct ptc_file *f);

/* Format "microcode 0x2c", with up to three different numbers, or "microcode unknown". */
void ptc_recorded_cpu_microcode(const struct ptc_recorded_cpu *c, char text[PTC_RECORDED_CPU_TEXT]);

/*
 * Print a line for each kind of CPU, with @prefix before each line, if there are several kinds.
 */
void ptc_recorded_cpu_show_kinds(FILE *out, const char *prefix, const struct ptc_recorded_cpu *c);

/* Returns the different microcodes, an array of hex strings. NULL: out of memory. */
json_t *ptc_recorded_cpu_microcode_json(const struct ptc_recorded_cpu *c);

#endif
