/* SPDX-License-Identifier: MIT */
/*
 * Which plugin interface we speak. QEMU looks it up in a variable of ours once it has loaded us,
 * and refuses numbers outside a range of its own, before it asks us anything. So a constructor sets
 * the variable: the functions that QEMU has say which interfaces it knows.
 */
#include <dlfcn.h>

#include "capture/emu/qemu.h"

/*
 * Newest first: a function that came with each interface. What we use of QEMU has the same form in
 * all of them. QEMU accepts older ones for a time, so the newest that both know is the best.
 */
static const struct {
	int version;
	const char *function;
} interfaces[] = {
	{ 6, "qemu_plugin_register_vcpu_discon_cb" },		    /* QEMU 10.2 */
	{ 5, "qemu_plugin_write_register" },			    /* 10.1 */
	{ 4, "qemu_plugin_read_memory_vaddr" },			    /* 9.2 */
	{ 3, "qemu_plugin_register_vcpu_tb_exec_cond_cb" },	    /* 9.1 */
	{ 2, "qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu" }, /* 9.0 */
};

/* 1: QEMU 4.2 to 8.2 */
int qemu_plugin_version = 1;

static __attribute__((constructor)) void choose_interface(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++)
		if (dlsym(RTLD_DEFAULT, interfaces[i].function)) {
			qemu_plugin_version = interfaces[i].version;
			return;
		}
}
