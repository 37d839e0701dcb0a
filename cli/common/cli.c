/* SPDX-License-Identifier: MIT */
#include "cli/common/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/reader/reader.h"
#include "base/err.h"
#include "base/similar.h"
#include "base/terminal_escape.h"

/* Escapes the message, which may contain untrusted names. */
__attribute__((format(printf, 1, 0))) static void say_plain(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	ptc_plain_put(stderr, text ? text : fmt);
	free(text);
}

void ptc_say(const char *fmt, ...)
{
	va_list ap;

	fputs("ptcap: ", stderr);
	va_start(ap, fmt);
	say_plain(fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int ptc_say_err(const struct ptc_err *err)
{
	ptc_say("%s", err->msg);
	return err->code == PTC_E_USAGE ? PTC_EXIT_USAGE : PTC_EXIT_FAIL;
}

int ptc_say_no_memory(void)
{
	struct ptc_err err;

	(void)ptc_fail_mem(&err);
	return ptc_say_err(&err);
}

/* Return whether the recording at @path has intact records before its damage. */
static bool can_recover(const char *path)
{
	uint64_t pos = 0, n = 0;
	struct ptc_file *f;
	struct ptc_rec rec;
	struct ptc_err err;
	bool damaged;

	if (ptc_file_open_damaged(path, &f, &err))
		return false;
	while (ptc_file_next(f, &pos, &rec, &err) > 0)
		n++;
	damaged = ptc_file_damage(f);
	ptc_file_free(f);
	return n && damaged;
}

int ptc_say_input_err(const char *path, const struct ptc_err *err)
{
	const int code = ptc_say_err(err);

	if (err->code == PTC_E_NOT_EXIST && !err->sys) /* not the file, but a match is missing */
		return PTC_EXIT_NOTHING;
	if (path && strcmp(path, "-") != 0 && err->code == PTC_E_FORMAT && can_recover(path))
		ptc_say("`ptcap recover -i '%s' -o NEW` recovers its undamaged part", path);
	return code;
}

/* Copy standard input to @f. Stops after the magic if the input is not a recording. */
static bool copy_input(FILE *f)
{
	static const char magic[] = "PERFILE2";
	char buf[1 << 16];
	size_t had = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || fwrite(buf, 1, (size_t)n, f) != (size_t)n)
			return false;
		if (!had &&
		    memcmp(buf, magic, (size_t)n < strlen(magic) ? (size_t)n : strlen(magic)) != 0)
			break;
		had += (size_t)n;
	}
	return !fflush(f);
}

bool ptc_keep_input(const char *path)
{
	struct stat st;
	bool ok;
	FILE *f;

	if (strcmp(path, "-") != 0 || (!fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode)))
		return true;
	f = tmpfile();
	ok = f && copy_input(f) && dup2(fileno(f), STDIN_FILENO) >= 0;
	if (!ok)
		ptc_say("cannot copy standard input: %s", strerror(errno));
	if (f)
		(void)fclose(f);
	return ok;
}

/* "ptcap COMMAND: MESSAGE", up to where to find help. */
__attribute__((format(printf, 2, 0))) static void begin_usage(const char *command, const char *fmt,
							      va_list ap)
{
	fprintf(stderr, "ptcap %s: ", command);
	say_plain(fmt, ap);
}

static int end_usage(const char *command)
{
	fprintf(stderr, "; see `ptcap %s --help`\n", command);
	return PTC_EXIT_USAGE;
}

int ptc_usage_error(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	begin_usage(command, fmt, ap);
	va_end(ap);
	return end_usage(command);
}

int ptc_value_error(const char *command, const char *option, const char *value, const char *fmt,
		    ...)
{
	va_list ap;

	fprintf(stderr, "ptcap %s: invalid value '", command);
	ptc_plain_put(stderr, value);
	fprintf(stderr, "' for %s: expected ", option);
	va_start(ap, fmt);
	say_plain(fmt, ap);
	va_end(ap);
	return end_usage(command);
}

static const struct option *known; /* lent by ptc_options_begin */

void ptc_options_begin(const struct option *options)
{
	known = options;
	opterr = 0;
}

/* Returns the long option named by the first @len bytes of @name, or NULL. */
static const struct option *find_option(const char *name, size_t len)
{
	const struct option *o;

	for (o = known; o && o->name; o++)
		if (!strncmp(o->name, name, len) && !o->name[len])
			return o;
	return NULL;
}

/* Does @name, cut to @len bytes, begin several options? getopt_long takes no such abbreviation. */
static bool is_ambiguous(const char *name, size_t len)
{
	const struct option *o;
	int n = 0;

	for (o = known; o && o->name; o++)
		n += !strncmp(o->name, name, len);
	return n > 1;
}

/* @arg is "--NAME" or "--NAME=VALUE", which @command does not have. */
static int long_option_error(const char *command, const char *arg)
{
	const size_t len = strcspn(arg, "=");
	char *name = strndup(arg, len), full[PTC_SIMILAR_LEN + 2];
	struct ptc_similar similar;
	const struct option *o;
	int code;

	if (!name)
		return ptc_say_no_memory();
	ptc_similar_begin(&similar, name);
	for (o = known; o && o->name; o++)
		if (snprintf(full, sizeof(full), "--%s", o->name) < (int)sizeof(full))
			ptc_similar_add(&similar, full);
	if (is_ambiguous(arg + 2, len - 2))
		code = ptc_usage_error(command, "ambiguous option '%s'", name);
	else
		code = ptc_usage_error(command, "unknown option '%s'%s", name,
				       ptc_similar_text(&similar));
	free(name);
	return code;
}

int ptc_option_error(const char *command, char *const *argv, int c)
{
	const char *arg = argv[optind - 1];
	const struct option *o;

	if (c == ':')
		return ptc_usage_error(command, "option '%s' needs a value", arg);
	/* optopt: the letter, or the val of a long option that has a value but takes none. */
	o = optopt && !strncmp(arg, "--", 2) ? find_option(arg + 2, strcspn(arg + 2, "=")) : NULL;
	if (o && o->val == optopt && o->has_arg == no_argument && strchr(arg, '='))
		return ptc_usage_error(command, "option '--%s' takes no value", o->name);
	if (optopt > ' ' && optopt < 0x7f) /* a letter: argv[optind - 1] may be any argument */
		return ptc_usage_error(command, "unknown option '-%c'", optopt);
	if (!strncmp(arg, "--", 2))
		return long_option_error(command, arg);
	return ptc_usage_error(command, "unknown option '%s'", arg);
}

int ptc_argument_error(const char *command, char *const *args)
{
	return ptc_usage_error(command, "unexpected argument '%s'", args[0]);
}

int ptc_take_input(const char *command, int argc, char *const *argv, const char **input)
{
	if (optind >= argc)
		return 0;
	if (*input)
		return ptc_usage_error(command,
				       "two input files: '%s' with -i, and '%s'; give one of them",
				       *input, argv[optind]);
	*input = argv[optind];
	return optind + 1 < argc ? ptc_argument_error(command, argv + optind + 1) : 0;
}

/* strtoull accepts signs, blanks and octal, so require a leading digit. */
static bool parse(const char *s, uint64_t *ret, char **end)
{
	const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *digits = hex ? s + 2 : s;
	unsigned long long v;

	if (!strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789"))
		return false;
	errno = 0;
	v = strtoull(digits, end, hex ? 16 : 10);
	if (errno)
		return false;
	*ret = v;
	return true;
}

bool ptc_parse_u64(const char *s, uint64_t *ret)
{
	uint64_t v;
	char *end;

	if (!parse(s, &v, &end) || *end)
		return false;
	*ret = v;
	return true;
}

bool ptc_parse_size(const char *s, uint64_t *ret)
{
	unsigned int shift = 0;
	uint64_t v;
	char *end;

	if (!parse(s, &v, &end))
		return false;
	switch (*end) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	default:
		break;
	}
	if (shift)
		end++;
	if (*end || v > UINT64_MAX >> shift)
		return false;
	*ret = v << shift;
	return true;
}

bool ptc_parse_count(const char *s, uint64_t *ret)
{
	uint64_t v, factor = 1;
	char *end;

	if (!parse(s, &v, &end))
		return false;
	if (*end == 'k' || *end == 'K')
		factor = 1000;
	else if (*end == 'M')
		factor = 1000000;
	else if (*end == 'G')
		factor = 1000000000;
	return !end[factor > 1] && !__builtin_mul_overflow(v, factor, ret);
}

bool ptc_parse_duration(const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = { { "", 1000000000 }, { "s", 1000000000 },	{ "ms", 1000000 },
		      { "us", 1000 },	  { "m", 60000000000 }, { "h", 3600000000000 } };
	uint64_t whole, part = 0, scale = 1;
	char *end;
	size_t i;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		return false;
	if (!parse(s, &whole, &end))
		return false;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9' && scale < 1000000; end++, scale *= 10)
			part = part * 10 + (uint64_t)(*end - '0');
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		/* Part < scale <= 1e6, so this product cannot overflow. */
		return !__builtin_mul_overflow(whole, units[i].ns, ret_ns) &&
		       !__builtin_add_overflow(*ret_ns, part * units[i].ns / scale, ret_ns) &&
		       *ret_ns;
	}
	return false;
}

int ptc_finish_stdout(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	ptc_say("cannot write standard output: %s", strerror(errno));
	return PTC_EXIT_FAIL;
}
