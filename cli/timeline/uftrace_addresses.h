/* SPDX-License-Identifier: MIT */
/*
 * Addresses of functions for uftrace. A function has no address of its own: processes map its file
 * at different places. uftrace finds names by address, in a map of files and in one file of symbols
 * for each file. So each file gets a range of addresses. A function has its offset in this range,
 * if the offset fits and no other function has it. Otherwise it gets an address in the upper half.
 */
#ifndef PTC_CLI_TIMELINE_UFTRACE_ADDRESSES_H
#define PTC_CLI_TIMELINE_UFTRACE_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/common/number_index.h"
#include "ptcap/error.h"

/* Initialize with zeros. */
struct ptc_uftrace_addresses {
	struct ptc_uftrace_module *modules; /* owned */
	size_t nmodules, modules_cap;
	uint32_t *of_file; /* owned; by the numbers of files: number of a module, from 1; 0: none */
	size_t nfiles, files_cap;
	uint64_t *addresses; /* owned; by the numbers of functions; 0: none yet */
	size_t n, cap;
	struct ptc_number_index taken; /* numbers of functions, from 1, by their addresses */
};

void ptc_uftrace_addresses_release(struct ptc_uftrace_addresses *a);

/*
 * Replaces blanks, quotes, backslashes, control characters and bytes that are not ASCII with '_':
 * uftrace has no escapes for these in its text files and in JSON.
 */
void ptc_uftrace_clean_word(char *s);

/* Returns the address of @function, 47 bits. 0: out of memory. */
uint64_t ptc_uftrace_address(struct ptc_uftrace_addresses *a, const struct ptc_call_stream *s,
			     uint32_t function);

/* Writes the map "sid-ID.map" and the files of symbols into @folder. */
int ptc_uftrace_write_symbols(struct ptc_uftrace_addresses *a, const struct ptc_call_stream *s,
			      const char *folder, const char *id, struct ptc_err *err);

/*
 * Returns the path in the map of the first file whose last part begins with @name. NULL: none.
 * Valid after ptc_uftrace_write_symbols, until the release.
 */
const char *ptc_uftrace_path(const struct ptc_uftrace_addresses *a, const char *name);

#endif
