/* SPDX-License-Identifier: MIT */
/*
 * Which of QEMU's plugin interface versions the plugin supports. This program replaces QEMU: it has
 * QEMU's functions, and loads the plugin as plugins/loader.c of QEMU does. It is built twice, with
 * the functions of QEMU 8 and of QEMU 10.2.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/emu/command_check.h"
#include "capture/emu/qemu.h"
#include "plain.h"
#include "ptcap/capture.h"

enum { MAX_OPTIONS = 8 };

typedef int install_fn(uint64_t id, const struct ptc_qemu_info *info, int argc, char **argv);

/* Acts as a QEMU with the interfaces @oldest to @newest, started with -plugin @line. */
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

/* ptcap starts QEMU with an empty environment, so the version range is in the program's name. */
static void expect(const char *range, bool fits)
{
	char program[] = "/bin/true", *argv[] = { program, NULL };
	struct ptc_record_opts o = PTC_RECORD_OPTS_INIT;
	char folder[] = "/tmp/ptcap-interface-XXXXXX", *self, *qemu;
	struct ptc_err err;
	int rc;

	o.target.argv = argv;
	o.source.kind = PTC_SOURCE_EMU;
	self = realpath("/proc/self/exe", NULL);
	CHECK(self && mkdtemp(folder) && asprintf(&qemu, "%s/qemu %s", folder, range) > 0,
	      "no folder");
	CHECK(!symlink(self, qemu), "cannot make '%s'", qemu);
	setenv("PTCAP_QEMU", qemu, 1);
	rc = ptc_emu_fits(&o, &err);
	(void)unlink(qemu);
	(void)rmdir(folder);
	free(qemu);
	free(self);
	CHECK(fits == !rc, "interfaces %s: %s", range, rc ? err.msg : "loaded");
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-plugin")) {
		const char *range = strchr(argv[0], ' ');
		char *end;
		long oldest;

		CHECK(range, "'%s' has no range", argv[0]);
		oldest = strtol(range, &end, 10);
		return be_qemu(argv[2], (int)oldest, (int)strtol(end, NULL, 10));
	}
#ifdef QEMU_10
	expect("2 4", true); /* QEMU 10.0 */
	expect("2 5", true); /* QEMU 10.1 and 10.2 */
	expect("2 6", true); /* QEMU 11.0 */
	expect("2 7", false);
	expect("7 7", false);
#else
	expect("0 1", true);
	expect("1 1", true);
#endif
	return 0;
}
