/* SPDX-License-Identifier: MIT */
#include "decode/image/addrspace_snapshot.h"

#include <stdlib.h>
#include <string.h>

enum { RANGE = 80 }; /* bytes per range, approximately */

struct ptc_view *ptc_view_new(const struct ptc_addrspace *as, struct ptc_view *kernel,
			      uint64_t number)
{
	struct ptc_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->owners = 1;
	ptc_addrspace_copy(&v->as, as);
	v->as.version = as->version;
	v->as.layout = as->layout;
	memcpy(v->as.changes, as->changes, sizeof(as->changes));
	v->as.view = number;
	if (kernel) {
		v->kernel = ptc_view_get(kernel);
		v->as.kernel = &kernel->as;
	}
	v->weight = sizeof(*v) +
		    RANGE * (ptc_ranges_count(&as->ranges) + ptc_ranges_count(&as->patches));
	return v;
}

struct ptc_view *ptc_view_get(struct ptc_view *v)
{
	v->owners++;
	return v;
}

size_t ptc_view_put(struct ptc_view *v)
{
	size_t weight;

	if (!v || --v->owners)
		return 0;
	weight = v->weight + ptc_view_put(v->kernel);
	ptc_addrspace_release(&v->as);
	free(v);
	return weight;
}
