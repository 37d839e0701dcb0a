/* SPDX-License-Identifier: MIT */
/* A folder that looks like sysfs with one PMU, in the form of the kernel's intel_pt driver. */
#ifndef PTC_TEST_LIB_SYSFS_H
#define PTC_TEST_LIB_SYSFS_H

#include <stddef.h>

/* Makes @root ("/tmp/..."), with a PMU @pmu of type 8 that has the features of a Skylake. */
void sysfs_make(char *root, size_t size, const char *pmu);
/* Replaces the content of a file ("caps/mtc") in the folder. */
void sysfs_set(const char *root, const char *pmu, const char *file, const char *text);
void sysfs_remove(const char *root);

#endif
