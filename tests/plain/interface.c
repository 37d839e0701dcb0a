/* SPDX-License-Identifier: MIT */
/*
 * Which of QEMU's plugin interfaces the plugin speaks. This program takes QEMU's place: it has
 * QEMU's functions, and loads the plugin as plugins/loader.c of QEMU does. It is built twice, with
 * the functions of QEMU 8 and of QEMU 10.2.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/emu/fits.h"
#include "capture/emu/qemu.h"
#include "plain.h"
#include "ptcap/capture.h"

enum { MAX_OPTIONS = 8 };

/* A function of QEMU that the plugin refers to, and never calls here. */
#define QEMU_HAS(name)                                                                             \
	__attribute__((visibility("default"))) void qemu_plugin_##name(void);                      \
	void qemu_plugin_##name(void)                                                              \
	{                                                                                          \
	}

#ifdef QEMU_10
QEMU_HAS(register_vcpu_tb_exec_inline_per_vcpu) /* of interface 2 */
QEMU_HAS(register_vcpu_discon_cb)		/* of interface 6, and in QEMU 10.2 */
#endif

typedef int install_fn(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv);

/* QEMU whose interfaces are @oldest to @newest, with -plugin @line. */
static int be_qemu(char *line, int oldest, int newest)
{
	struct ptc_qemu_info info = { .target_name = "x86_64", .version = { oldest, newest } };
	char *argv[MAX_OPTIONS], *path = strsep(&line, ","), *option;
	void *plugin = dlopen(path, RTLD_LAZY);
	install_fn *install;
	const int *version;
	int argc = 0;

	CHECK(plugin, "%s", dlerror());
	version = dlsym(plugin, "qemu_plugin_version");
	*(void **)&install = dlsym(plugin, "qemu_plugin_install");
	CHECK(version && install, "not QEMU's names");
	while ((option = strsep(&line, ",")) && argc < MAX_OPTIONS)
		argv[argc++] = option;
	if (*version < oldest || *version > newest)
		return 1;
	return install(1, &info, argc, argv) ? 1 : 0;
}

static void expect(const char *range, bool fits)
{
	char program[] = "/bin/true", *argv[] = { program, NULL };
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	struct ptc_err err;
	int rc;

	o.argv = argv;
	o.source = PTC_SOURCE_EMU;
	setenv("QEMU_RANGE", range, 1);
	rc = ptc_emu_fits(&o, &err);
	CHECK(fits == !rc, "interfaces %s: %s", range, rc ? err.msg : "loaded");
}

int main(int argc, char **argv)
{
	const char *range = getenv("QEMU_RANGE");

	if (argc > 2 && range && !strcmp(argv[1], "-plugin")) {
		char *end;
		const int oldest = (int)strtol(range, &end, 10);

		return be_qemu(argv[2], oldest, (int)strtol(end, NULL, 10));
	}
	setenv("PTCAP_QEMU", argv[0], 1);
#ifdef QEMU_10
	expect("2 4", true); /* 10.0 */
	expect("2 5", true); /* 10.1 and 10.2 */
	expect("2 6", true); /* 11.0 */
	expect("2 7", false);
	expect("7 7", false);
#else
	expect("0 1", true);
	expect("1 1", true);
#endif
	return 0;
}
