/* SPDX-License-Identifier: MIT */
#include "capture/emu/qemu_locate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/host/launch.h"

enum { ANSWER_MS = 10000 };

static const char plugin_name[] = "ptcap-emu.so", qemu_name[] = "qemu-x86_64";

/*
 * Returns @name as a path relative to the folder of @file, if access permits @mode. NULL: not
 * found.
 */
static char *beside(const char *file, const char *name, int mode)
{
	char real[PATH_MAX], *slash, *path, *ret;

	if (!file || !realpath(file, real))
		return NULL;
	slash = strrchr(real, '/');
	*slash = '\0';
	if (asprintf(&path, "%s/%s", real, name) < 0)
		return NULL;
	ret = access(path, mode) ? NULL : realpath(path, NULL);
	free(path);
	return ret;
}

static char *find_plugin(void)
{
	const char *forced = getenv("PTCAP_EMU_PLUGIN");
	Dl_info us;
	char *path;

	if (forced)
		return realpath(forced, NULL);
	path = beside("/proc/self/exe", plugin_name, R_OK);
	if (!path && dladdr(plugin_name, &us)) /* libptcap, if it contains this code */
		path = beside(us.dli_fname, plugin_name, R_OK);
	if (!path)
		path = realpath(PTCAP_PLUGIN_DIR "/ptcap-emu.so", NULL);
	return path;
}

/*
 * Returns the QEMU that scripts/qemu built, for this build tree or for the prefix. In a build tree
 * the plugin is beside the executable. An installed plugin has its own folder.
 */
static char *find_own_qemu(void)
{
	char *plugin = beside("/proc/self/exe", plugin_name, R_OK), *path = NULL;

	if (plugin)
		path = beside(plugin, "../../qemu/qemu-x86_64", X_OK);
	free(plugin);
	if (!path && !access(PTCAP_LIBEXEC_DIR "/qemu-x86_64", X_OK))
		path = strdup(PTCAP_LIBEXEC_DIR "/qemu-x86_64");
	return path;
}

static char *find_qemu(void)
{
	const char *forced = getenv("PTCAP_QEMU");
	struct ptc_err ignored;
	char *path;

	if (forced)
		return ptc_launch_find(forced, &path, &ignored) ? NULL : path;
	path = find_own_qemu();
	if (!path && ptc_launch_find(qemu_name, &path, &ignored))
		return NULL;
	return path;
}

int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err)
{
	char *qemu = find_qemu(), *plugin;

	if (!qemu)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot find %s in '%s' or in PATH; install it, or build it with "
				"scripts/qemu",
				getenv("PTCAP_QEMU") ? getenv("PTCAP_QEMU") : qemu_name,
				PTCAP_LIBEXEC_DIR);
	plugin = find_plugin();
	if (!plugin) {
		free(qemu);
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot find the QEMU plugin %s beside ptcap or in %s; set "
				"PTCAP_EMU_PLUGIN to its path",
				plugin_name, PTCAP_PLUGIN_DIR);
	}
	*ret_qemu = qemu;
	*ret_plugin = plugin;
	return 0;
}

bool ptc_emu_version_turns(const char *version)
{
	const char *p = strncmp(version, "qemu-", 5) ? NULL : strstr(version, " version ");
	long major, minor;
	char *end;

	if (!p)
		return false;
	major = strtol(p + strlen(" version "), &end, 10);
	minor = *end == '.' ? strtol(end + 1, &end, 10) : 0;
	return major > 0 && (major < 8 || (major == 8 && minor == 0));
}

/* Runs `@qemu --version` with its standard output to @fd. Returns its pid; -1: it does not run. */
static pid_t ask_version(const char *qemu, int fd)
{
	char *argv[] = { (char *)(uintptr_t)qemu, (char *)"--version", NULL };
	char *none[] = { NULL }; /* empty: QEMU and the loader would react to our own environment */
	posix_spawn_file_actions_t files;
	pid_t pid = -1;

	if (posix_spawn_file_actions_init(&files))
		return -1;
	if (posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO) ||
	    posix_spawn(&pid, qemu, &files, NULL, argv, none))
		pid = -1;
	(void)posix_spawn_file_actions_destroy(&files);
	return pid;
}

bool ptc_emu_turns_env(const char *qemu)
{
	struct pollfd p = { .events = POLLIN };
	char text[256] = "";
	ssize_t n = 0;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return false;
	pid = ask_version(qemu, fds[1]);
	(void)close(fds[1]);
	p.fd = fds[0];
	if (pid > 0 && poll(&p, 1, ANSWER_MS) == 1)
		n = read(fds[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	(void)close(fds[0]);
	if (pid > 0) {
		if (n <= 0)
			(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return ptc_emu_version_turns(text);
}

void ptc_emu_put_name(struct ptc_buf *b, const char *text)
{
	for (; *text; text++) {
		ptc_buf_put(b, text, 1);
		if (*text == ',')
			ptc_buf_put(b, text, 1);
	}
}

void ptc_emu_plugin_option(struct ptc_buf *b, const char *plugin, int shm_id, const char *how)
{
	char text[64];

	ptc_emu_put_name(b, plugin);
	ptc_buf_put(b, text, (size_t)snprintf(text, sizeof(text), ",shm=%d,how=%s", shm_id, how));
}

int ptc_emu_not_loaded(const char *qemu, const char *plugin, struct ptc_err *err)
{
	return ptc_fail(
		err, PTC_E_UNSUPPORTED,
		"'%s' cannot load the plugin '%s'; build a QEMU with plugins with scripts/qemu",
		qemu, plugin);
}
