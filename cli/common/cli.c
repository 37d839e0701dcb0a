/* SPDX-License-Identifier: MIT */
#include "cli/common/cli.h"

#include <errno.h>
#include <getopt.h> /* optind */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/terminal_escape.h"
#include "ptcap/file.h"

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

bool ptc_cut_number(char **s, char sep, uint64_t *ret)
{
	char *word = *s, *end = strchr(word, sep);

	if (end)
		*end++ = '\0';
	*s = end;
	return ptc_parse_u64(word, ret);
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
