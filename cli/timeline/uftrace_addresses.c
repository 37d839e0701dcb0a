/* SPDX-License-Identifier: MIT */
#include "cli/timeline/uftrace_addresses.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/terminal_escape.h"
#include "cli/timeline/folder_file.h"

/*
 * uftrace takes addresses from 2^47 on for the kernel's (if the map has a stack below). SPACING: a
 * symbol ends where the next one begins, so two symbols must not have the same address.
 */
#define RANGE	(UINT64_C(1) << 32)
#define UPPER	(RANGE / 2)
#define SPACING UINT64_C(16)
#define STACK_MAP                                                                                  \
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n"

/*
 * MAX_MODULES: the last one has the functions of all other files. SYMBOL_LEN_MAX: `uftrace dump
 * --chrome` of uftrace 0.13 crashes with more than 2048 bytes, and writes some characters as two.
 */
enum { MAX_MODULES = 16384, SYMBOL_LEN_MAX = 1000, NAME_LEN_MAX = 200, PATH_LEN_MAX = 1000 };

struct ptc_uftrace_module {
	uint32_t file;	/* number in the stream's names; 0: code in no file */
	uint64_t upper; /* the next free address in the upper half */
	char *path;	/* owned; as in the map; NULL: not written yet */
};

void ptc_uftrace_addresses_release(struct ptc_uftrace_addresses *a)
{
	size_t i;

	for (i = 0; i < a->nmodules; i++)
		free(a->modules[i].path);
	free(a->modules);
	free(a->of_file);
	free(a->addresses);
	free(a->taken.slots);
	*a = (struct ptc_uftrace_addresses){ .n = 0 };
}

/* --- addresses --- */

static uint64_t begin_of(size_t module)
{
	return RANGE * (module + 1);
}

static size_t module_of(uint64_t address)
{
	return (size_t)(address / RANGE) - 1;
}

/* Returns the module of @file, which may be new. NULL: out of memory. */
static struct ptc_uftrace_module *get_module(struct ptc_uftrace_addresses *a, uint32_t file)
{
	size_t i;

	while (a->nfiles <= file) {
		if (!ptc_grow(&a->of_file, &a->files_cap, a->nfiles + 1, sizeof(*a->of_file)))
			return NULL;
		a->of_file[a->nfiles++] = 0;
	}
	if (a->of_file[file])
		return &a->modules[a->of_file[file] - 1];
	i = a->nmodules;
	if (i == MAX_MODULES) {
		i--;
	} else {
		if (!ptc_grow(&a->modules, &a->modules_cap, i + 1, sizeof(*a->modules)))
			return NULL;
		a->modules[i] = (struct ptc_uftrace_module){ file, begin_of(i) + UPPER, NULL };
		a->nmodules++;
	}
	a->of_file[file] = (uint32_t)i + 1;
	return &a->modules[i];
}

static uint64_t hash_of_address(uint64_t address)
{
	return ptc_hash_mix(0, address);
}

static bool is_taken(const struct ptc_uftrace_addresses *a, uint64_t address)
{
	const struct ptc_number_index *x = &a->taken;
	size_t slot;

	if (!x->slots)
		return false;
	for (slot = ptc_number_index_first(x, hash_of_address(address)); x->slots[slot];
	     slot = ptc_number_index_next(x, slot))
		if (a->addresses[x->slots[slot] - 1] == address)
			return true;
	return false;
}

/* Returns a free address for @f in @m. 0: there is none. */
static uint64_t choose_address(const struct ptc_uftrace_addresses *a, struct ptc_uftrace_module *m,
			       const struct ptc_function *f)
{
	const uint64_t begin = begin_of((size_t)(m - a->modules));

	if (!f->inlined && f->file == m->file && f->off < UPPER && !is_taken(a, begin + f->off))
		return begin + f->off;
	if (m->upper + SPACING > begin + RANGE)
		return 0;
	m->upper += SPACING;
	return m->upper - SPACING;
}

/* Makes space for the addresses of functions up to @function. */
static bool grow_addresses(struct ptc_uftrace_addresses *a, uint32_t function)
{
	if (!ptc_grow(&a->addresses, &a->cap, (size_t)function + 1, sizeof(*a->addresses)))
		return false;
	while (a->n <= function)
		a->addresses[a->n++] = 0;
	return true;
}

static bool remember(struct ptc_uftrace_addresses *a, uint32_t function, uint64_t address)
{
	bool emptied;
	size_t i;

	if (!ptc_number_index_grow(&a->taken, &emptied))
		return false;
	for (i = 0; emptied && i < a->n; i++)
		if (a->addresses[i])
			ptc_number_index_add(&a->taken, hash_of_address(a->addresses[i]),
					     (uint32_t)i + 1);
	a->addresses[function] = address;
	ptc_number_index_add(&a->taken, hash_of_address(address), function + 1);
	return true;
}

uint64_t ptc_uftrace_address(struct ptc_uftrace_addresses *a, const struct ptc_call_stream *s,
			     uint32_t function)
{
	const struct ptc_function *f = &s->functions[function];
	struct ptc_uftrace_module *m;
	uint64_t address;

	if (function < a->n && a->addresses[function])
		return a->addresses[function];
	m = grow_addresses(a, function) ? get_module(a, f->file) : NULL;
	address = m ? choose_address(a, m, f) : 0;
	return address && remember(a, function, address) ? address : 0;
}

/* --- files --- */

/* Returns the recorded name of a module's file, or a name for it. */
static const char *recorded_name(const struct ptc_uftrace_addresses *a, size_t module,
				 const struct ptc_call_stream *s)
{
	const char *name = ptc_names_of(&s->names, a->modules[module].file);

	if (module == MAX_MODULES - 1)
		return "other-files";
	return name && *name ? name : "anonymous";
}

void ptc_uftrace_clean_word(char *s)
{
	for (; *s; s++)
		if (!isgraph((unsigned char)*s) || *s == '"' || *s == '\\')
			*s = '_';
}

/*
 * Returns a path for the map. Caller frees it. NULL: out of memory. A map has a line for each file,
 * with blanks between words, and uftrace skips names that begin with '['.
 */
static char *path_in_map(const char *recorded)
{
	const size_t len = strlen(recorded);
	const bool brackets = len > 2 && *recorded == '[' && recorded[len - 1] == ']';
	char *path = brackets ? strndup(recorded + 1, len - 2) : strdup(recorded);
	char *base;

	if (!path)
		return NULL;
	ptc_uftrace_clean_word(path);
	if (*path == '[')
		*path = '_';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	if (strlen(base) > NAME_LEN_MAX)
		base[NAME_LEN_MAX] = '\0';
	if (strlen(path) > PATH_LEN_MAX)
		memmove(path, base, strlen(base) + 1);
	if (*base)
		return path;
	free(path);
	return strdup("unnamed");
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Appends "-NUMBER" to *@path. Returns false if out of memory. */
static bool append_number(char **path, size_t number)
{
	char *longer;

	if (asprintf(&longer, "%s-%zu", *path, number) < 0)
		return false;
	free(*path);
	*path = longer;
	return true;
}

/*
 * Creates the file of symbols of @module, and decides its path in the map: files with equal last
 * parts get different ones, because uftrace finds the symbols by this part.
 */
static FILE *create_symbols(struct ptc_uftrace_addresses *a, size_t module,
			    const struct ptc_call_stream *s, const char *folder,
			    struct ptc_err *err)
{
	char *path = path_in_map(recorded_name(a, module, s)), *name;
	size_t number = module;
	FILE *f;

	while (path && asprintf(&name, "%s.sym", last_part(path)) >= 0) {
		f = ptc_folder_file_new(folder, name);
		if (!f && errno != EEXIST) {
			(void)ptc_fail_sys(err, errno, "cannot create '%s/%s'", folder, name);
			free(name);
			free(path);
			return NULL;
		}
		free(name);
		if (f) {
			a->modules[module].path = path;
			return f;
		}
		if (!append_number(&path, number++))
			break;
	}
	free(path);
	(void)ptc_fail_mem(err);
	return NULL;
}

struct placed {
	uint64_t address;
	uint32_t function;
};

static int by_address(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Returns the functions that have addresses, sorted. Caller frees. NULL: out of memory. */
static struct placed *sorted_functions(const struct ptc_uftrace_addresses *a, size_t *ret_n)
{
	struct placed *v = calloc(a->n ? a->n : 1, sizeof(*v));
	size_t i, n = 0;

	for (i = 0; v && i < a->n; i++)
		if (a->addresses[i])
			v[n++] = (struct placed){ a->addresses[i], (uint32_t)i };
	if (n)
		qsort(v, n, sizeof(*v), by_address);
	*ret_n = n;
	return v;
}

static void put_symbol(FILE *f, const struct ptc_call_stream *s, const struct placed *p)
{
	char buf[PATH_LEN_MAX], shown[SYMBOL_LEN_MAX];
	const char *name = ptc_call_function_name(s, p->function, buf, sizeof(buf));

	ptc_plain_copy(shown, sizeof(shown), *name ? name : "??");
	fprintf(f, "%016" PRIx64 " T %s", p->address % RANGE, shown);
	if (strlen(name) >= sizeof(shown)) /* keep functions apart that begin the same */
		fprintf(f, "...%" PRIx64, p->address);
	fputc('\n', f);
}

/* Writes the symbols @v[0..n) of one module. */
static int write_module(struct ptc_uftrace_addresses *a, const struct ptc_call_stream *s,
			const char *folder, const struct placed *v, size_t n, struct ptc_err *err)
{
	const size_t module = module_of(v[0].address);
	FILE *f = create_symbols(a, module, s, folder, err);
	size_t i;

	if (!f)
		return err->code;
	fprintf(f, "# symbols: %zu\n# path name: %s\n", n + 1, a->modules[module].path);
	for (i = 0; i < n; i++)
		put_symbol(f, s, &v[i]);
	fprintf(f, "%016" PRIx64 " ? __sym_end\n", v[n - 1].address % RANGE + SPACING);
	return ptc_folder_file_close(f, folder, last_part(a->modules[module].path), err);
}

static int write_map(const struct ptc_uftrace_addresses *a, const char *folder, const char *id,
		     struct ptc_err *err)
{
	char name[64];
	FILE *f;
	size_t i;

	(void)snprintf(name, sizeof(name), "sid-%s.map", id);
	f = ptc_folder_file_create(folder, name, err);
	if (!f)
		return err->code;
	for (i = 0; i < a->nmodules; i++)
		fprintf(f,
			"%012" PRIx64 "-%012" PRIx64
			" r-xp 00000000 00:00 0                          %s\n",
			begin_of(i), begin_of(i) + RANGE, a->modules[i].path);
	fputs(STACK_MAP, f);
	return ptc_folder_file_close(f, folder, name, err);
}

int ptc_uftrace_write_symbols(struct ptc_uftrace_addresses *a, const struct ptc_call_stream *s,
			      const char *folder, const char *id, struct ptc_err *err)
{
	size_t n, from, to;
	struct placed *v = sorted_functions(a, &n);
	int rc = 0;

	if (!v)
		return ptc_fail_mem(err);
	for (from = 0; from < n && !rc; from = to) {
		for (to = from + 1;
		     to < n && module_of(v[to].address) == module_of(v[from].address); to++)
			;
		rc = write_module(a, s, folder, v + from, to - from, err);
	}
	free(v);
	return rc ? rc : write_map(a, folder, id, err);
}

const char *ptc_uftrace_path(const struct ptc_uftrace_addresses *a, const char *name)
{
	size_t i;

	for (i = 0; i < a->nmodules; i++)
		if (a->modules[i].path && *name &&
		    !strncmp(last_part(a->modules[i].path), name, strlen(name)))
			return a->modules[i].path;
	return NULL;
}
