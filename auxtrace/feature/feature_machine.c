/* SPDX-License-Identifier: MIT */
#include "auxtrace/feature/feature_machine.h"

#include <assert.h>
#include <inttypes.h>

#include "base/err.h"

enum {
	LIST_VERSION = 1,	   /* version of CACHE and MEM_TOPOLOGY */
	SCHEDSTAT_WITH_NAMES = 17, /* domains have names since this version */
};

void ptc_feature_put_nrcpus(struct ptc_buf *b, uint32_t avail, uint32_t online)
{
	ptc_buf_le32(b, avail);
	ptc_buf_le32(b, online);
}

bool ptc_feature_get_nrcpus(struct ptc_cur *c, struct ptc_nrcpus *ret)
{
	struct ptc_cur pos = *c;
	struct ptc_nrcpus n;

	if (!ptc_cur_le32(&pos, &n.available) || !ptc_cur_le32(&pos, &n.online))
		return false;
	*c = pos;
	*ret = n;
	return true;
}

void ptc_feature_put_total_mem(struct ptc_buf *b, uint64_t kib)
{
	ptc_buf_le64(b, kib);
}

bool ptc_feature_get_total_mem(struct ptc_cur *c, uint64_t *ret_kib)
{
	return ptc_cur_le64(c, ret_kib);
}

/* --- CPU_TOPOLOGY --- */

static int skip_string(struct ptc_feature_iter *it, struct ptc_err *err)
{
	const char *s;

	return ptc_feature_next_string(it, &s, err);
}

/* Take a list of strings from the front of @c. */
static int take_strings(struct ptc_cur *c, uint64_t off, struct ptc_feature_iter *ret,
			struct ptc_err *err)
{
	struct ptc_cur pos;
	int rc = ptc_feature_open(PTC_FEAT_CPU_TOPOLOGY, *c, off, ret, err);

	if (rc)
		return rc;
	pos = ret->cur;
	rc = ptc_feature_span(ret, &pos, skip_string, err);
	if (!rc)
		*c = pos;
	return rc;
}

int ptc_feature_parse_cpu_topology(struct ptc_cur section, uint64_t off, uint32_t ncpus,
				   struct ptc_cpu_topology *ret, struct ptc_err *err)
{
	struct ptc_cpu_topology t = { .has_ids = false };
	struct ptc_cur c = section;
	int rc = take_strings(&c, off, &t.packages, err);

	if (!rc)
		rc = take_strings(&c, off, &t.threads, err);
	if (!rc && ptc_cur_left(&c)) {
		t.has_ids = true;
		if (!ptc_cur_sub(&c, (size_t)ncpus * 8, &t.ids))
			rc = ptc_feature_broken(PTC_FEAT_CPU_TOPOLOGY, off, err);
	}
	if (!rc && ptc_cur_left(&c)) {
		t.has_dies = true;
		rc = take_strings(&c, off, &t.dies, err);
		if (!rc && !ptc_cur_sub(&c, (size_t)ncpus * 4, &t.die_ids))
			rc = ptc_feature_broken(PTC_FEAT_CPU_TOPOLOGY, off, err);
	}
	if (rc)
		return rc;
	t.rest = c;
	*ret = t;
	return 0;
}

void ptc_feature_put_cpu_topology(struct ptc_buf *b, const struct ptc_cpu_topology_desc *d)
{
	size_t i;

	ptc_feature_put_strings(b, d->packages, d->npackages);
	ptc_feature_put_strings(b, d->threads, d->nthreads);
	if (!d->core_ids)
		return;
	for (i = 0; i < d->ncpus; i++) {
		ptc_buf_le32(b, d->core_ids[i]);
		ptc_buf_le32(b, d->socket_ids[i]);
	}
	if (!d->die_ids)
		return;
	ptc_feature_put_strings(b, d->dies, d->ndies);
	for (i = 0; i < d->ncpus; i++)
		ptc_buf_le32(b, d->die_ids[i]);
}

/* --- nodes, caches, memory --- */

int ptc_feature_next_numa(struct ptc_feature_iter *it, struct ptc_numa_node *ret,
			  struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_numa_node n;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &n.node) || !ptc_cur_le64(&c, &n.total_kib) ||
	    !ptc_cur_le64(&c, &n.free_kib) || !ptc_feature_get_string(&c, &n.cpus))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = n;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_numa(struct ptc_buf *b, const struct ptc_numa_node *nodes, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, nodes[i].node);
		ptc_buf_le64(b, nodes[i].total_kib);
		ptc_buf_le64(b, nodes[i].free_kib);
		ptc_feature_put_string(b, nodes[i].cpus);
	}
}

int ptc_feature_open_cache(struct ptc_cur section, uint64_t off, struct ptc_feature_iter *ret,
			   struct ptc_err *err)
{
	uint32_t version;

	if (!ptc_cur_le32(&section, &version))
		return ptc_feature_broken(PTC_FEAT_CACHE, off, err);
	if (version != LIST_VERSION)
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, off, "version %u of feature CACHE",
				   version);
	return ptc_feature_open(PTC_FEAT_CACHE, section, off, ret, err);
}

int ptc_feature_next_cache(struct ptc_feature_iter *it, struct ptc_cache *ret, struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_cache e;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &e.level) || !ptc_cur_le32(&c, &e.line_size) ||
	    !ptc_cur_le32(&c, &e.sets) || !ptc_cur_le32(&c, &e.ways) ||
	    !ptc_feature_get_string(&c, &e.type) || !ptc_feature_get_string(&c, &e.size) ||
	    !ptc_feature_get_string(&c, &e.cpus))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = e;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_cache(struct ptc_buf *b, const struct ptc_cache *caches, size_t n)
{
	size_t i;

	ptc_buf_le32(b, LIST_VERSION);
	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, caches[i].level);
		ptc_buf_le32(b, caches[i].line_size);
		ptc_buf_le32(b, caches[i].sets);
		ptc_buf_le32(b, caches[i].ways);
		ptc_feature_put_string(b, caches[i].type);
		ptc_feature_put_string(b, caches[i].size);
		ptc_feature_put_string(b, caches[i].cpus);
	}
}

int ptc_feature_open_mem_topology(struct ptc_cur section, uint64_t off,
				  struct ptc_feature_iter *ret, uint64_t *ret_block_bytes,
				  struct ptc_err *err)
{
	struct ptc_feature_iter it = { .cur = section, .off = off, .bit = PTC_FEAT_MEM_TOPOLOGY };
	uint64_t version, block;

	if (!ptc_cur_le64(&it.cur, &version))
		return ptc_feature_broken(it.bit, off, err);
	if (version != LIST_VERSION)
		return ptc_fail_at(err, PTC_E_UNSUPPORTED, off,
				   "version %" PRIu64 " of feature MEM_TOPOLOGY", version);
	if (!ptc_cur_le64(&it.cur, &block) || !ptc_cur_le64(&it.cur, &it.left))
		return ptc_feature_broken(it.bit, off, err);
	*ret = it;
	*ret_block_bytes = block;
	return 0;
}

static uint64_t words(uint64_t bits)
{
	return bits / 64 + (bits % 64 != 0);
}

/* The size is stored twice: for the node and for the set. */
int ptc_feature_next_mem_node(struct ptc_feature_iter *it, struct ptc_mem_node *ret,
			      struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_mem_node n;
	uint64_t bits;

	if (!it->left)
		return 0;
	if (!ptc_cur_le64(&c, &n.node) || !ptc_cur_le64(&c, &n.size) || !ptc_cur_le64(&c, &bits) ||
	    words(bits) > ptc_cur_left(&c) / 8 || !ptc_cur_sub(&c, (size_t)words(bits) * 8, &n.set))
		return ptc_feature_broken(it->bit, it->off, err);
	n.size = bits;
	*ret = n;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_mem_topology(struct ptc_buf *b, uint64_t block_bytes,
				  const struct ptc_mem_node *nodes, size_t n)
{
	size_t i;

	ptc_buf_le64(b, LIST_VERSION);
	ptc_buf_le64(b, block_bytes);
	ptc_buf_le64(b, n);
	for (i = 0; i < n; i++) {
		assert(ptc_cur_left(&nodes[i].set) == words(nodes[i].size) * 8);
		ptc_buf_le64(b, nodes[i].node);
		ptc_buf_le64(b, nodes[i].size);
		ptc_buf_le64(b, nodes[i].size);
		ptc_buf_put(b, nodes[i].set.pos, ptc_cur_left(&nodes[i].set));
	}
}

int ptc_feature_next_hybrid(struct ptc_feature_iter *it, struct ptc_hybrid_node *ret,
			    struct ptc_err *err)
{
	struct ptc_cur c = it->cur;
	struct ptc_hybrid_node n;

	if (!it->left)
		return 0;
	if (!ptc_feature_get_string(&c, &n.pmu) || !ptc_feature_get_string(&c, &n.cpus))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = n;
	return ptc_feature_took(it, c);
}

void ptc_feature_put_hybrid(struct ptc_buf *b, const struct ptc_hybrid_node *nodes, size_t n)
{
	size_t i;

	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_feature_put_string(b, nodes[i].pmu);
		ptc_feature_put_string(b, nodes[i].cpus);
	}
}

/* --- CPU_DOMAIN_INFO --- */

int ptc_feature_parse_domain_info(struct ptc_cur section, uint64_t off, struct ptc_domain_info *ret,
				  struct ptc_err *err)
{
	struct ptc_domain_info d = {
		.cpus = { .cur = section, .off = off, .bit = PTC_FEAT_CPU_DOMAIN_INFO }
	};

	if (!ptc_cur_le32(&d.cpus.cur, &d.schedstat_version) ||
	    !ptc_cur_le32(&d.cpus.cur, &d.max_domains))
		return ptc_feature_broken(PTC_FEAT_CPU_DOMAIN_INFO, off, err);
	*ret = d;
	return 0;
}

int ptc_feature_next_domain(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
			    struct ptc_domain *ret, struct ptc_err *err)
{
	struct ptc_domain d = { .name = NULL };
	struct ptc_cur c = it->cur;

	if (!it->left)
		return 0;
	if (!ptc_cur_le32(&c, &d.domain) ||
	    (info->schedstat_version >= SCHEDSTAT_WITH_NAMES &&
	     !ptc_feature_get_string(&c, &d.name)) ||
	    !ptc_feature_get_string(&c, &d.mask) || !ptc_feature_get_string(&c, &d.cpus))
		return ptc_feature_broken(it->bit, it->off, err);
	*ret = d;
	return ptc_feature_took(it, c);
}

int ptc_feature_next_cpu_domains(const struct ptc_domain_info *info, struct ptc_feature_iter *it,
				 struct ptc_cpu_domains *ret, struct ptc_err *err)
{
	struct ptc_cpu_domains e = { .domains = { .off = it->off, .bit = it->bit } };
	struct ptc_feature_iter walk;
	struct ptc_cur c = it->cur;
	struct ptc_domain d;
	uint32_t n;
	int rc;

	if (!ptc_cur_left(&c))
		return 0;
	if (!ptc_cur_le32(&c, &e.cpu) || !ptc_cur_le32(&c, &n))
		return ptc_feature_broken(it->bit, it->off, err);
	e.domains.left = n;
	e.domains.cur = c;
	walk = e.domains;
	while ((rc = ptc_feature_next_domain(info, &walk, &d, err)) > 0)
		;
	if (rc)
		return rc;
	e.domains.cur.end = walk.cur.pos;
	it->cur = walk.cur;
	*ret = e;
	return 1;
}

void ptc_feature_put_domain_info(struct ptc_buf *b, uint32_t schedstat_version,
				 uint32_t max_domains)
{
	ptc_buf_le32(b, schedstat_version);
	ptc_buf_le32(b, max_domains);
}

void ptc_feature_put_cpu_domains(struct ptc_buf *b, uint32_t schedstat_version, uint32_t cpu,
				 const struct ptc_domain *d, size_t n)
{
	size_t i;

	ptc_buf_le32(b, cpu);
	ptc_buf_le32(b, (uint32_t)n);
	for (i = 0; i < n; i++) {
		ptc_buf_le32(b, d[i].domain);
		if (schedstat_version >= SCHEDSTAT_WITH_NAMES)
			ptc_feature_put_string(b, d[i].name ? d[i].name : "");
		ptc_feature_put_string(b, d[i].mask);
		ptc_feature_put_string(b, d[i].cpus);
	}
}
