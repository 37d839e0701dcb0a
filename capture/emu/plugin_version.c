/* SPDX-License-Identifier: MIT */
/*
 * Chooses the plugin interface version. After loading the plugin, QEMU reads the version from a
 * variable of the plugin. It refuses versions outside its own range before it calls the plugin. So
 * a constructor sets the variable: the functions that QEMU exports tell which range it accepts.
 */
#include <dlfcn.h>

#include "capture/emu/qemu.h"

/* The oldest interface, for QEMU 4.2 to 8.2, whose newest is 1 (qemu-plugin.h). */
int qemu_plugin_version = 1;

/*
 * QEMU 9.0 to 11.0 accept 2 as the oldest version (QEMU_PLUGIN_MIN_VERSION in plugins/plugin.h).
 * The functions used here have the same form in 1 to 6. A higher number would be a guess: QEMU 10.2
 * has the functions of interface 6, but accepts at most 5.
 */
static __attribute__((constructor)) void choose_interface(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu"))
		qemu_plugin_version = 2;
}
