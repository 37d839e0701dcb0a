/* SPDX-License-Identifier: MIT */
#include "capture/emu/find.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/launch.h"

static const char name[] = "ptcap-emu.so";

/* The plugin in the folder of @file; NULL. */
static char *beside(const char *file)
{
	char real[PATH_MAX], *slash, *path;

	if (!file || !realpath(file, real))
		return NULL;
	slash = strrchr(real, '/');
	*slash = '\0';
	if (asprintf(&path, "%s/%s", real, name) < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

static char *find_plugin(void)
{
	const char *forced = getenv("PTCAP_EMU_PLUGIN");
	Dl_info us;
	char *path;

	if (forced)
		return realpath(forced, NULL);
	path = beside("/proc/self/exe");
	if (!path && dladdr(name, &us)) /* libptcap, if that is where we are */
		path = beside(us.dli_fname);
	if (!path)
		path = realpath(PTCAP_PLUGIN_DIR "/ptcap-emu.so", NULL);
	return path;
}

int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err)
{
	struct ptc_err ignored;
	char *qemu, *plugin;

	if (ptc_launch_find("qemu-x86_64", &qemu, &ignored))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"qemu-x86_64 is not in PATH (Debian: apt-get install qemu-user)");
	plugin = find_plugin();
	if (!plugin) {
		free(qemu);
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"%s, the plugin for QEMU, is neither beside ptcap nor in %s "
				"(PTCAP_EMU_PLUGIN says where else)",
				name, PTCAP_PLUGIN_DIR);
	}
	*ret_qemu = qemu;
	*ret_plugin = plugin;
	return 0;
}

/* A comma in the name is written twice. */
void ptc_emu_plugin_option(struct ptc_buf *b, const char *plugin, int shm_id, const char *how)
{
	const char *p;
	char text[64];

	for (p = plugin; *p; p++) {
		ptc_buf_put(b, p, 1);
		if (*p == ',')
			ptc_buf_put(b, p, 1);
	}
	ptc_buf_put(b, text, (size_t)snprintf(text, sizeof(text), ",shm=%d,how=%s", shm_id, how));
}

int ptc_emu_not_loaded(const char *qemu, const char *plugin, struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_UNSUPPORTED,
			"'%s' did not load '%s': a QEMU with plugins, of version 7 or 8, is needed",
			qemu, plugin);
}
