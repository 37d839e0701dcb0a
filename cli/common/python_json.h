/* SPDX-License-Identifier: MIT */
/* Prints the Python functions of a thread as JSON: python_frames in doc/json.md. */
#ifndef PTC_CLI_COMMON_PYTHON_JSON_H
#define PTC_CLI_COMMON_PYTHON_JSON_H

#include <stddef.h>

#include "ptcap/python_frames.h"

struct ptc_emit;

/* Prints at most @max functions, and python_cut if there are more than were saved. */
void ptc_python_json(struct ptc_emit *e, const struct ptc_python_frames *f, size_t max);

#endif
