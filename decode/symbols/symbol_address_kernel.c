/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "base/similar.h"
#include "decode/image/text_symbols.h"
#include "decode/symbols/ambiguous_symbol.h"
#include "ptcap/locate.h"

static int read_labels(const char *kallsyms, struct ptc_text_symbols *t, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = ptc_read_file(kallsyms, PTC_KALLSYMS_MAX, &b, err);

	if (!rc && !ptc_text_symbols_kallsyms(t, (const char *)b.bytes))
		rc = ptc_fail_mem(err);
	ptc_buf_release(&b);
	if (!rc && !t->n) /* no names, or all of them at 0 */
		rc = ptc_fail(err, PTC_E_PERM,
			      "'%s' shows no addresses; set kernel.kptr_restrict to 0, or to 1 "
			      "and use CAP_SYSLOG",
			      kallsyms);
	ptc_text_symbols_sort(t);
	return rc;
}

static int say_none(const struct ptc_text_symbols *t, const char *name, struct ptc_err *err)
{
	struct ptc_similar similar;
	size_t i;

	ptc_similar_begin(&similar, name);
	for (i = 0; i < t->n; i++)
		ptc_similar_add(&similar, t->names[i].name);
	return ptc_fail(err, PTC_E_NOT_EXIST, "no function '%s' in the kernel%s", name,
			ptc_similar_text(&similar));
}

static int find_kernel_label(const struct ptc_text_symbols *t, const char *name, int which,
			     struct ptc_extent *ret, struct ptc_err *err)
{
	struct ptc_homonyms h = { NULL, 0, 0 };
	struct ptc_homonym one;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->n; i++) {
		const struct ptc_label *n = &t->names[i];

		if (!strcmp(n->name, name) &&
		    !ptc_homonyms_add(&h, &(struct ptc_homonym){ n->addr, n->size, n->global }))
			rc = ptc_fail_mem(err);
	}
	if (!rc && !h.n)
		rc = say_none(t, name, err);
	else if (!rc)
		rc = ptc_homonyms_choose(&h, which, "the kernel", name,
					 "write NAME#NUMBER to choose one", &one, err);
	if (!rc)
		*ret = (struct ptc_extent){ one.addr, one.size };
	ptc_homonyms_release(&h);
	return rc;
}

int ptc_locate_kernel(const char *kallsyms, const char *name, int which, struct ptc_extent *ret,
		      struct ptc_err *err)
{
	struct ptc_text_symbols t = { .n = 0 };
	int rc = read_labels(kallsyms, &t, err);

	if (!rc && name) {
		rc = find_kernel_label(&t, name, which, ret, err);
	} else if (!rc) {
		const struct ptc_label *last = &t.names[t.n - 1];

		*ret = (struct ptc_extent){ t.names[0].addr,
					    last->addr + last->size - t.names[0].addr };
	}
	ptc_text_symbols_release(&t);
	return rc;
}
