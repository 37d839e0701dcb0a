/* SPDX-License-Identifier: MIT */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <sanitizer/allocator_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "ptcap/memory.h"

/* In bytes; libFuzzer allows 2 GiB. */
#define ENOUGH ((uint64_t)1 << 30)

enum { ARGS_MAX = 40, ARG_MAX_LEN = 192, OPTIONS_MAX = 24 };

/* The folder of this process, on tmpfs if available. */
static char home[64];

/* Paths within the folder. */
static const char *const paths[AR_KINDS] = {
	[AR_RECORDING] = "perf.data",
	[AR_FOLDER] = "folder/data",
	[AR_FOLDER_CPU] = "folder/data.0",
	[AR_FOLDER_SYMS] = "folder/kcore_dir/kallsyms",
	[AR_PT] = "pt",
	[AR_PROGRAM] = "root/bin/a",
	[AR_CACHED] = "cache/.build-id/07/11111111111111111111111111111111111111/elf",
	[AR_DEBUG] = "root/usr/lib/debug/.build-id/07/11111111111111111111111111111111111111.debug",
	[AR_JITDUMP] = "root/tmp/jit-7.dump",
	[AR_MAP] = "root/tmp/perf-7.map",
	[AR_CORE] = "core",
	[AR_KCORE] = "kcore/kcore",
	[AR_KALLSYMS] = "kcore/kallsyms",
	[AR_VMLINUX] = "vmlinux",
	[AR_MODULE] = "root/lib/modules/1/kernel/mod.ko",
	[AR_DEP] = "root/lib/modules/1/modules.dep",
};

/* Words of a command line, one from each group; '@' stands for the folder. NULL or "": no word. */
struct group {
	const char *options[OPTIONS_MAX];
};

static const struct command {
	const char *name;
	int (*fn)(int argc, char **argv);
	const char *always[4];
	struct group groups[AR_CHOICES - 1];
} commands[] = {
	{ "decode",
	  ptc_cmd_decode,
	  { NULL },
	  { { { "-i@/perf.data --symfs=@/root", "-i@/folder --symfs=@/root", "-i- --symfs=@/root",
		"-i@/perf.data", "--pt=@/pt --raw=@/root/bin/a@0x1000:0x1000" } },
	    { { "",
		"--calls",
		"--insn",
		"--stats",
		"--counts=edges",
		"--counts=calls",
		"--counts=blocks",
		"--counts=lines",
		"--counts=coverage:3",
		"--format=bin",
		"-Fpid,tid,cpu,time,from,to,kind,sym,tosym,srcline",
		"-Finsn-ip,disasm",
		"-Finsn",
		"--calls --fold --min=2",
		"--calls --depth=2",
		"--format=callgrind",
		"--format=folded --depth=2",
		"--format=folded --axis=time",
		"--format=pprof",
		"--format=arrow",
		"--format=arrow --tables=calls --inline" } },
	    { { "", "--format=json", "--events" } },
	    { { "-j1", "-j1", "-j1", "-j1", "-j2", "-j2:64", "-j3:16" } },
	    { { "", "", "--engine=libipt", "--engine=verify" } },
	    { { "", "", "", "--time=0,0.000001", "--time=10%-60%", "--shard=2/3", "--last=3",
		"--sym=code_start", "--tid=7", "--cpu=0" } },
	    { { "", "--core=@/core", "--kcore=@/kcore", "--kcore=@/kcore/kcore",
		"--vmlinux=@/vmlinux" } },
	    { { "", "--resync=psb", "--resync=packet" } },
	    { { "", "--no-demangle", "--color=always", "--strict", "--inline" } } } },
	{ "info",
	  ptc_cmd_info,
	  { NULL },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } }, { { "", "--format=json" } } } },
	{ "dump",
	  ptc_cmd_dump,
	  { NULL },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--format=json" } },
	    { { "", "--verify", "--stored" } },
	    { { "", "", "", "--tid=7", "--cpu=0", "--time=0,0.000001", "--type=MMAP2,AUX" } } } },
	{ "convert",
	  ptc_cmd_convert,
	  { "-o@/out" },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--pipe" } },
	    { { "", "--compress", "--compress=3", "--decompress" } },
	    { { "", "--strip-aux", "--redact" } },
	    { { "", "", "--cpu=0,1", "--tid=7", "--time=0,0.0000005", "--branch-stacks=4,3",
		"--branch-stacks=32,7 --branch-filter=call_stack",
		"--branch-stacks=8,1 --branch-filter=cond,any_ret,save_type",
		"--callchains=3" } } } },
	{ "recover", ptc_cmd_recover, { "-o@/out" }, { { { "-i@/perf.data", "-i-" } } } },
	{ "compare",
	  ptc_cmd_compare,
	  { NULL },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--format=json" } },
	    { { "", "--list" } },
	    { { "", "--slack=1us", "--samples=1,2", "--max-wrong=1 --min-judged=50" } } } },
	{ "crash show",
	  ptc_cmd_crash_show,
	  { "--symfs=@/root" },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--format=json" } },
	    { { "", "--core=@/core" } },
	    { { "", "-n3", "-p7", "--no-demangle" } } } },
	{ "crash core",
	  ptc_cmd_crash_core,
	  { "-o@/out" },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } }, { { "", "-p7" } } } },
	{ "view",
	  ptc_cmd_view,
	  { "-o@/out", "--symfs=@/root" },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--inline", "--max-calls=3" } },
	    { { "", "", "--time=10%-60%", "--tid=7", "--cpu=0" } } } },
	{ "stacks",
	  ptc_cmd_stacks,
	  { "--symfs=@/root" },
	  { { { "-i@/perf.data", "-i@/folder", "-i-" } },
	    { { "", "--format=json" } },
	    { { "", "-n3", "-p7", "--no-demangle", "-v" } } } },
	{ "report",
	  ptc_cmd_report,
	  { NULL },
	  { { { "-i@/perf.data --symfs=@/root", "-i@/folder --symfs=@/root", "-i- --symfs=@/root",
		"-i@/perf.data", "--pt=@/pt --raw=@/root/bin/a@0x1000:0x1000" } },
	    { { "", "--format=json", "--format=csv" } },
	    { { "", "--by=thread", "--by=process", "--by=file", "--axis=time", "--axis=insns",
		"--sort=name", "--top=2", "--function=code_start --slowest=3",
		"--function=code_start" } },
	    { { "-j1", "-j1", "-j1", "-j2" } },
	    { { "", "", "", "--time=0,0.000001", "--time=10%-60%", "--tid=7", "--cpu=0" } },
	    { { "", "--core=@/core", "--kcore=@/kcore", "--vmlinux=@/vmlinux" } },
	    { { "", "--no-demangle", "--full-names", "--strict", "--inline" } } } },
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	(void)dprintf(STDERR_FILENO, "fuzz_commands: %s: %s\n", what, strerror(errno));
	abort();
}

/* Returns PATH within the folder. */
static const char *below(const char *path)
{
	static char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", home, path);
	return full;
}

static void make_folders(const char *path)
{
	char full[256], *slash;

	(void)snprintf(full, sizeof(full), "%s", below(path));
	for (slash = full + strlen(home) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0700); /* may exist already */
		*slash = '/';
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* A child removes the folder at any end of this process: it reads from a pipe until then. */
static void remove_at_end(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	must(!pipe2(ends, O_CLOEXEC), "pipe2");
	pid = fork();
	must(pid >= 0, "fork");
	if (pid) {
		(void)close(ends[0]);
		return;
	}
	(void)close(ends[1]);
	(void)setsid();
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	(void)nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

void cm_begin(void)
{
	static const char *const unwanted[] = { "DEBUGINFOD_URLS", "PAGER", "TERM" };
	static const char *const roots[] = { "/dev/shm", "/tmp" };
	FILE *none = fopen("/dev/null", "w");
	size_t i;

	for (i = 0; i < sizeof(roots) / sizeof(roots[0]) && !*home; i++) {
		(void)snprintf(home, sizeof(home), "%s/ptcap-fuzz-XXXXXX", roots[i]);
		if (!mkdtemp(home))
			*home = '\0';
	}
	must(*home && none, "a folder for files");
	remove_at_end();
	for (i = 0; i < AR_KINDS; i++)
		make_folders(paths[i]);
	for (i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		(void)unsetenv(unwanted[i]);
	must(!setenv("HOME", home, 1) && !setenv("PERF_BUILDID_DIR", below("cache"), 1) &&
		     !setenv("TMPDIR", home, 1),
	     "setenv");
	/* Messages of libFuzzer and the sanitizers go to the file descriptor. */
	stderr = none;
	must(dup2(fileno(none), STDOUT_FILENO) == STDOUT_FILENO, "dup2");
}

static void write_file(const char *path, const struct ptc_buf *b)
{
	const int fd = open(below(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t done = 0;
	ssize_t r;

	must(fd >= 0, path);
	while (done < b->len) {
		r = write(fd, b->bytes + done, b->len - done);
		must(r > 0, path);
		done += (size_t)r;
	}
	(void)close(fd);
}

/* Writes the files of @a and removes all others. Of two parts of one kind the last one counts. */
static void write_files(const struct archive *a)
{
	static const char *const outs[] = { "out", "out.old" };
	static bool there[AR_KINDS];
	const struct ptc_buf *files[AR_KINDS] = { NULL };
	size_t i;

	for (i = 0; i < a->n; i++)
		files[a->parts[i].kind] = &a->parts[i].bytes;
	for (i = 0; i < AR_KINDS; i++) {
		if (files[i])
			write_file(paths[i], files[i]);
		else if (there[i])
			(void)unlink(below(paths[i]));
		there[i] = files[i] != NULL;
	}
	for (i = 0; i < sizeof(outs) / sizeof(outs[0]); i++)
		(void)unlink(below(outs[i]));
}

/* A command line under construction. */
struct line {
	char *argv[ARGS_MAX + 1];
	int argc;
	char words[ARGS_MAX][ARG_MAX_LEN];
};

static void add_word(struct line *l, const char *word, size_t len)
{
	const char *const at = memchr(word, '@', len);
	char *to = l->words[l->argc];

	must(l->argc < ARGS_MAX, "a command line");
	/* The first '@' is the folder; the '@' in --raw=FILE@ADDR comes later. */
	if (at)
		(void)snprintf(to, ARG_MAX_LEN, "%.*s%s%.*s", (int)(at - word), word, home,
			       (int)(len - (size_t)(at - word) - 1), at + 1);
	else
		(void)snprintf(to, ARG_MAX_LEN, "%.*s", (int)len, word);
	l->argv[l->argc++] = to;
}

static void add_words(struct line *l, const char *words)
{
	size_t n;

	for (; words && *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		add_word(l, words, n);
	}
}

static size_t count_options(const struct group *g)
{
	size_t n = 0;

	while (n < OPTIONS_MAX && g->options[n])
		n++;
	return n;
}

static const struct command *command_of(const struct archive *a)
{
	return &commands[a->command % COMMANDS];
}

static void make_line(struct line *l, const struct archive *a)
{
	const struct command *c = command_of(a);
	size_t i, n;

	l->argc = 0;
	add_word(l, c->name, strlen(c->name));
	add_words(l, "--no-sandbox"); /* the sandbox would hold for all later runs */
	for (i = 0; i < sizeof(c->always) / sizeof(c->always[0]); i++)
		add_words(l, c->always[i]);
	for (i = 0; i < AR_CHOICES - 1; i++) {
		n = count_options(&c->groups[i]);
		if (n)
			add_words(l, c->groups[i].options[a->choices[i] % n]);
	}
	l->argv[l->argc] = NULL;
}

/* The recording is also the standard input. */
static void open_input(void)
{
	const int fd = open(below(paths[AR_RECORDING]), O_RDONLY | O_CLOEXEC);
	const int from = fd < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : fd;

	must(from >= 0 && dup2(from, STDIN_FILENO) == STDIN_FILENO, "standard input");
	(void)close(from);
}

/*
 * The last choice is not an option. Every fourth value limits the command's memory to a small
 * amount that grows with the value. The budget also counts libFuzzer's memory.
 */
static void set_budget(const struct archive *a)
{
	enum { LITTLE = 3, UNIT = 16 << 10 };
	const uint8_t choice = a->choices[AR_CHOICES - 1];
	const uint64_t used = __sanitizer_get_current_allocated_bytes();

	ptc_memory_set_limit(used + (choice % 4 == LITTLE ? (uint64_t)choice * UNIT : ENOUGH));
}

int cm_run(const struct archive *a)
{
	static struct line line;

	write_files(a);
	open_input();
	set_budget(a);
	make_line(&line, a);
	optind = 0; /* restarts getopt */
	return ptc_finish_stdout(command_of(a)->fn(line.argc, line.argv));
}

int cm_run_output(const struct archive *a, struct ptc_buf *ret)
{
	const int code = cm_run(a);
	const int fd = open(below("out"), O_RDONLY | O_CLOEXEC);
	uint8_t bytes[4096];
	ssize_t r;

	ptc_buf_reset(ret);
	while (fd >= 0 && (r = read(fd, bytes, sizeof(bytes))) > 0)
		ptc_buf_put(ret, bytes, (size_t)r);
	if (fd >= 0)
		(void)close(fd);
	return code;
}

uint8_t cm_find(const char *command)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, command))
			return (uint8_t)i;
	must(false, command);
	return 0;
}

void cm_choose(struct archive *a, const char *option)
{
	const struct command *c = command_of(a);
	bool found = false;
	size_t i, k;

	for (i = 0; i < AR_CHOICES - 1; i++)
		for (k = 0; k < count_options(&c->groups[i]); k++)
			if (!strcmp(c->groups[i].options[k], option)) {
				a->choices[i] = (uint8_t)k;
				found = true;
			}
	must(found, option);
}
