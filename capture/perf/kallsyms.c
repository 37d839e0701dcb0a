/* SPDX-License-Identifier: MIT */
#include "capture/perf/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "base/lines.h"
#include "base/vec.h"

/* Returns the word at *p, in [p, end). Moves *p past the word and the blanks after it. */
static const char *word(const char **p, const char *end, size_t *ret_len)
{
	const char *w = *p;

	while (*p < end && **p != ' ' && **p != '\t')
		(*p)++;
	*ret_len = (size_t)(*p - w);
	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
	return w;
}

static bool hex(const char *w, size_t len, uint64_t *ret)
{
	char text[24];
	char *rest;

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, w, len);
	text[len] = '\0';
	*ret = strtoull(text, &rest, 16);
	return !*rest;
}

static bool is(const char *w, size_t len, const char *text)
{
	return len == strlen(text) && !memcmp(w, text, len);
}

static void widen(uint64_t *first, uint64_t *last, uint64_t addr)
{
	if (!*first || addr < *first)
		*first = addr;
	if (addr > *last)
		*last = addr;
}

static void note_own(struct ptc_kallsyms *k, const char *name, size_t len, uint64_t addr)
{
	widen(&k->first, &k->last, addr);
	if (is(name, len, "_text"))
		k->text = addr;
	else if (is(name, len, "_stext"))
		k->stext = addr;
	else if (is(name, len, "_etext"))
		k->etext = addr;
	else if (is(name, len, "__entry_SYSCALL_64_trampoline") && k->ntramps < PTC_TRAMPOLINES_MAX)
		k->tramps[k->ntramps++] = addr;
}

/* Parses a line "ffffffff81000000 T _text", which may end with "[module]". */
static void symbol(struct ptc_kallsyms *k, const char *p, const char *end)
{
	size_t addr_len, type_len, name_len;
	const char *addr_text = word(&p, end, &addr_len);
	const char *type = word(&p, end, &type_len);
	const char *name = word(&p, end, &name_len);
	uint64_t addr;

	if (type_len != 1 || !strchr("tTwW", *type) || !name_len ||
	    !hex(addr_text, addr_len, &addr))
		return;
	if (!addr)
		return;
	if (p < end && *p == '[')
		widen(&k->first_extra, &k->last_extra, addr);
	else
		note_own(k, name, name_len, addr);
}

/* Parses a line "ext4 987136 1 - Live 0xffffffffc0400000". False: out of memory. */
static bool module(struct ptc_kallsyms *k, const char *p, const char *end)
{
	struct ptc_kmodule m = { .name = p };
	const char *w;
	size_t len;
	int i;

	m.name = word(&p, end, &m.name_len);
	w = word(&p, end, &len);
	m.size = strtoull(w, NULL, 10);
	for (i = 0; i < 4; i++)
		w = word(&p, end, &len);
	if (!m.name_len || len < 3 || !hex(w + 2, len - 2, &m.addr) || !m.addr)
		return true;
	if (!ptc_vec_reserve((void **)&k->mods, &k->mods_cap, k->nmods + 1, sizeof(*k->mods)))
		return false;
	k->mods[k->nmods++] = m;
	return true;
}

static void read_symbols(struct ptc_kallsyms *k)
{
	const char *p = (const char *)k->kallsyms.bytes, *const end = p + strlen(p), *line;

	for (; p < end; p = line + (line < end)) {
		line = ptc_line_end(p, end);
		symbol(k, p, line);
	}
}

static bool read_modules(struct ptc_kallsyms *k)
{
	const char *p = (const char *)k->modules.bytes, *const end = p + strlen(p), *line;

	for (; p < end; p = line + (line < end)) {
		line = ptc_line_end(p, end);
		if (!module(k, p, line))
			return false;
	}
	return true;
}

static int read_files(struct ptc_kallsyms *k, const char *root, struct ptc_err *err)
{
	char path[512];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	rc = ptc_read_file(path, PTC_KALLSYMS_TEXT_MAX, &k->kallsyms, err);
	if (rc)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/proc/modules", root);
	rc = ptc_read_file(path, PTC_MODULES_MAX, &k->modules, err);
	if (rc != PTC_E_NOT_EXIST)
		return rc;
	ptc_buf_reset(&k->modules);
	ptc_buf_u8(&k->modules, 0);
	if (ptc_buf_failed(&k->modules))
		return ptc_fail_mem(err);
	k->modules.len = 0;
	return 0;
}

int ptc_kallsyms_read(struct ptc_kallsyms *k, const char *root, struct ptc_err *err)
{
	int rc;

	*k = (struct ptc_kallsyms)PTC_KALLSYMS_INIT;
	rc = read_files(k, root, err);
	if (!rc) {
		read_symbols(k);
		if (!read_modules(k))
			rc = ptc_fail_mem(err);
		else if (!k->first)
			rc = ptc_fail(err, PTC_E_PERM,
				      "'%s/proc/kallsyms' tells no address: kernel.kptr_restrict "
				      "has to be 0, or 1 with CAP_SYSLOG",
				      root);
	}
	if (rc)
		ptc_kallsyms_release(k);
	return rc;
}

void ptc_kallsyms_release(struct ptc_kallsyms *k)
{
	ptc_buf_release(&k->kallsyms);
	ptc_buf_release(&k->modules);
	free(k->mods);
	*k = (struct ptc_kallsyms)PTC_KALLSYMS_INIT;
}
