/* SPDX-License-Identifier: MIT */
#include "cli/common/process_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal_escape.h"
#include "cli/common/exitcodes.h"

/* In /proc/self/maps the path follows 73 columns. */
enum { LINE = 4096 + 128, PATH_COLUMN = 73 };

/* --- descriptors --- */

/*
 * Open modes are reversed on purpose: reading standard input and writing standard output must fail.
 */
static const int modes[] = {
	[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDWR
};

static void take_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* open() returns the lowest free number, which is @fd. */
		if (open("/dev/null", modes[fd] | O_CLOEXEC) < 0 &&
		    open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
			_exit(PTC_EXIT_FAIL); /* no message is possible */
	}
}

/* --- a mapped file that was truncated --- */

/* For a signal handler: no stdio, no allocation. */
struct line {
	int fd;
	size_t at, n; /* position and end in @buf */
	char buf[LINE], text[LINE];
};

/*
 * Read the next line of /proc/self/maps into @l->text, without its newline. Long lines are cut off.
 */
static bool next_line(struct line *l)
{
	size_t n = 0;

	for (;;) {
		if (l->at == l->n) {
			const ssize_t got = read(l->fd, l->buf, sizeof(l->buf));

			if (got <= 0)
				return false;
			l->at = 0;
			l->n = (size_t)got;
		}
		if (l->buf[l->at] == '\n')
			break;
		if (n + 1 < sizeof(l->text))
			l->text[n++] = l->buf[l->at];
		l->at++;
	}
	l->at++;
	l->text[n] = '\0';
	return true;
}

static uint64_t hex(const char **s)
{
	uint64_t v = 0;

	for (;; (*s)++) {
		if (**s >= '0' && **s <= '9')
			v = v << 4 | (uint64_t)(**s - '0');
		else if (**s >= 'a' && **s <= 'f')
			v = v << 4 | (uint64_t)(**s - 'a' + 10);
		else
			return v;
	}
}

/* Returns the path of the file mapped at @addr, stored in @l, or NULL. */
static const char *find_file(struct line *l, uint64_t addr)
{
	while (next_line(l)) {
		const char *s = l->text;
		const uint64_t begin = hex(&s);
		uint64_t end;

		s += *s == '-';
		end = hex(&s);
		if (addr >= begin && addr < end)
			return strlen(l->text) > PATH_COLUMN && l->text[PATH_COLUMN] == '/' ?
				       l->text + PATH_COLUMN :
				       NULL;
	}
	return NULL;
}

static void write_sigbus_text(const char *s)
{
	if (write(STDERR_FILENO, s, strlen(s)) < 0)
		return; /* no other message is possible */
}

static void on_bus(int sig, siginfo_t *info, void *context)
{
	static atomic_flag reported = ATOMIC_FLAG_INIT;
	struct line l = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	char plain[LINE];
	const char *path;

	(void)context;
	path = l.fd < 0 ? NULL : find_file(&l, (uint64_t)(uintptr_t)info->si_addr);
	/* Not in a mapped file: a bug of ptcap, or a signal that was sent. */
	if (!path || info->si_code <= 0) {
		(void)signal(sig, SIG_DFL);
		(void)raise(sig);
		return;
	}
	/* The first of several reading threads prints the message and ends the process. */
	while (atomic_flag_test_and_set(&reported))
		(void)pause();
	ptc_plain_copy(plain, sizeof(plain), path);
	write_sigbus_text("ptcap: cannot read '");
	write_sigbus_text(plain);
	write_sigbus_text("': the file was truncated while ptcap read it, or its disk failed\n");
	_exit(PTC_EXIT_FAIL);
}

/* --- signals --- */

static void on_limit(int sig)
{
	(void)sig; /* write() then fails with EFBIG */
}

/* A handler is not inherited by commands that are executed, but SIG_IGN would be. */
static void take_signals(void)
{
	struct sigaction limit = { .sa_handler = on_limit, .sa_flags = SA_RESTART }, old;
	struct sigaction bus = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

	if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler != SIG_IGN)
		(void)sigaction(SIGXFSZ, &limit, NULL);
	(void)sigaction(SIGBUS, &bus, NULL);
}

/* --- terminals --- */

/*
 * Return whether the user's terminals use UTF-8, according to the locale. If the locale is not
 * installed, its name decides.
 */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	const char *name = NULL;
	bool utf8;
	size_t i;

	if (locale != (locale_t)0) {
		utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
		freelocale(locale);
		return utf8;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !(name && *name); i++)
		name = getenv(names[i]);
	return name && (strcasestr(name, ".utf-8") || strcasestr(name, ".utf8"));
}

static void take_terminals(void)
{
	const bool out = isatty(STDOUT_FILENO), err = isatty(STDERR_FILENO);

	if ((out || err) && !is_utf8())
		ptc_plain_set_ascii(out, err);
}

void ptc_begin(void)
{
	take_descriptors();
	take_signals();
	take_terminals();
}
