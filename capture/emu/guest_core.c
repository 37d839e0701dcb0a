/* SPDX-License-Identifier: MIT */
/*
 * The guest's core file. QEMU writes it to qemu_NAME_DATE_PID.core in the current folder. This file
 * gives it the name from kernel.core_pattern, where the kernel would write the program's core. A
 * program that the pattern names gets no core, because only the kernel may start it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "capture/emu/import_hook.h"
#include "capture/emu/plugin.h"

enum { PATTERN_MAX = 130 }; /* CORENAME_MAX_SIZE, and a newline */

static int (*real_open)(const char *path, int flags, ...);
/* The name of a core that must change when the signal is known; "": none. */
static char unsigned_core[PATH_MAX];

struct name {
	char text[PATH_MAX];
	size_t len;
};

static void append_char(struct name *n, char c)
{
	if (n->len + 1 < sizeof(n->text))
		n->text[n->len++] = c;
}

/* Appends @text. As in the kernel, no value can name another folder. */
static void append_value(struct name *n, const char *text)
{
	for (; *text; text++)
		append_char(n, *text == '/' ? '!' : *text);
}

static void append_number(struct name *n, long long number)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", number);
	append_value(n, text);
}

/* Reads the first line of a small file of /proc. */
static void read_line(const char *path, char *out, size_t size)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_err ignored;
	size_t n = 0;

	if (!ptc_read_file(path, LINE_MAX, &text, &ignored))
		n = text.len < size ? text.len : size - 1;
	if (n)
		memcpy(out, text.bytes, n);
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	ptc_buf_release(&text);
}

/* Appends the value of "%@what" (core(5)). @sig: the signal; 0: not known yet. */
static void append_specifier(struct name *n, char what, int sig)
{
	struct utsname host;
	char comm[32];

	switch (what) {
	case '%':
		append_char(n, '%');
		break;
	case 'p':
	case 'P':
		append_number(n, ptc_emu_proc.pid);
		break;
	case 'i':
	case 'I':
		append_number(n, syscall(SYS_gettid));
		break;
	case 'u':
		append_number(n, getuid());
		break;
	case 'g':
		append_number(n, getgid());
		break;
	case 'd':
		append_number(n, prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
		break;
	case 's':
		append_number(n, sig);
		break;
	case 't':
		append_number(n, time(NULL));
		break;
	case 'h':
		append_value(n, uname(&host) ? "" : host.nodename);
		break;
	case 'e':
		read_line("/proc/thread-self/comm", comm, sizeof(comm));
		append_value(n, comm);
		break;
	case 'f':
		append_value(n, strrchr(ptc_emu_proc.exe, '/') ?
					strrchr(ptc_emu_proc.exe, '/') + 1 :
					"");
		break;
	case 'E':
		append_value(n, ptc_emu_proc.exe);
		break;
	default:
		break;
	}
}

/* Returns true if the kernel gives the core to a program, or to a socket, instead of a file. */
static bool names_program(const char *pattern)
{
	return *pattern == '|' || *pattern == '@';
}

static void read_pattern(char out[PATTERN_MAX])
{
	read_line("/proc/sys/kernel/core_pattern", out, PATTERN_MAX);
}

/* Writes the core's name. Returns false if no file is to be written. */
static bool core_name(struct name *ret, int sig, bool *ret_has_signal)
{
	char pattern[PATTERN_MAX], with_pid[4];
	bool has_pid = false;
	const char *p;

	ret->len = 0;
	*ret_has_signal = false;
	read_pattern(pattern);
	if (!*pattern || names_program(pattern))
		return false;
	for (p = pattern; *p; p++) {
		if (*p != '%' || !p[1]) {
			append_char(ret, *p);
			continue;
		}
		p++;
		has_pid |= *p == 'p';
		*ret_has_signal |= *p == 's';
		append_specifier(ret, *p, sig);
	}
	read_line("/proc/sys/kernel/core_uses_pid", with_pid, sizeof(with_pid));
	if (!has_pid && *with_pid == '1') {
		append_char(ret, '.');
		append_number(ret, ptc_emu_proc.pid);
	}
	ret->text[ret->len] = '\0';
	return true;
}

static bool is_dumpable(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

/* Opens the guest's core as the kernel would. */
static int open_core(void)
{
	struct name name;
	bool has_signal;

	if (!is_dumpable() || !core_name(&name, 0, &has_signal)) {
		errno = ENOENT;
		return -1;
	}
	(void)unlink(name.text);
	if (has_signal)
		memcpy(unsigned_core, name.text, name.len + 1);
	return real_open(name.text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 S_IRUSR | S_IWUSR);
}

void ptc_emu_name_core(int sig)
{
	char pattern[PATTERN_MAX];
	struct name name;
	bool has_signal;

	read_pattern(pattern); /* RLIMIT_CORE does not matter for a program */
	if (ptc_emu_dumps_core(sig) && is_dumpable() && names_program(pattern))
		(void)atomic_fetch_add(&ptc_emu_proc.sh->undumped, 1);
	if (*unsigned_core && core_name(&name, sig, &has_signal))
		(void)rename(unsigned_core, name.text);
	*unsigned_core = '\0';
}

static bool is_qemus_core(const char *path)
{
	static const char begin[] = "qemu_", end[] = ".core";
	const size_t len = strlen(path);

	return len >= sizeof(begin) + sizeof(end) - 2 && !strncmp(path, begin, sizeof(begin) - 1) &&
	       !strcmp(path + len - (sizeof(end) - 1), end);
}

/* A program's own open(2) is a system call of QEMU, and not a call of this function. */
static int our_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = va_arg(args, mode_t);
	va_end(args);
	if (flags & O_CREAT && is_qemus_core(path))
		return open_core();
	return real_open(path, flags, mode);
}

void ptc_emu_watch_core(void)
{
	void *found;

	real_open = open;
	(void)ptc_emu_hook("open64", (void *)(uintptr_t)our_open, &found);
}
