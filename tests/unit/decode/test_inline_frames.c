/* SPDX-License-Identifier: MIT */
/* Description: addr2line and llvm-symbolizer find the same inlined functions. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/image/codefile.h"
#include "decode/symbols/srcline.h"
#include "fewer.h"
#include "lib_skip.h"

enum { LINE = 1 << 16, ADDRESSES = 6000 };

static const char cxx[] = "#include <algorithm>\n"
			  "#include <map>\n"
			  "#include <string>\n"
			  "#include <vector>\n"
			  "struct point { int x, y; bool operator<(const point &o) const\n"
			  "	{ return x < o.x || (x == o.x && y < o.y); } };\n"
			  "static volatile int sink;\n"
			  "static inline int twice(int x) { return x + x * sink; }\n"
			  "static inline int fourfold(int x) { return twice(x) +\n"
			  "	twice(x + sink); }\n"
			  "template <class T> static inline T most(const std::vector<T> &v)\n"
			  "{ return *std::max_element(v.begin(), v.end()); }\n"
			  "int main(int n, char **a)\n"
			  "{\n"
			  "	std::map<std::string, std::vector<point>> m;\n"
			  "	std::vector<int> all;\n"
			  "	for (int i = 0; i < n; i++) {\n"
			  "		m[a[i]].push_back({fourfold(i), n});\n"
			  "		all.push_back(twice(i));\n"
			  "	}\n"
			  "	for (auto &e : m)\n"
			  "		std::sort(e.second.begin(), e.second.end(),\n"
			  "			[](auto &p, auto &q) { return q < p; });\n"
			  "	return most(all) + (int)m.size();\n"
			  "}\n";
static const char rust[] = "fn twice(x: usize) -> usize { x * 2 + 1 }\n"
			   "fn main() {\n"
			   "    let a: Vec<String> = std::env::args().collect();\n"
			   "    let mut v: Vec<usize> = a.iter().map(|s| twice(s.len()))\n"
			   "        .filter(|n| n % 3 != 0).collect();\n"
			   "    v.sort_by(|p, q| q.cmp(p));\n"
			   "    std::process::exit((v.iter().sum::<usize>() & 1) as i32);\n"
			   "}\n";

static char dir[] = "/tmp/ptcap-inline-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static void make_dir(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Writes "source" and runs @command, which makes "program" of it. */
static void compile(const char *source, const char *name, const char *command)
{
	FILE *f = fopen(name, "w");

	cr_assert_not_null(f);
	cr_assert_geq(fputs(source, f), 0);
	cr_assert_eq(fclose(f), 0);
	if (system(command) != 0)
		skip_without("compiler");
}

/* Writes addresses in the whole of .text to "addresses". *@ret_off: address to offset. */
static void list_addresses(uint64_t *ret_off)
{
	FILE *f = fopen("addresses", "w"), *program = fopen("program", "r");
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	uint64_t i;
	Elf *elf;

	cr_assert(f && program && elf_version(EV_CURRENT) != EV_NONE);
	elf = elf_begin(fileno(program), ELF_C_READ, NULL);
	cr_assert(elf && !elf_getshdrstrndx(elf, &names));
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) ||
		    strcmp(elf_strptr(elf, names, sh.sh_name), ".text") != 0)
			continue;
		*ret_off = sh.sh_offset - sh.sh_addr;
		for (i = 0; i < sh.sh_size; i += 1 + sh.sh_size / ADDRESSES)
			cr_assert_gt(fprintf(f, "0x%llx\n", (unsigned long long)(sh.sh_addr + i)),
				     0);
	}
	elf_end(elf);
	cr_assert_eq(fclose(f) | fclose(program), 0);
}

struct found {
	struct ptc_srclines lines;
	struct ptc_codefile *file;
	struct ptc_inline_frame frames[PTC_INLINE_MAX];
	size_t n, i;
	bool known; /* the functions */
	uint64_t addr;
	size_t inlined, odd;
};

/*
 * A tool that prints for each address lines with a name and with FILE:LINE, the innermost first.
 * Where DWARF has no function, for example in padding, all of them print an ELF symbol.
 */
struct tool {
	const char *name, *options;
	bool names_symbols; /* prints the ELF symbol as the name of the real function */
};

/*
 * addr2line of binutils 2.40 takes the ELF symbol, and its file, for a function without linkage
 * name, as programs of gcc have them. It does not know the rnglistx of clang. eu-addr2line 0.188
 * needs .debug_aranges, and prints a wrong chain where siblings overlap. gdb agrees with llvm.
 */
static const struct tool binutils = { "addr2line", "-a -i -f -e", false };
static const struct tool llvm = { "llvm-symbolizer", "-a -i --no-demangle -e", true };

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Makes "FILE:LINE" of "/PATH/FILE:LINE:COLUMN (discriminator 3)"; "?" if the line is not known. */
static const char *plain_place(char *place)
{
	char *end, *colon;
	int columns;

	place[strcspn(place, " \n")] = '\0';
	for (columns = 0, end = place; (end = strchr(end, ':')) != NULL; end++)
		columns++;
	colon = strrchr(place, ':');
	if (colon && columns > 1) /* the last number is the column */
		*colon = '\0';
	colon = strrchr(place, ':');
	if (!colon || !strcmp(colon, ":?") || !strcmp(colon, ":0"))
		return "?";
	return base_of(place);
}

/* Compares one function of the tool with the next one of @f. */
static void compare(struct found *f, const struct tool *tool, const char *name, char *text)
{
	const struct ptc_inline_frame *is = f->i < f->n ? &f->frames[f->i] : NULL;
	const char *place = plain_place(text), *function = is ? is->function : NULL;
	char got[1024] = "?";

	if (is && is->file)
		(void)snprintf(got, sizeof(got), "%s:%d", base_of(is->file), is->line);
	if (!f->known || (!function && !strcmp(name, "??")))
		function = name;
	if (tool->names_symbols && f->i + 1 == f->n)
		function = name;
	f->inlined += f->i > 0;
	f->i++;
	if (!function || strcmp(name, function) != 0 || strcmp(place, got) != 0) {
		if (f->odd++ < 20)
			cr_log_error("0x%llx function %zu of %zu: %s %s, but %s: %s %s",
				     (unsigned long long)f->addr, f->i, f->n,
				     function ? function : "none", got, tool->name, name, place);
	}
}

static void finish(struct found *f)
{
	if (f->i > 1 && f->i != f->n && f->odd++ < 20)
		cr_log_error("0x%llx: %zu functions instead of %zu", (unsigned long long)f->addr,
			     f->n, f->i);
}

static void begin_address(struct found *f, const char *text, uint64_t off)
{
	finish(f);
	f->addr = strtoull(text, NULL, 16);
	f->n = ptc_srcline_inlines(&f->lines, f->file, f->addr + off, f->frames);
	f->i = 0;
	f->known = f->n;
	if (f->n)
		return;
	/* Padding has a line, but no function. */
	f->frames[0] = (struct ptc_inline_frame){ .function = NULL };
	f->frames[0].file = ptc_srcline_find(&f->lines, f->file, f->addr + off, &f->frames[0].line);
	f->n = 1;
}

static bool is_installed(const char *program)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "which %s >which 2>&1", program);
	return !system(command);
}

static FILE *start(const struct tool *tool)
{
	char command[128];
	FILE *p;

	(void)snprintf(command, sizeof(command), "%s %s program <addresses", tool->name,
		       tool->options);
	p = popen(command, "r");
	cr_assert_not_null(p);
	return p;
}

/* Compares all functions that the tool prints with those of "program". */
static void compare_with(const struct tool *tool, size_t least)
{
	char *name = malloc(LINE), *place = malloc(LINE);
	struct ptc_codefiles files = { .n = 0, .mangled = true };
	struct found f = { .lines = PTC_SRCLINES_INIT };
	struct ptc_err err;
	uint64_t off = 0;
	FILE *p;

	list_addresses(&off);
	cr_assert_eq(ptc_codefiles_open(&files, "program", &f.file, &err), 0, "%s", err.msg);
	p = start(tool);
	cr_assert(name && place);
	while (fgets(name, LINE, p)) {
		name[strcspn(name, "\n")] = '\0';
		if (!strncmp(name, "0x", 2)) {
			begin_address(&f, name, off);
		} else if (*name) {
			cr_assert_not_null(fgets(place, LINE, p));
			compare(&f, tool, name, place);
		}
	}
	finish(&f);
	cr_assert_eq(pclose(p), 0);
	cr_assert_eq(f.odd, 0, "%zu functions differ from %s", f.odd, tool->name);
	cr_assert_geq(f.inlined, least, "only %zu inlined functions", f.inlined);
	ptc_srclines_release(&f.lines);
	ptc_codefiles_release(&files);
	free(name);
	free(place);
}

static void compare_all(const struct tool *tool, size_t least)
{
	if (!is_installed(tool->name))
		skip_without(tool->name);
	compare_with(tool, least);
}

TestSuite(inline_frames, .init = make_dir, .fini = remove_dir);

/* Compiles the C++ program, and compares all its functions. */
static void compare_cxx(const char *command)
{
	compile(cxx, "p.cpp", command);
	compare_all(&llvm, 2000);
}

Test(inline_frames, programs_of_gcc)
{
	compare_cxx("g++ -O2 -g -o program p.cpp >log 2>&1");
}

Test(inline_frames, programs_of_gcc_in_dwarf_4)
{
	compare_cxx("g++ -O3 -g -gdwarf-4 -o program p.cpp >log 2>&1");
}

Test(inline_frames, programs_of_clang)
{
	compare_cxx("clang++ -O2 -g -o program p.cpp >log 2>&1");
}

Test(inline_frames, programs_of_rust)
{
	compile(rust, "p.rs", "rustc -O -g -o program p.rs >log 2>&1");
	compare_all(&binutils, 500);
	compare_all(&llvm, 500);
}

/* --- damage --- */

struct damage {
	char *bytes; /* of the program */
	size_t len;
	size_t start[8], end[8], n; /* debug sections in the file */
};

static void read_program(struct damage *d)
{
	FILE *f = fopen("program", "r");
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	Elf *elf;

	cr_assert(f && elf_version(EV_CURRENT) != EV_NONE);
	elf = elf_begin(fileno(f), ELF_C_READ, NULL);
	cr_assert(elf && !elf_getshdrstrndx(elf, &names));
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		cr_assert(gelf_getshdr(scn, &sh));
		if (strncmp(elf_strptr(elf, names, sh.sh_name), ".debug_", 7) != 0 || d->n == 8)
			continue;
		d->start[d->n] = sh.sh_offset;
		d->end[d->n++] = sh.sh_offset + sh.sh_size;
	}
	elf_end(elf);
	cr_assert_eq(fseek(f, 0, SEEK_END), 0);
	d->len = (size_t)ftell(f);
	d->bytes = malloc(d->len);
	rewind(f);
	cr_assert(d->bytes && fread(d->bytes, 1, d->len, f) == d->len);
	cr_assert_eq(fclose(f), 0);
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Writes "damaged": the program with a few other bytes in one debug section. */
static void write_damaged(const struct damage *d, uint64_t *state)
{
	char *copy = malloc(d->len);
	const size_t k = random_number(state) % d->n;
	FILE *f = fopen("damaged", "w");
	size_t i;

	cr_assert(copy && f);
	memcpy(copy, d->bytes, d->len);
	for (i = 0; i < 6; i++)
		copy[d->start[k] + random_number(state) % (d->end[k] - d->start[k])] =
			(char)random_number(state);
	cr_assert_eq(fwrite(copy, 1, d->len, f), d->len);
	cr_assert_eq(fclose(f), 0);
	free(copy);
}

static size_t look_up_all(const char *name)
{
	struct ptc_inline_frame frames[PTC_INLINE_MAX];
	struct ptc_srclines lines = PTC_SRCLINES_INIT;
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_codefile *file;
	struct ptc_err err;
	size_t sum = 0, n, i;
	uint64_t off;

	cr_assert_eq(ptc_codefiles_open(&files, name, &file, &err), 0, "%s", err.msg);
	for (off = 0x1000; off < 0x6000; off += FEWER(7, 19)) {
		n = ptc_srcline_inlines(&lines, file, off, frames);
		cr_assert_leq(n, PTC_INLINE_MAX);
		for (i = 0; i < n; i++)
			sum += frames[i].function ? strlen(frames[i].function) : 0;
	}
	ptc_srclines_release(&lines);
	ptc_codefiles_release(&files);
	return sum;
}

Test(inline_frames, damaged_debug_information_does_no_harm)
{
	enum { DAMAGES = FEWER(400, 140) };
	struct damage d = { .n = 0 };
	uint64_t state = 0x9e3779b97f4a7c15;
	size_t i, other = 0, whole;

	compile(cxx, "p.cpp", "g++ -O2 -g -o program p.cpp >log 2>&1");
	read_program(&d);
	cr_assert_geq(d.n, 5);
	whole = look_up_all("program");
	cr_assert_gt(whole, FEWER(1000, 300));
	for (i = 0; i < DAMAGES; i++) {
		write_damaged(&d, &state);
		other += look_up_all("damaged") != whole;
	}
	cr_assert_gt(other, DAMAGES / FEWER(10, 20), "only %zu damages matter", other);
	free(d.bytes);
}
