/* SPDX-License-Identifier: MIT */
#include "decode/crash/signature_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_brackets.h"
#include "ptcap/lookup.h"

enum { NAME_LIMIT = 1 << 14, RUST_HASH = 16 };

static const char anonymous[] = "(anonymous namespace)";
static const char digits[] = "0123456789", hex[] = "0123456789abcdef";

static bool begins(const char *s, const char *word)
{
	return !strncmp(s, word, strlen(word));
}

static bool ends(const char *s, size_t len, const char *word)
{
	const size_t n = strlen(word);

	return len >= n && !memcmp(s + len - n, word, n);
}

/* --- lists and brackets --- */

/* A name in the work. */
struct work {
	const char *name;	 /* NUL-terminated */
	struct ptc_bracket *map; /* of name, one for each byte */
	size_t len;		 /* of name */
	char *out;		 /* the result; a part of name never becomes longer than twice */
	size_t n;		 /* of out */
	size_t unwrapped;	 /* closing bracket that is omitted; 0: none */
};

static void put(struct work *w, const char *text, size_t n)
{
	memcpy(w->out + w->n, text, n);
	w->n += n;
}

/* Returns the offset behind the qualifiers of a function, " const", whose parameters end at @i. */
static size_t skip_qualifiers(const struct work *w, size_t i)
{
	static const char *const words[] = { " const", " volatile", " noexcept", " &&",
					     " &",     "&&",	    "&" };
	size_t k = 0;

	while (k < sizeof(words) / sizeof(words[0])) {
		const size_t n = strlen(words[k]);

		if (begins(w->name + i, words[k]) && !ptc_is_name_char(w->name[i + n])) {
			i += n;
			k = 0;
		} else {
			k++;
		}
	}
	return i;
}

/* Is " as " between the brackets? Then they hold a type of Rust and its trait. */
static bool has_trait(const struct work *w, size_t open)
{
	const char *as = strstr(w->name + open, " as ");

	return as && (size_t)(as - w->name) < w->map[open].partner;
}

/* Rust has "<type as trait>::name", "<type>::name" and "name::<arguments>". */
static size_t take_angle(struct work *w, size_t i)
{
	if (has_trait(w, i) && (!i || !ptc_is_name_char(w->name[i - 1]))) {
		put(w, "<", 1);
		return i + 1;
	}
	if (!i) {
		w->unwrapped = w->map[i].partner;
		return i + 1;
	}
	if (ends(w->out, w->n, "::"))
		w->n -= 2;
	return w->map[i].partner + 1;
}

/* Go has "package.(*type).name". Other lists are parameters. */
static size_t take_round(struct work *w, size_t i)
{
	const size_t close = w->map[i].partner;

	if (begins(w->name + i, "(anonymous")) {
		put(w, w->name + i, close + 1 - i);
		return close + 1;
	}
	if (w->name[close + 1] == '.') {
		put(w, "(", 1);
		return i + 1;
	}
	return skip_qualifiers(w, close + 1);
}

/* "{lambda(int)#1}", "{closure#0}" and "{{closure}}" keep their word. */
static size_t take_curly(struct work *w, size_t i)
{
	const char *word = w->name + i + strspn(w->name + i, "{");

	put(w, "{", 1);
	put(w, word, strcspn(word, "(#:}"));
	put(w, "}", 1);
	return w->map[i].partner + 1;
}

/* In square brackets are tags of the ABI, clones, types of Go, and hashes of crates. */
static size_t take_square(struct work *w, size_t i)
{
	while (w->n && w->out[w->n - 1] == ' ')
		w->n--;
	return w->map[i].partner + 1;
}

static size_t take_bracket(struct work *w, size_t i)
{
	switch (w->name[i]) {
	case '<':
		return take_angle(w, i);
	case '(':
		return take_round(w, i);
	case '{':
		return take_curly(w, i);
	default:
		return take_square(w, i);
	}
}

/* --- other parts --- */

/* Returns the length of the arguments behind "operator()", whose '<' is in no pair. */
static size_t operator_arguments(const struct work *w, size_t i)
{
	size_t depth = 0, k;

	if (w->name[i] != '<' || !ends(w->out, w->n, "operator()"))
		return 0;
	for (k = i; k < w->len; k++) {
		depth += w->name[k] == '<';
		if (w->name[k] == '>' && w->name[k - 1] != '-' && !--depth)
			return k + 1 - i;
	}
	return 0;
}

/* Returns the length of clang's name of a lambda, "$_0" or "'lambda0'", or 0. */
static size_t clang_lambda(const char *s)
{
	size_t n;

	if (begins(s, "$_") && strspn(s + 2, digits))
		return 2 + strspn(s + 2, digits);
	if (!begins(s, "'lambda"))
		return 0;
	n = 7 + strspn(s + 7, digits);
	return s[n] == '\'' ? n + 1 : 0;
}

/*
 * Writes a part at @i that has another form for another compiler or library. Returns its length, or
 * 0: there is no such part.
 */
static size_t take_variant(struct work *w, size_t i)
{
	static const char *const inlines[] = { "__cxx11::", "__1::", "_V2::" };
	static const char nameless[] = "_GLOBAL__N_", lambda[] = "{lambda}";
	const char *at = w->name + i;
	size_t n = operator_arguments(w, i), k;

	if (n)
		return n;
	for (k = 0; *at == '_' && k < sizeof(inlines) / sizeof(inlines[0]); k++)
		if (begins(at, inlines[k]) && ends(w->out, w->n, "std::"))
			return strlen(inlines[k]);
	if (begins(at, nameless)) {
		put(w, anonymous, sizeof(anonymous) - 1);
		for (n = strlen(nameless); ptc_is_name_char(at[n]);)
			n++;
		return n;
	}
	n = clang_lambda(at);
	if (n)
		put(w, lambda, sizeof(lambda) - 1);
	return n;
}

static void take_all(struct work *w)
{
	size_t i = 0, n;

	while (i < w->len) {
		n = w->map[i].in_operator ? 0 : take_variant(w, i);
		if (n) {
			i += n;
		} else if (w->map[i].is_open) {
			i = take_bracket(w, i);
		} else if (w->unwrapped && i == w->unwrapped) {
			i++;
		} else {
			w->out[w->n++] = w->name[i++];
		}
	}
	while (w->n && w->out[w->n - 1] == ' ')
		w->n--;
}

/* --- suffixes --- */

/* Returns the offset of a suffix of the compiler at the end of @s: ".isra.0", ".cold" or ".0".
 * Returns
 * @len if there is none. */
static size_t find_clone(const char *s, size_t len)
{
	static const char *const words[] = { ".cold", ".localalias", ".constprop", ".part",
					     ".isra", ".lto_priv",   ".llvm" };
	enum { WITHOUT_NUMBER = 2 };
	size_t end = len, i;
	bool numbered;

	while (end && strchr(digits, s[end - 1]))
		end--;
	numbered = end < len && end > 1 && s[end - 1] == '.';
	end = numbered ? end - 1 : len;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((numbered || i < WITHOUT_NUMBER) && ends(s, end, words[i]) &&
		    end > strlen(words[i]))
			return end - strlen(words[i]);
	return end;
}

static size_t find_rust_hash(const char *s, size_t len)
{
	const size_t n = 3 + RUST_HASH;

	if (len > n && begins(s + len - n, "::h") && strspn(s + len - RUST_HASH, hex) == RUST_HASH)
		return len - n;
	return len;
}

/* Go numbers closures: "main.main.func1.2". */
static void drop_go_numbers(char *s)
{
	static const char *const words[] = { ".func", ".gowrap", ".deferwrap" };
	size_t i, n;
	char *at;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (at = s; (at = strstr(at, words[i])) != NULL;) {
			at += strlen(words[i]);
			n = strspn(at, digits);
			if (!n || ptc_is_name_char(at[n]))
				continue;
			while (at[n] == '.' && strspn(at + n + 1, digits) &&
			       !ptc_is_name_char(at[n + 1 + strspn(at + n + 1, digits)]))
				n += 1 + strspn(at + n + 1, digits);
			memmove(at, at + n, strlen(at + n) + 1);
		}
}

static void drop_suffixes(char *s)
{
	size_t len = strlen(s), to;

	for (;;) {
		to = find_rust_hash(s, find_clone(s, len));
		s[to] = '\0';
		if (to == len)
			break;
		len = to;
	}
	drop_go_numbers(s);
}

/* --- functions --- */

/* A thunk only corrects a pointer, and continues in the function. */
static const char *skip_thunk(const char *name)
{
	static const char *const thunks[] = { "non-virtual thunk to ", "virtual thunk to ",
					      "covariant return thunk to " };
	size_t i;

	for (i = 0; i < sizeof(thunks) / sizeof(thunks[0]); i++)
		if (begins(name, thunks[i]))
			return name + strlen(thunks[i]);
	return name;
}

/* Returns the length of @name without a version or "@plt". */
static size_t length_of(const char *name)
{
	const size_t len = strnlen(name, NAME_LIMIT);
	const char *at = len ? memchr(name + 1, '@', len - 1) : NULL;

	return at ? (size_t)(at - name) : len;
}

char *ptc_signature_function(const char *name)
{
	char *plain = ptc_demangle(name), *copy;
	const char *begin = skip_thunk(plain ? plain : name);
	struct work w = { .len = length_of(begin) };

	copy = strndup(begin, w.len);
	w.map = malloc((w.len + 1) * sizeof(*w.map));
	w.out = malloc(w.len * 3 + sizeof(anonymous));
	if (copy && w.map && w.out) {
		w.name = copy;
		ptc_brackets_find(copy, w.len, w.map);
		take_all(&w);
		w.out[w.n] = '\0';
		drop_suffixes(w.out);
		if (!w.out[0]) /* only brackets: no name that the rules know */
			memcpy(w.out, copy, w.len + 1);
	} else {
		free(w.out);
		w.out = NULL;
	}
	free(plain);
	free(copy);
	free(w.map);
	return w.out;
}

/* --- modules --- */

static bool is_memory(const char *file)
{
	static const char *const fronts[] = {
		"//", "[", "/memfd:", "/dev/", "/SYSV", "anon_inode:"
	};
	const char *slash = strrchr(file, '/');
	size_t i;

	for (i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
		if (begins(file, fronts[i]))
			return true;
	return begins(slash ? slash + 1 : file, "jitted-"); /* perf's name for a jitdump's code */
}

/* Returns the offset of "-12", "3.11" or "-0cf96a72" at the end of @s, or @len. */
static size_t find_version(const char *s, size_t len)
{
	size_t at = len, dots = 0;

	while (at && (strchr(digits, s[at - 1]) || s[at - 1] == '.'))
		dots += s[--at] == '.';
	while (at < len && s[at] == '.') {
		at++;
		dots--;
	}
	if (at < len && at && s[at - 1] == '-')
		return at - 1;
	if (at < len && dots)
		return at && s[at - 1] == '_' ? at - 1 : at;
	for (at = len; at && strchr(hex, s[at - 1]);)
		at--;
	return len - at == 8 && at && s[at - 1] == '-' ? at - 1 : len;
}

/* Returns the length of the name in front of ".so", which *@ret_so tells of. */
static size_t stem_of(const char *s, bool *ret_so)
{
	const char *at = s, *tag;
	size_t len = strlen(s);

	*ret_so = false;
	while ((at = strstr(at, ".so")) != NULL) {
		if (!at[3] || at[3] == '.') {
			*ret_so = true;
			len = (size_t)(at - s);
			break;
		}
		at += 3;
	}
	tag = strstr(s, ".cpython-");
	if (tag && (size_t)(tag - s) < len)
		len = (size_t)(tag - s);
	return ends(s, len, ".abi3") ? len - 5 : len;
}

char *ptc_signature_module(const char *file)
{
	static const char deleted[] = " (deleted)";
	const char *slash = file ? strrchr(file, '/') : NULL;
	size_t len, to;
	char *ret;
	bool so;

	if (!file || is_memory(file))
		return strdup("[anonymous]");
	ret = strdup(slash ? slash + 1 : file);
	if (!ret)
		return NULL;
	len = strlen(ret);
	if (ends(ret, len, deleted))
		ret[len - strlen(deleted)] = '\0';
	len = stem_of(ret, &so);
	to = find_version(ret, len);
	len = to ? to : len;
	memcpy(ret + len, so ? ".so" : "", so ? 4 : 1);
	return ret;
}

/* --- Python --- */

/* A comprehension has a function of its own before CPython 3.12 (PEP 709). */
char *ptc_signature_python_function(const char *name)
{
	static const char *const parts[] = { "<locals>.", "<listcomp>.", "<dictcomp>.",
					     "<setcomp>." };
	char *ret = strdup(name), *at;
	size_t i;

	for (i = 0; ret && i < sizeof(parts) / sizeof(parts[0]); i++)
		while ((at = strstr(ret, parts[i])) != NULL)
			memmove(at, at + strlen(parts[i]), strlen(at + strlen(parts[i])) + 1);
	return ret;
}

bool ptc_signature_is_python(const char *module)
{
	static const char *const modules[] = { "python", "python3", "libpython.so", "libpython3.so",
					       "_ctypes.so" };
	size_t i;

	for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strcmp(module, modules[i]))
			return true;
	return false;
}
