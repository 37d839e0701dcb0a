/* SPDX-License-Identifier: MIT */
/* Finds a recorded file in the bundle of the recording. */
#ifndef PTC_DECODE_ELF_BUNDLE_SEARCH_H
#define PTC_DECODE_ELF_BUNDLE_SEARCH_H

#include <stdbool.h>

#include "auxtrace/bundle/manifest.h"
#include "decode/elf/file_search.h"

/*
 * Takes the member of @kind with @id, or with the path @name if @id has len 0. @f is empty on
 * entry. f->path becomes @name: there is no such path on this machine. Code must really have @id.
 * Returns false if the recording is in no bundle, or the bundle has no such member.
 */
bool ptc_search_bundle(const struct ptc_search *s, struct ptc_found *f, enum ptc_member_kind kind,
		       const char *name, const struct ptc_build_id *id);

#endif
