/* SPDX-License-Identifier: MIT */
#include "auxtrace/bundle/manifest.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elfnote.h"
#include "base/err.h"
#include "base/grow.h"
#include "ptcap/version.h"

static const char format_name[] = "ptcap bundle";

static const char *const kind_names[PTC_MEMBER_KINDS] = {
	[PTC_MEMBER_RECORDING] = "recording", [PTC_MEMBER_FOLDER] = "folder",
	[PTC_MEMBER_PART] = "part",	      [PTC_MEMBER_KCORE] = "kcore",
	[PTC_MEMBER_KALLSYMS] = "kallsyms",   [PTC_MEMBER_MODULES] = "modules",
	[PTC_MEMBER_CODE] = "code",	      [PTC_MEMBER_VDSO] = "vdso",
	[PTC_MEMBER_DEBUG] = "debug",	      [PTC_MEMBER_DATA] = "data",
};

/* Names of files in a folder of perf's cache: tools/perf/util/build-id.c. */
static const char *const leaves[PTC_MEMBER_KINDS] = {
	[PTC_MEMBER_CODE] = "elf",
	[PTC_MEMBER_VDSO] = "vdso",
	[PTC_MEMBER_DEBUG] = "debug",
};

/* Names of members that a bundle has once. perf reads the folder perf.data. */
static const char *const fixed_names[PTC_MEMBER_KINDS] = {
	[PTC_MEMBER_RECORDING] = "perf.data",
	[PTC_MEMBER_FOLDER] = "perf.data/data",
	[PTC_MEMBER_KCORE] = "perf.data/kcore_dir/kcore",
	[PTC_MEMBER_KALLSYMS] = "perf.data/kcore_dir/kallsyms",
	[PTC_MEMBER_MODULES] = "perf.data/kcore_dir/modules",
};

void ptc_manifest_release(struct ptc_manifest *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		free(m->members[i].path);
	free(m->members);
	*m = (struct ptc_manifest){ .members = NULL };
}

/* Is @s text that JSON can hold? */
static bool is_utf8(const char *s)
{
	json_t *j = json_string(s);
	const bool ok = j;

	json_decref(j);
	return ok;
}

int ptc_manifest_add(struct ptc_manifest *m, const struct ptc_member *member, struct ptc_err *err)
{
	struct ptc_member copy = *member;

	if (m->n >= PTC_MANIFEST_MEMBERS)
		return ptc_fail(err, PTC_E_LIMIT, "a bundle has at most %d members",
				PTC_MANIFEST_MEMBERS);
	if (!fixed_names[member->kind] && member->kind != PTC_MEMBER_PART && !member->id.len &&
	    !member->path)
		return ptc_fail(err, PTC_E_USAGE, "a member has neither a build-id nor a path");
	if (member->path && strlen(member->path) > PTC_MANIFEST_PATH_MAX)
		return ptc_fail(err, PTC_E_USAGE, "a path is longer than %d bytes",
				PTC_MANIFEST_PATH_MAX);
	if (member->path && !is_utf8(member->path)) {
		if (!member->id.len)
			return ptc_fail(err, PTC_E_USAGE, "the path '%s' is not UTF-8",
					member->path);
		copy.path = NULL;
	}
	if (!ptc_grow(&m->members, &m->cap, m->n + 1, sizeof(*m->members)))
		return ptc_fail_mem(err);
	copy.path = copy.path ? strdup(copy.path) : NULL;
	if (member->path && !copy.path && !member->id.len)
		return ptc_fail_mem(err);
	m->members[m->n++] = copy;
	return 0;
}

void ptc_manifest_name(const struct ptc_manifest *m, size_t i, char ret[PTC_MANIFEST_NAME_SIZE])
{
	const struct ptc_member *member = &m->members[i];
	char hex[2 * PTC_BUILD_ID_MAX + 1];

	ptc_build_id_hex(&member->id, hex);
	if (fixed_names[member->kind])
		(void)snprintf(ret, PTC_MANIFEST_NAME_SIZE, "%s", fixed_names[member->kind]);
	else if (member->kind == PTC_MEMBER_PART)
		(void)snprintf(ret, PTC_MANIFEST_NAME_SIZE, "perf.data/data.%zu", i - 1);
	else if (member->id.len && leaves[member->kind])
		(void)snprintf(ret, PTC_MANIFEST_NAME_SIZE, ".build-id/%.2s/%s/%s", hex, hex + 2,
			       leaves[member->kind]);
	else
		(void)snprintf(ret, PTC_MANIFEST_NAME_SIZE, "files/%zu", i);
}

size_t ptc_manifest_find_id(const struct ptc_manifest *m, enum ptc_member_kind kind,
			    const struct ptc_build_id *id)
{
	size_t i;

	for (i = 0; i < m->n && id->len; i++)
		if (m->members[i].kind == kind && ptc_build_id_same(&m->members[i].id, id))
			return i;
	return SIZE_MAX;
}

size_t ptc_manifest_find_path(const struct ptc_manifest *m, enum ptc_member_kind kind,
			      const char *path)
{
	size_t i;

	for (i = 0; i < m->n; i++) {
		const struct ptc_member *member = &m->members[i];

		if (member->kind == kind && !member->id.len && member->path &&
		    !strcmp(member->path, path))
			return i;
	}
	return SIZE_MAX;
}

size_t ptc_manifest_find_kind(const struct ptc_manifest *m, enum ptc_member_kind kind)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->members[i].kind == kind)
			return i;
	return SIZE_MAX;
}

/* --- print --- */

/* Returns the JSON of a member; NULL: out of memory. */
static json_t *print_member(const struct ptc_manifest *m, size_t i)
{
	const struct ptc_member *member = &m->members[i];
	char name[PTC_MANIFEST_NAME_SIZE], hex[2 * PTC_BUILD_ID_MAX + 1], sum[PTC_SHA256_HEX];
	json_t *j;
	int failed = 0;

	ptc_manifest_name(m, i, name);
	ptc_build_id_hex(&member->id, hex);
	ptc_sha256_hex(member->sha256, sum);
	j = json_pack("{s:s, s:s, s:I, s:s}", "name", name, "kind", kind_names[member->kind],
		      "size", (json_int_t)member->size, "sha256", sum);
	if (j && member->id.len)
		failed |= json_object_set_new(j, "build_id", json_string(hex));
	if (j && member->path)
		failed |= json_object_set_new(j, "path", json_string(member->path));
	if (j && member->ino)
		failed |= json_object_set_new(j, "inode", json_integer((json_int_t)member->ino));
	if (j && member->partial)
		failed |= json_object_set_new(j, "partial", json_true());
	if (!failed)
		return j;
	json_decref(j);
	return NULL;
}

int ptc_manifest_print(const struct ptc_manifest *m, struct ptc_buf *out, struct ptc_err *err)
{
	json_t *list = json_array(), *j;
	int failed = !list;
	char *text;
	size_t i;

	for (i = 0; i < m->n && !failed; i++)
		failed = json_array_append_new(list, print_member(m, i));
	j = json_pack("{s:s, s:i, s:s, s:o}", "format", format_name, "version",
		      PTC_MANIFEST_VERSION, "writer", ptc_version(), "members", list);
	text = failed || !j ? NULL : json_dumps(j, JSON_INDENT(1));
	json_decref(j);
	if (!text)
		return ptc_fail_mem(err);
	ptc_buf_put(out, text, strlen(text));
	ptc_buf_put(out, "\n", 1);
	free(text);
	return ptc_buf_failed(out) ? ptc_fail_mem(err) : 0;
}

/* --- parse --- */

static bool parse_digit(char c, uint8_t *ret)
{
	if (c >= '0' && c <= '9')
		*ret = (uint8_t)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*ret = (uint8_t)(c - 'a' + 10);
	else
		return false;
	return true;
}

/* Parses lower-case hexadecimal digits. Returns the number of bytes; 0: malformed, or too long. */
static size_t parse_bytes(const char *hex, uint8_t *out, size_t max)
{
	size_t i, n = strlen(hex) / 2;
	uint8_t high, low;

	if (n > max || strlen(hex) % 2)
		return 0;
	for (i = 0; i < n; i++) {
		if (!parse_digit(hex[2 * i], &high) || !parse_digit(hex[2 * i + 1], &low))
			return 0;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return n;
}

static bool parse_kind(const char *s, enum ptc_member_kind *ret)
{
	size_t i;

	for (i = 0; s && i < PTC_MEMBER_KINDS; i++)
		if (!strcmp(s, kind_names[i])) {
			*ret = (enum ptc_member_kind)i;
			return true;
		}
	return false;
}

/* Parses a number of @j that must not be negative. Without @required, 0 if there is none. */
static bool parse_count(const json_t *j, const char *key, bool required, uint64_t *ret)
{
	const json_t *v = json_object_get(j, key);

	*ret = 0;
	if (!v)
		return !required;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(v);
	return true;
}

/* Parses an optional truth value of @j. */
static bool parse_truth(const json_t *j, const char *key, bool *ret)
{
	const json_t *v = json_object_get(j, key);

	*ret = json_is_true(v);
	return !v || json_is_boolean(v);
}

/* Parses an optional text of @j. */
static bool parse_text(const json_t *j, const char *key, const char **ret)
{
	const json_t *v = json_object_get(j, key);

	*ret = json_string_value(v);
	return !v || *ret;
}

static bool parse_fields(const json_t *j, struct ptc_member *ret, const char **ret_path)
{
	const char *sum = json_string_value(json_object_get(j, "sha256")), *hex;

	if (!parse_kind(json_string_value(json_object_get(j, "kind")), &ret->kind) ||
	    !parse_count(j, "size", true, &ret->size) || ret->size > PTC_MANIFEST_BYTES ||
	    !parse_count(j, "inode", false, &ret->ino) ||
	    !parse_truth(j, "partial", &ret->partial) || !parse_text(j, "build_id", &hex) ||
	    !parse_text(j, "path", ret_path) || !sum ||
	    parse_bytes(sum, ret->sha256, PTC_SHA256_SIZE) != PTC_SHA256_SIZE)
		return false;
	if (hex)
		ret->id.len = (uint8_t)parse_bytes(hex, ret->id.bytes, PTC_BUILD_ID_MAX);
	return !hex || ret->id.len;
}

/* May a member of @kind follow the members of @m? */
static bool may_follow(const struct ptc_manifest *m, enum ptc_member_kind kind)
{
	const bool first = kind == PTC_MEMBER_RECORDING || kind == PTC_MEMBER_FOLDER;

	if (first || !m->n)
		return first && !m->n;
	if (kind == PTC_MEMBER_PART)
		return m->members[m->n - 1].kind == PTC_MEMBER_FOLDER ||
		       m->members[m->n - 1].kind == PTC_MEMBER_PART;
	return !fixed_names[kind] || m->members[0].kind == PTC_MEMBER_FOLDER;
}

static bool has_member(const struct ptc_manifest *m, const struct ptc_member *member)
{
	if (fixed_names[member->kind])
		return ptc_manifest_find_kind(m, member->kind) < SIZE_MAX;
	if (member->id.len)
		return ptc_manifest_find_id(m, member->kind, &member->id) < SIZE_MAX;
	return member->path && ptc_manifest_find_path(m, member->kind, member->path) < SIZE_MAX;
}

static int parse_member(const json_t *j, struct ptc_manifest *ret, struct ptc_err *err)
{
	const char *name = json_string_value(json_object_get(j, "name")), *path;
	struct ptc_member member = { .size = 0 };
	char right[PTC_MANIFEST_NAME_SIZE];
	char *copy;
	int rc;

	if (!name || !parse_fields(j, &member, &path) || !may_follow(ret, member.kind))
		return ptc_fail(err, PTC_E_FORMAT, "member %zu of the manifest is malformed",
				ret->n);
	copy = path ? strdup(path) : NULL;
	if (path && !copy)
		return ptc_fail_mem(err);
	member.path = copy;
	if (has_member(ret, &member))
		rc = ptc_fail(err, PTC_E_FORMAT, "the manifest lists '%s' twice", name);
	else
		rc = ptc_manifest_add(ret, &member, err);
	free(copy);
	if (rc)
		return rc;
	ptc_manifest_name(ret, ret->n - 1, right);
	return strcmp(name, right) ?
		       ptc_fail(err, PTC_E_FORMAT,
				"the manifest lists the name '%s' instead of '%s'", name, right) :
		       0;
}

static int parse_members(const json_t *list, struct ptc_manifest *ret, struct ptc_err *err)
{
	const size_t n = json_array_size(list);
	uint64_t total = 0;
	size_t i;
	int rc = 0;

	if (!n)
		return ptc_fail(err, PTC_E_FORMAT, "the manifest lists no members");
	for (i = 0; i < n && !rc; i++) {
		rc = parse_member(json_array_get(list, i), ret, err);
		if (!rc)
			total += ret->members[i].size;
		if (!rc && total > PTC_MANIFEST_BYTES)
			rc = ptc_fail(err, PTC_E_LIMIT,
				      "the members have more than %" PRIu64 " bytes",
				      PTC_MANIFEST_BYTES);
	}
	return rc;
}

static int parse_root(const json_t *root, struct ptc_manifest *ret, struct ptc_err *err)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	uint64_t version;

	if (!format || strcmp(format, format_name) != 0 ||
	    !parse_count(root, "version", true, &version))
		return ptc_fail(err, PTC_E_FORMAT, "'" PTC_MANIFEST_NAME "' is of no bundle");
	if (version != PTC_MANIFEST_VERSION)
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"the bundle has version %" PRIu64 ", this ptcap reads version %d",
				version, PTC_MANIFEST_VERSION);
	return parse_members(json_object_get(root, "members"), ret, err);
}

int ptc_manifest_parse(const void *text, size_t len, struct ptc_manifest *ret, struct ptc_err *err)
{
	json_error_t why;
	json_t *root;
	int rc;

	if (len > PTC_MANIFEST_MAX)
		return ptc_fail(err, PTC_E_LIMIT, "the manifest has more than %d bytes",
				PTC_MANIFEST_MAX);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!root)
		return ptc_fail(err, PTC_E_FORMAT, "'" PTC_MANIFEST_NAME "' is not JSON: line %d",
				why.line);
	rc = parse_root(root, ret, err);
	json_decref(root);
	return rc;
}
