/* SPDX-License-Identifier: MIT */
#include "capture/emu/program.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/untrusted.h"

enum {
	HEAD = 256,    /* BINPRM_BUF_SIZE: the bytes that the kernel reads */
	NESTED = 5,    /* limit of nested interpreters: exec_binprm */
	QEMU_ARGS = 7, /* arguments before the program's own */
};

static size_t count_arguments(char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

/*
 * Reads the first bytes of an executable file; @head is NUL-terminated. Returns false if the file
 * may not be executed.
 */
static bool read_head(const char *path, char head[HEAD + 1], size_t *ret_len)
{
	const struct ptc_untrusted how = { .root = 0 };
	struct ptc_err ignored;
	struct stat st;
	ssize_t n;
	int fd;

	if (access(path, X_OK))
		return false;
	fd = ptc_untrusted_open(path, &how, &st, &ignored);
	if (fd < 0)
		return false;
	n = read(fd, head, HEAD);
	(void)close(fd);
	if (n < 0)
		return false;
	head[n] = '\0';
	*ret_len = (size_t)n;
	return true;
}

static enum ptc_emu_verdict elf_verdict(const char *head, size_t len)
{
	Elf64_Ehdr e;

	if (len < sizeof(e))
		return PTC_EMU_NO_FORMAT;
	memcpy(&e, head, sizeof(e));
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64)
		return PTC_EMU_FOREIGN;
	return e.e_type == ET_EXEC || e.e_type == ET_DYN ? PTC_EMU_RUNS : PTC_EMU_FAILS;
}

/*
 * Splits "#! interpreter argument" in @line; *ret_arg NULL: no argument. Returns false without an
 * interpreter.
 */
static bool split_line(char *line, char **ret_interp, char **ret_arg)
{
	char *end = line + strcspn(line, "\n");
	char *p = line + strspn(line, " \t");

	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	if (!*p)
		return false;
	*ret_interp = p;
	p += strcspn(p, " \t");
	*ret_arg = NULL;
	if (*p) {
		*p++ = '\0';
		*ret_arg = p + strspn(p, " \t");
	}
	return true;
}

/* Changes argv to: interpreter, its argument, the script, the arguments after argv[0]. */
static bool put_interpreter(struct ptc_emu_program *p, char *interp, char *arg)
{
	const size_t n = count_arguments(p->argv);
	const size_t front = arg ? 3 : 2;
	char **argv = calloc(n + front + 1, sizeof(*argv));

	if (!argv)
		return false;
	argv[0] = interp;
	if (arg)
		argv[1] = arg;
	argv[front - 1] = p->path;
	if (n)
		memcpy(argv + front, p->argv + 1, (n - 1) * sizeof(*argv));
	free(p->argv);
	p->argv = argv;
	return true;
}

/* Handles one "#!" line. The strings of all lines stay in p->text. */
static enum ptc_emu_verdict interpret(struct ptc_emu_program *p, char **text, const char *head)
{
	char *line = *text, *interp, *arg;

	memcpy(line, head + 2, HEAD - 1);
	*text += HEAD + 1;
	if (!split_line(line, &interp, &arg))
		return PTC_EMU_FAILS;
	if (!put_interpreter(p, interp, arg))
		return PTC_EMU_NO_MEMORY;
	p->path = interp;
	return PTC_EMU_RUNS;
}

static enum ptc_emu_verdict follow_interpreters(struct ptc_emu_program *p, char *text)
{
	enum ptc_emu_verdict v = PTC_EMU_RUNS;
	char head[HEAD + 1] = "";
	size_t len;
	int i;

	for (i = 0; v == PTC_EMU_RUNS && i <= NESTED; i++) {
		if (!read_head(p->path, head, &len))
			return PTC_EMU_FAILS;
		if (len >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
			return elf_verdict(head, len);
		if (len < 2 || head[0] != '#' || head[1] != '!')
			return PTC_EMU_NO_FORMAT;
		v = interpret(p, &text, head);
	}
	return v == PTC_EMU_RUNS ? PTC_EMU_FAILS : v;
}

enum ptc_emu_verdict ptc_emu_program_find(const char *path, char *const *argv,
					  struct ptc_emu_program *ret)
{
	const size_t len = strlen(path) + 1, n = count_arguments(argv);
	struct ptc_emu_program p = { NULL, NULL, NULL };
	enum ptc_emu_verdict v;

	p.text = malloc(len + (size_t)(NESTED + 1) * (HEAD + 1));
	p.argv = calloc(n + 1, sizeof(*p.argv));
	if (!p.text || !p.argv) {
		ptc_emu_program_release(&p);
		return PTC_EMU_NO_MEMORY;
	}
	memcpy(p.text, path, len);
	p.path = p.text;
	if (n)
		memcpy(p.argv, argv, n * sizeof(*p.argv));
	v = follow_interpreters(&p, p.text + len);
	if (v == PTC_EMU_RUNS)
		*ret = p;
	else
		ptc_emu_program_release(&p);
	return v;
}

void ptc_emu_program_release(struct ptc_emu_program *p)
{
	free(p->argv);
	free(p->text);
	*p = (struct ptc_emu_program){ NULL, NULL, NULL };
}

bool ptc_emu_program_has_rights(const struct ptc_emu_program *p)
{
	struct statvfs fs;
	struct stat st;

	if (stat(p->path, &st) || statvfs(p->path, &fs) || fs.f_flag & ST_NOSUID ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	return (st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
	       (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid()) ||
	       (geteuid() && getxattr(p->path, "security.capability", NULL, 0) > 0);
}

char **ptc_emu_program_line(const struct ptc_emu_program *p, const char *qemu, const char *plugin)
{
	const size_t n = count_arguments(p->argv);
	char **line = calloc(n + QEMU_ARGS + 2, sizeof(*line));
	size_t i = 0;

	if (!line)
		return NULL;
	line[i++] = (char *)qemu;
	line[i++] = (char *)"-cpu";
	line[i++] = (char *)"max";
	line[i++] = (char *)"-plugin";
	line[i++] = (char *)plugin;
	line[i++] = (char *)"-0";
	line[i++] = n ? p->argv[0] : (char *)"";
	line[i++] = p->path;
	if (n)
		memcpy(line + i, p->argv + 1, (n - 1) * sizeof(*line));
	return line;
}
