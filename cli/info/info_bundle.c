/* SPDX-License-Identifier: MIT */
#include "cli/info/info_bundle.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/elfnote.h"
#include "base/plural.h"
#include "base/sha256.h"
#include "ptcap/bundle.h"

/* What the text calls a kind, and what the manifest calls it. */
struct kind_words {
	const char *text; /* singular; NULL: a file of the recording itself, which is not counted */
	const char *name;
};

static const struct kind_words *words_of(enum ptc_member_kind kind)
{
	static const struct kind_words words[] = {
		[PTC_MEMBER_RECORDING] = { NULL, "recording" },
		[PTC_MEMBER_CODE] = { "program file", "code" },
		[PTC_MEMBER_VDSO] = { "vdso", "vdso" },
		[PTC_MEMBER_DEBUG] = { "debug file", "debug" },
		[PTC_MEMBER_DATA] = { "file of generated code", "data" },
		[PTC_MEMBER_FOLDER] = { NULL, "folder" },
		[PTC_MEMBER_PART] = { NULL, "part" },
		[PTC_MEMBER_KCORE] = { "kcore", "kcore" },
		[PTC_MEMBER_KALLSYMS] = { "kallsyms", "kallsyms" },
		[PTC_MEMBER_MODULES] = { "list of modules", "modules" },
	};
	static const struct kind_words other = { "other file", "other" };

	return (size_t)kind < sizeof(words) / sizeof(words[0]) ? &words[kind] : &other;
}

/* Members of one kind, or of all kinds. */
struct member_count {
	uint64_t n, partial, bytes;
};

static void count_member(struct member_count *c, const struct ptc_bundle_member *m)
{
	c->n++;
	c->partial += m->partial;
	c->bytes += m->size;
}

static void print_kind(const struct ptc_bundle *b, const struct kind_words *words,
		       const char **separator)
{
	const size_t n = ptc_bundle_nmembers(b);
	struct member_count c = { .n = 0 };
	size_t i;

	for (i = 0; i < n; i++)
		if (words_of(ptc_bundle_member(b, i)->kind) == words)
			count_member(&c, ptc_bundle_member(b, i));
	if (!c.n || !words->text)
		return;
	printf("%s%" PRIu64 " %s%s", *separator, c.n, words->text, ptc_plural(c.n));
	if (c.partial)
		printf(" (%" PRIu64 " in part)", c.partial);
	*separator = ", ";
}

void ptc_info_bundle_text(const struct ptc_file *f)
{
	const struct ptc_bundle *b = ptc_file_bundle(f);
	const size_t n = b ? ptc_bundle_nmembers(b) : 0;
	struct member_count all = { .n = 0 };
	const char *separator = ": ";
	size_t i;

	if (!b)
		return;
	for (i = 0; i < n; i++)
		if (words_of(ptc_bundle_member(b, i)->kind)->text)
			count_member(&all, ptc_bundle_member(b, i));
	printf("%-9s %" PRIu64 " file%s, %" PRIu64 " bytes", "bundle", all.n, ptc_plural(all.n),
	       all.bytes);
	for (i = PTC_MEMBER_RECORDING; i <= PTC_MEMBER_MODULES; i++)
		print_kind(b, words_of((enum ptc_member_kind)i), &separator);
	printf("\n");
}

static json_t *member_json(const struct ptc_bundle_member *m)
{
	char id[2 * PTC_BUILD_ID_MAX + 1], sum[PTC_SHA256_HEX];

	ptc_build_id_hex(&m->id, id);
	ptc_sha256_hex(m->sha256, sum);
	return json_pack("{s:s, s:s, s:s?, s:s?, s:I, s:s, s:b}", "name", m->name, "kind",
			 words_of(m->kind)->name, "path", m->path, "build_id",
			 m->id.len ? id : NULL, "size", (json_int_t)m->size, "sha256", sum,
			 "partial", (int)m->partial);
}

json_t *ptc_info_bundle_json(const struct ptc_file *f)
{
	const struct ptc_bundle *b = ptc_file_bundle(f);
	const size_t n = b ? ptc_bundle_nmembers(b) : 0;
	json_t *list, *o;
	size_t i;

	if (!b)
		return json_null();
	list = json_array();
	for (i = 0; i < n; i++)
		if (!list || json_array_append_new(list, member_json(ptc_bundle_member(b, i))))
			break;
	o = list && i == n ? json_object() : NULL;
	if (o && !json_object_set(o, "members", list)) {
		json_decref(list);
		return o;
	}
	json_decref(list);
	json_decref(o);
	return NULL;
}
