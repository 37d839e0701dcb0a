/* SPDX-License-Identifier: MIT */
/*
 * Which plugin interface the plugin speaks. QEMU looks it up in a variable of the plugin once it
 * has loaded the plugin, and refuses numbers outside its own range, before it calls the plugin. So
 * a constructor sets the variable: the functions that QEMU has say which range is its own.
 */
#include <dlfcn.h>

#include "capture/emu/qemu.h"

/* The oldest interface of QEMU 4.2 to 8.2, whose newest is 1 (qemu-plugin.h). */
int qemu_plugin_version = 1;

/*
 * QEMU 9.0 to 11.0 accept 2 as the oldest one (QEMU_PLUGIN_MIN_VERSION in plugins/plugin.h). What
 * the plugin uses has the same form in 1 to 6. A newer number would be a guess: QEMU 10.2 has the
 * functions of interface 6, and accepts 5 at most.
 */
static __attribute__((constructor)) void choose_interface(void)
{
	if (dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu"))
		qemu_plugin_version = 2;
}
