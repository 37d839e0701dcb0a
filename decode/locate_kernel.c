/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/err.h"
#include "base/io.h"
#include "decode/labels.h"
#include "decode/locate.h"

static int read_labels(const char *kallsyms, struct ptc_labels *t, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc = ptc_read_file(kallsyms, PTC_KALLSYMS_MAX, &b, err);

	if (!rc && !ptc_labels_kallsyms(t, (const char *)b.bytes))
		rc = ptc_fail_mem(err);
	ptc_buf_release(&b);
	if (!rc && !t->n) /* no names, or all of them at 0 */
		rc = ptc_fail(err, PTC_E_PERM,
			      "'%s' shows no addresses: kernel.kptr_restrict hides them, or "
			      "CAP_SYSLOG is missing",
			      kallsyms);
	ptc_labels_sort(t);
	return rc;
}

static int find(const struct ptc_labels *t, const char *name, int which, struct ptc_extent *ret,
		struct ptc_err *err)
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
	if (!rc)
		rc = ptc_homonyms_choose(&h, which, "the kernel", name,
					 "put # and its number behind it", &one, err);
	if (!rc)
		*ret = (struct ptc_extent){ one.addr, one.size };
	ptc_homonyms_release(&h);
	return rc;
}

int ptc_locate_kernel(const char *kallsyms, const char *name, int which, struct ptc_extent *ret,
		      struct ptc_err *err)
{
	struct ptc_labels t = { .n = 0 };
	int rc = read_labels(kallsyms, &t, err);

	if (!rc && name) {
		rc = find(&t, name, which, ret, err);
	} else if (!rc) {
		const struct ptc_label *last = &t.names[t.n - 1];

		*ret = (struct ptc_extent){ t.names[0].addr,
					    last->addr + last->size - t.names[0].addr };
	}
	ptc_labels_release(&t);
	return rc;
}
