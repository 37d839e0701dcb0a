/* SPDX-License-Identifier: MIT */
/*
 * Description: reads the vendored perf_event.h as text. Each name is in our tables, or is listed
 * here with the reason why it is not.
 */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli/dump/abi_fields.h"
#include "cli/dump/abi_names.h"
#include "lib_perfdata.h"

static const struct exemption {
	const char *name; /* "*" at the end: any suffix; at the start: any prefix */
	const char *reason;
} exemptions[] = {
	{ "PERF_BRANCH_ENTRY_INFO_BITS_MAX", "how many bits of a branch entry are named" },
	{ "*_MAX", "counts the others, and grows" },
	{ "NR_NAMESPACES", "counts the others" },
	{ "*_SHIFT", "where the bits of a name that we have begin" },
	{ "_LINUX_PERF_EVENT_H", "the guard of the header" },
	{ "PERF_HW_EVENT_MASK", "where attr.config has the event, beside the PMU" },
	{ "PERF_SAMPLE_WEIGHT_TYPE", "two bits that we have" },
	{ "PERF_SAMPLE_BRANCH_PLM_ALL", "three bits that we have" },
	{ "PERF_BR_ARM64_*",
	  "other names of PERF_BR_NEW_ARCH_1 to 5, on a machine without Intel PT" },
	{ "PERF_TXN_ABORT_MASK", "where a transaction's abort code is" },
	{ "PERF_RECORD_MISC_CPUMODE_MASK", "where misc has the CPU mode" },
	{ "PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK", "where flags have the format" },
	{ "PERF_MAX_STACK_DEPTH", "a default of the kernel's" },
	{ "PERF_MAX_CONTEXTS_PER_STACK", "a default of the kernel's" },
	{ "PERF_MEM_S", "makes a data_src of names that we have" },
	/* members of structures */
	{ "*.__reserved*", "not named by the kernel either" },
	{ "*.reserved", "not named by the kernel either" },
	{ "*.mem_rsvd", "not named by the kernel either" },
	{ "*.cap_____res", "not named by the kernel either" },
	{ "perf_event_header.*", "read by ptc_rec_next" },
	{ "perf_ns_link_info.*", "read by ptc_sb_next_namespace" },
	{ "perf_event_query_bpf.*", "an argument of an ioctl, never in a file" },
};

enum { NEXEMPTIONS = sizeof(exemptions) / sizeof(exemptions[0]) };

static bool used[NEXEMPTIONS];
static int missing, found;

static bool matches(const char *pattern, const char *name)
{
	const size_t n = strlen(name), p = strlen(pattern);

	if (pattern[0] == '*' && pattern[p - 1] == '*') {
		char middle[64];

		snprintf(middle, sizeof(middle), "%.*s", (int)p - 2, pattern + 1);
		return strstr(name, middle) != NULL;
	}
	if (pattern[0] == '*')
		return n >= p - 1 && !strcmp(name + n - (p - 1), pattern + 1);
	if (pattern[p - 1] == '*')
		return !strncmp(name, pattern, p - 1);
	return !strcmp(name, pattern);
}

static bool is_exempt(const char *name)
{
	size_t i;

	for (i = 0; i < NEXEMPTIONS; i++)
		if (matches(exemptions[i].name, name)) {
			used[i] = true;
			return true;
		}
	return false;
}

static bool in_table(const struct ptc_names *t, const char *name)
{
	char whole[128];
	size_t i;

	for (i = 0; i < t->n; i++) {
		snprintf(whole, sizeof(whole), "%s%s%s", t->prefix, t->list[i].name, t->suffix);
		if (!strcmp(whole, name))
			return true;
	}
	return false;
}

static bool has_name(const char *name)
{
	uint32_t type;
	size_t i;

	for (i = 0; ptc_names_all[i]; i++)
		if (in_table(ptc_names_all[i], name))
			return true;
	for (type = 0; type < PTC_REC_USER_START; type++) {
		char whole[64];

		if (in_table(ptc_names_misc(type), name))
			return true;
		if (!ptc_rec_name(type))
			continue;
		snprintf(whole, sizeof(whole), "PERF_RECORD_%s", ptc_rec_name(type));
		if (!strcmp(whole, name))
			return true;
	}
	return false;
}

static bool has_member(const char *of, const char *name)
{
	size_t i, j;

	for (i = 0; ptc_fields_all[i]; i++) {
		const struct ptc_fields *t = ptc_fields_all[i];

		for (j = 0; !strcmp(t->of, of) && j < t->n; j++)
			if (!strcmp(t->list[j].name, name))
				return true;
	}
	return false;
}

static void look_for(const char *of, const char *name)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s%s", of ? of : "", of ? "." : "", name);
	found++;
	if ((of ? has_member(of, name) : has_name(name)) || is_exempt(whole))
		return;
	fprintf(stderr, "%s has no name in our tables, and no exemption here\n", whole);
	missing++;
}

/* Returns the header without its comments. Caller frees the text. */
static char *read_header(void)
{
	FILE *f = fopen(PTCAP_UAPI, "r");
	char *text = calloc(1, 1 << 20), *from, *to;
	size_t n;

	cr_assert(f && text, "%s", PTCAP_UAPI);
	n = fread(text, 1, (1 << 20) - 1, f);
	cr_assert(n > 10000 && n < (1 << 20) - 1);
	fclose(f);
	for (from = to = text; *from;) {
		if (!strncmp(from, "/*", 2)) {
			from = strstr(from, "*"
					    "/") +
			       2;
			*to++ = ' ';
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
	return text;
}

static bool is_word(int c)
{
	return isalnum(c) || c == '_';
}

/* Copies the word at @p. Returns the position behind the word. */
static const char *get_word(const char *p, char *word, size_t size)
{
	size_t n = 0;

	for (; is_word(*p); p++)
		if (n + 1 < size)
			word[n++] = *p;
	word[n] = 0;
	return p;
}

/* Removes the #define lines from the text and looks up each name. */
static void look_for_macros(char *text)
{
	char word[96];
	char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line != '#')
			continue;
		if (!strncmp(line, "#define", 7)) {
			const char *p = line + 7;

			while (isspace((unsigned char)*p))
				p++;
			(void)get_word(p, word, sizeof(word));
			look_for(NULL, word);
		}
		while (*line && *line != '\n') { /* also the continuation lines */
			if (line[0] == '\\' && line[1] == '\n')
				*line++ = ' ';
			*line++ = ' ';
		}
	}
}

/* Looks up each word that follows a "{" or a ",". */
static const char *look_for_enumerators(const char *p)
{
	char word[96];
	bool first = true;

	for (p++; *p && *p != '}';) {
		if (is_word(*p)) {
			p = get_word(p, word, sizeof(word));
			if (first)
				look_for(NULL, word);
			first = false;
		} else {
			first |= *p++ == ',';
		}
	}
	return p;
}

/* Looks up the declarators: each word in front of a ";", ":", "," or "[". */
static const char *look_for_members(const char *of, const char *p)
{
	char word[96] = "";
	int depth = 0;

	do {
		if (is_word(*p)) {
			const bool digit = isdigit((unsigned char)*p) != 0;

			p = get_word(p, word, sizeof(word));
			if (digit) /* a width, not a name */
				word[0] = 0;
			continue;
		}
		depth += (*p == '{') - (*p == '}');
		if (strchr(";:,[", *p) && word[0])
			look_for(of, word);
		if (*p == '[') /* skip to the "]" */
			p += strcspn(p, "]");
		if (!isspace((unsigned char)*p))
			word[0] = 0;
		p++;
	} while (depth && *p);
	return p;
}

static void look_for_types(const char *text)
{
	char kind[96], name[96];
	const char *p = text;

	while (*p) {
		if (!is_word(*p)) {
			p++;
			continue;
		}
		p = get_word(p, kind, sizeof(kind));
		while (isspace((unsigned char)*p))
			p++;
		if (strcmp(kind, "enum") != 0 && strcmp(kind, "struct") != 0 &&
		    strcmp(kind, "union") != 0)
			continue;
		p = get_word(p, name, sizeof(name));
		while (isspace((unsigned char)*p))
			p++;
		if (*p != '{')
			continue;
		p = !strcmp(kind, "enum") ? look_for_enumerators(p) : look_for_members(name, p);
	}
}

Test(abi_names, every_name_of_the_header_is_in_a_table_or_exempt)
{
	char *text = read_header();
	size_t i;

	look_for_macros(text);
	look_for_types(text);
	free(text);
	cr_assert_eq(missing, 0, "%d of %d names", missing, found);
	cr_assert_gt(found, 450, "only %d names were found: is the header read?", found);
	for (i = 0; i < NEXEMPTIONS; i++)
		cr_assert(used[i], "the exemption of %s is stale: %s", exemptions[i].name,
			  exemptions[i].reason);
}

/* A table may have two names for one value only if the header has them too. */
Test(abi_names, values_have_one_name_each)
{
	size_t i, j;

	for (i = 0; ptc_names_all[i]; i++)
		for (j = 0; j < ptc_names_all[i]->n; j++) {
			const struct ptc_name *n = &ptc_names_all[i]->list[j];

			cr_assert_str_eq(ptc_names_find(ptc_names_all[i], n->value), n->name);
		}
	cr_assert_null(ptc_names_find(&ptc_names_type, 77));
	cr_assert_str_eq(ptc_names_find(&ptc_names_sample_type, PERF_SAMPLE_CGROUP), "CGROUP");
	cr_assert_str_eq(ptc_names_find(&ptc_names_ns, 3), "PID");
	cr_assert_str_eq(ptc_names_find(&ptc_names_context, (uint64_t)-512), "USER");
	cr_assert_str_eq(ptc_names_find(&ptc_names_attr_size, 112), "VER5");
}

Test(abi_names, bits_of_misc_go_by_the_record)
{
	cr_assert_str_eq(ptc_names_find(ptc_names_misc(PERF_RECORD_COMM), 1 << 13), "COMM_EXEC");
	cr_assert_str_eq(ptc_names_find(ptc_names_misc(PERF_RECORD_MMAP2), 1 << 14),
			 "MMAP_BUILD_ID");
	cr_assert_str_eq(ptc_names_find(ptc_names_misc(PERF_RECORD_SWITCH), 1 << 14),
			 "SWITCH_OUT_PREEMPT");
	cr_assert_str_eq(ptc_names_find(ptc_names_misc(PERF_RECORD_SAMPLE), 1 << 14), "EXACT_IP");
	cr_assert_str_eq(ptc_names_find(ptc_names_misc(PTC_REC_HEADER_BUILD_ID), 1 << 15),
			 "BUILD_ID_SIZE");
	cr_assert_null(ptc_names_find(ptc_names_misc(PERF_RECORD_AUX), 1 << 13));
}

static const struct ptc_field *find_field(const struct ptc_fields *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->list[i].name, name))
			return &t->list[i];
	cr_assert_fail("no field %s", name);
	return NULL;
}

/* The compiler and the table must use exactly the same bits for a bit-field. */
#define CHECK_BITS(name, at, width)                                                                \
	do {                                                                                       \
		const struct ptc_field *f = find_field(TABLE, #name);                              \
		uint64_t sum = 0;                                                                  \
		size_t i_;                                                                         \
                                                                                                   \
		memset(&o, 0, sizeof(o));                                                          \
		cr_assert_eq(ptc_field_get(f, &o), 0);                                             \
		o.name--; /* all ones */                                                           \
		cr_assert_eq(ptc_field_get(f, &o), (UINT64_C(1) << (width)) - 1, #name);           \
		for (i_ = 0; i_ < sizeof(o); i_++)                                                 \
			sum += (uint64_t)__builtin_popcount(((const uint8_t *)&o)[i_]);            \
		cr_assert_eq(sum, width, #name);                                                   \
	} while (0);

Test(abi_names, bit_fields_are_where_the_compiler_puts_them)
{
	{
#define TABLE &ptc_fields_attr
		struct perf_event_attr o;

		PTC_ATTR_BITS(CHECK_BITS)
		PTC_ATTR_AUX_BITS(CHECK_BITS)
#undef TABLE
	}
	{
#define TABLE &ptc_fields_mmap_page
		static struct perf_event_mmap_page o;

		PTC_CAP_BITS(CHECK_BITS)
#undef TABLE
	}
	{
#define TABLE &ptc_fields_branch_entry
		struct perf_branch_entry o;

		PTC_BRANCH_BITS(CHECK_BITS)
#undef TABLE
	}
	{
#define TABLE &ptc_fields_mem_data_src
		union perf_mem_data_src o;

		PTC_MEM_BITS(CHECK_BITS)
#undef TABLE
	}
}

/* In every structure, fields that are no aliases follow one another without overlap. */
Test(abi_names, fields_do_not_overlap)
{
	size_t i, j;

	for (i = 0; ptc_fields_all[i]; i++) {
		const struct ptc_fields *t = ptc_fields_all[i];
		unsigned int end = 0;

		for (j = 0; j < t->n; j++) {
			cr_assert(t->list[j].bits && t->list[j].bits <= 64);
			if (t->list[j].alias)
				continue;
			cr_assert_geq(t->list[j].at, end, "%s.%s", t->of, t->list[j].name);
			end = t->list[j].at + t->list[j].bits;
		}
	}
}

Test(abi_names, whole_fields_are_read)
{
	struct perf_event_attr a = { .type = 3, .config = UINT64_MAX, .clockid = -1 };
	union perf_sample_weight w = { .full = UINT64_C(0x0003000200000001) };

	a.sample_max_stack = 0xabcd;
	cr_assert_eq(ptc_field_get(find_field(&ptc_fields_attr, "type"), &a), 3);
	cr_assert_eq(ptc_field_get(find_field(&ptc_fields_attr, "config"), &a), UINT64_MAX);
	cr_assert_eq(ptc_field_get(find_field(&ptc_fields_attr, "sample_max_stack"), &a), 0xabcd);
	cr_assert_eq(ptc_field_get(find_field(&ptc_fields_attr, "clockid"), &a), UINT32_MAX);
	cr_assert(find_field(&ptc_fields_attr, "clockid")->is_signed);
	cr_assert(find_field(&ptc_fields_attr, "sample_freq")->alias);
	cr_assert_eq(ptc_field_get(find_field(&ptc_fields_weight, "var2_w"), &w), 2);
}

Test(abi_names, registers_have_their_names_on_x86)
{
	cr_assert_str_eq(ptc_reg_name(0), "AX");
	cr_assert_str_eq(ptc_reg_name(8), "IP");
	cr_assert_str_eq(ptc_reg_name(23), "R15");
	cr_assert_str_eq(ptc_reg_name(62), "XMM15");
	cr_assert_null(ptc_reg_name(24));
	cr_assert_null(ptc_reg_name(33));
	cr_assert_null(ptc_reg_name(64));
}
