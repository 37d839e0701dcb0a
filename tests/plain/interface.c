/* SPDX-License-Identifier: MIT */
/*
 * Which of QEMU's plugin interfaces the plugin speaks. This program takes QEMU's place: it has
 * QEMU's functions, and loads the plugin as plugins/loader.c of QEMU does. It is built twice, with
 * the functions of QEMU 8 and of QEMU 10.2.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Asks the plugin of a QEMU of that range. Its probe has no environment: its name has the range. */
static void expect(const char *self, int oldest, int newest, bool fits)
{
	char program[] = "/bin/true", *argv[] = { program, NULL };
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	struct ptc_err err;
	char name[PATH_MAX];
	int rc;

	(void)snprintf(name, sizeof(name), "%s-%d-%d", self, oldest, newest);
	(void)unlink(name);
	CHECK(!symlink(self, name), "%s", name);
	setenv("PTCAP_QEMU", name, 1);
	o.argv = argv;
	o.source = PTC_SOURCE_EMU;
	rc = ptc_emu_fits(&o, &err);
	(void)unlink(name);
	CHECK(fits == !rc, "interfaces %d to %d: %s", oldest, newest, rc ? err.msg : "loaded");
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-plugin")) {
		const char *range = strrchr(argv[0], '/');
		char *end = NULL;
		long oldest;

		range = range ? strchr(range, '-') : NULL;
		CHECK(range, "%s: no range", argv[0]);
		oldest = strtol(range + 1, &end, 10);
		return be_qemu(argv[2], (int)oldest, (int)strtol(end + 1, NULL, 10));
	}
#ifdef QEMU_10
	expect(argv[0], 2, 4, true); /* 10.0 */
	expect(argv[0], 2, 5, true); /* 10.1 and 10.2 */
	expect(argv[0], 2, 6, true); /* 11.0 */
	expect(argv[0], 2, 7, false);
	expect(argv[0], 7, 7, false);
#else
	expect(argv[0], 0, 1, true);
	expect(argv[0], 1, 1, true);
#endif
	return 0;
}
