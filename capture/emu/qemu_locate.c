/* SPDX-License-Identifier: MIT */
#include "capture/emu/qemu_locate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/find_program.h"
#include "capture/host/own_file.h"

enum { ANSWER_MS = 10000 };

#define PLUGIN "ptcap-emu.so"
#define QEMU   "qemu-x86_64"

/* The places in the prefix, relative to the executable [0] and to the library [1]. */
static const char *const plugin_from[] = { PTCAP_PLUGIN_FROM_BIN "/" PLUGIN,
					   PTCAP_PLUGIN_FROM_LIB "/" PLUGIN };
static const char *const qemu_from[] = { PTCAP_LIBEXEC_FROM_BIN "/" QEMU,
					 PTCAP_LIBEXEC_FROM_LIB "/" QEMU };

/*
 * Tries the places @names of a file of ptcap, in order; NULL names are left out. Returns
 * PTC_E_NOT_EXIST if there is none, or PTC_E_PERM with the first refused file in @err.
 */
static int find_own(const struct ptc_own_module *m, const char *const *names, size_t n, int mode,
		    char **ret, struct ptc_err *err)
{
	struct ptc_err other;
	int rc = PTC_E_NOT_EXIST;
	size_t i;

	for (i = 0; i < n; i++) {
		const int each = names[i] ? ptc_own_file_find(m, names[i], mode, ret, &other) :
					    PTC_E_NOT_EXIST;

		if (!each)
			return 0;
		if (each != PTC_E_NOT_EXIST && rc == PTC_E_NOT_EXIST) {
			rc = each;
			*err = other;
		}
	}
	return rc;
}

static int find_forced_plugin(const char *name, char **ret, struct ptc_err *err)
{
	struct stat st;

	*ret = realpath(name, NULL);
	if (!*ret)
		return ptc_fail(err, PTC_E_UNSUPPORTED, "cannot find '%s' (PTCAP_EMU_PLUGIN)",
				name);
	if (!stat(*ret, &st) && S_ISREG(st.st_mode) && !access(*ret, R_OK))
		return 0;
	free(*ret);
	return ptc_fail(err, PTC_E_UNSUPPORTED, "'%s' (PTCAP_EMU_PLUGIN) is no readable file",
			name);
}

static int find_plugin(const struct ptc_own_module *m, char **ret, struct ptc_err *err)
{
	const char *const names[] = {
		PLUGIN,
		plugin_from[m->is_library],
		PTCAP_PLUGIN_DIR "/" PLUGIN,
	};
	const char *forced = secure_getenv("PTCAP_EMU_PLUGIN");
	struct ptc_err why;
	int rc;

	if (forced)
		return find_forced_plugin(forced, ret, err);
	rc = find_own(m, names, sizeof(names) / sizeof(names[0]), R_OK, ret, &why);
	if (rc == PTC_E_NOT_EXIST)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot find the QEMU plugin %s beside ptcap or in %s; set "
				"PTCAP_EMU_PLUGIN to its path",
				PLUGIN, PTCAP_PLUGIN_DIR);
	if (rc)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"the QEMU plugin is refused: %s; set PTCAP_EMU_PLUGIN to its path",
				why.msg);
	return 0;
}

/*
 * Finds the QEMU that scripts/qemu built, for this build tree or for the prefix. In a build tree
 * the plugin is beside the executable. An installed plugin has its own folder.
 */
static int find_own_qemu(const struct ptc_own_module *m, char **ret, struct ptc_err *err)
{
	char *beside = NULL;
	const bool in_build = !ptc_own_file_find(m, PLUGIN, R_OK, &beside, err);
	const char *const names[] = {
		in_build ? "../../qemu/" QEMU : NULL,
		qemu_from[m->is_library],
		PTCAP_LIBEXEC_DIR "/" QEMU,
	};

	free(beside);
	return find_own(m, names, sizeof(names) / sizeof(names[0]), X_OK, ret, err);
}

/* Finds QEMU: @forced by the user, else an own one, else one in PATH. NULL: none. */
static char *find_qemu(const struct ptc_own_module *m, const char *forced)
{
	struct ptc_err ignored;
	char *path;

	if (!forced && !find_own_qemu(m, &path, &ignored))
		return path;
	return ptc_find_program(forced ? forced : QEMU, &path, &ignored) ? NULL : path;
}

bool ptc_emu_has_qemu(void)
{
	struct ptc_own_module m;
	char *qemu;

	ptc_own_module_find(&m);
	qemu = find_qemu(&m, secure_getenv("PTCAP_QEMU"));
	free(qemu);
	return qemu != NULL;
}

int ptc_emu_find(char **ret_qemu, char **ret_plugin, struct ptc_err *err)
{
	const char *forced = secure_getenv("PTCAP_QEMU");
	struct ptc_own_module m;
	char *qemu;
	int rc;

	ptc_own_module_find(&m);
	qemu = find_qemu(&m, forced);
	if (!qemu && forced)
		return ptc_fail(err, PTC_E_UNSUPPORTED, "cannot find the program '%s' (PTCAP_QEMU)",
				forced);
	if (!qemu)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot find %s in '%s' or in PATH; install it, or build it with "
				"scripts/qemu",
				QEMU, PTCAP_LIBEXEC_DIR);
	rc = find_plugin(&m, ret_plugin, err);
	if (rc)
		free(qemu);
	else
		*ret_qemu = qemu;
	return rc;
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
