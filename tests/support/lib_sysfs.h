/* SPDX-License-Identifier: MIT */
/* A folder that looks like sysfs with one PMU in it, as the kernel's intel_pt driver shows itself.
 */
#ifndef PTC_TEST_LIB_SYSFS_H
#define PTC_TEST_LIB_SYSFS_H

#include <stddef.h>

/* Make @root ("/tmp/..."), with a PMU @pmu of type 8 that can do what a Skylake can. */
void sysfs_make(char *root, size_t size, const char *pmu);
/* What a file of it ("caps/mtc") says instead. */
void sysfs_set(const char *root, const char *pmu, const char *file, const char *text);
void sysfs_remove(const char *root);

#endif
