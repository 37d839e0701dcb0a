/* SPDX-License-Identifier: MIT */
#include "capture/host/topology.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/feature/feature.h"
#include "base/err.h"
#include "base/io.h"
#include "base/vec.h"

enum {
	SMALL_FILE = 1 << 16,
	MAX_CPUS = 1 << 16,
	MAX_CACHES = 1 << 16,
	CACHE_INDEXES = 4, /* per CPU */
	MAX_NODES = 1 << 10,
	MAX_BLOCKS = 1 << 20, /* memory blocks per node */
};

/* Missing values do not stop the reading. Lack of memory does. */
struct reading {
	const char *root;
	bool failed; /* out of memory */
};

static char *take_line(struct reading *r, const struct ptc_buf *text)
{
	char *line = strndup((const char *)text->bytes, strcspn((const char *)text->bytes, "\n"));

	r->failed |= !line;
	return line;
}

/* Returns the first line of a file in /sys/devices/system. Caller frees it. NULL: no such file. */
__attribute__((format(printf, 2, 3))) static char *line_of(struct reading *r, const char *fmt, ...)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_err err;
	char path[512];
	char *line = NULL;
	va_list ap;
	int n, rc;

	n = snprintf(path, sizeof(path), "%s/sys/devices/system/", r->root);
	va_start(ap, fmt);
	if (n > 0 && (size_t)n < sizeof(path))
		(void)vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	rc = ptc_read_file(path, SMALL_FILE, &text, &err);
	r->failed |= rc == PTC_E_NO_MEMORY;
	if (!rc && text.len)
		line = take_line(r, &text);
	ptc_buf_release(&text);
	return line;
}

/* Parses and frees @line. Returns @other if it is no number. */
static uint32_t parse_u32(char *line, uint32_t other)
{
	char *end;
	unsigned long v;

	if (!line)
		return other;
	v = strtoul(line, &end, 10);
	if (end == line || *end || v > UINT32_MAX)
		v = other;
	free(line);
	return (uint32_t)v;
}

static int write_topology_feature(struct ptc_writer *w, unsigned int bit, struct ptc_buf *b,
				  const struct reading *r, struct ptc_err *err)
{
	int rc = r->failed || ptc_buf_failed(b) ? ptc_fail_mem(err) :
						  ptc_writer_feature(w, bit, b->bytes, b->len, err);

	ptc_buf_release(b);
	return rc;
}

/* --- CPUs --- */

struct lists {
	char **list; /* owned, as are its strings */
	size_t n, cap;
};

/* Takes ownership of @line. Equal strings are stored once. */
static void add_list(struct reading *r, struct lists *l, char *line)
{
	void *items = l->list;
	size_t i;

	if (!line)
		return;
	for (i = 0; i < l->n && strcmp(l->list[i], line) != 0; i++)
		;
	if (i == l->n && ptc_vec_reserve(&items, &l->cap, l->n + 1, sizeof(*l->list))) {
		l->list = items;
		l->list[l->n++] = line;
		return;
	}
	r->failed |= i == l->n;
	free(line);
}

static void release_lists(struct lists *l)
{
	while (l->n)
		free(l->list[--l->n]);
	free(l->list);
}

struct cpus {
	struct lists packages, threads, dies;
	uint32_t *cores, *sockets, *die_ids; /* owned; one per CPU; UINT32_MAX: unknown */
};

/*
 * Reads the list under its newer, clearer name, or else under its old name. Newer kernels have
 * both.
 */
static char *cpu_list(struct reading *r, uint32_t cpu, const char *name, const char *old)
{
	char *line = line_of(r, "cpu/cpu%u/topology/%s", cpu, name);

	return line || !old ? line : line_of(r, "cpu/cpu%u/topology/%s", cpu, old);
}

static void read_cpu(struct reading *r, uint32_t cpu, struct cpus *c)
{
	add_list(r, &c->packages, cpu_list(r, cpu, "package_cpus_list", "core_siblings_list"));
	add_list(r, &c->dies, cpu_list(r, cpu, "die_cpus_list", NULL));
	add_list(r, &c->threads, cpu_list(r, cpu, "core_cpus_list", "thread_siblings_list"));
	c->cores[cpu] = parse_u32(line_of(r, "cpu/cpu%u/topology/core_id", cpu), UINT32_MAX);
	c->sockets[cpu] =
		parse_u32(line_of(r, "cpu/cpu%u/topology/physical_package_id", cpu), UINT32_MAX);
	c->die_ids[cpu] = parse_u32(line_of(r, "cpu/cpu%u/topology/die_id", cpu), UINT32_MAX);
}

static int put_cpus(struct ptc_writer *w, struct reading *r, uint32_t ncpus, struct ptc_err *err)
{
	struct ptc_cpu_topology_desc d = { .ncpus = ncpus };
	struct cpus c = { .cores = calloc(ncpus, sizeof(uint32_t)),
			  .sockets = calloc(ncpus, sizeof(uint32_t)),
			  .die_ids = calloc(ncpus, sizeof(uint32_t)) };
	struct ptc_buf b = PTC_BUF_INIT;
	uint32_t i;
	int rc = 0;

	r->failed |= !c.cores || !c.sockets || !c.die_ids;
	for (i = 0; i < ncpus && !r->failed; i++)
		read_cpu(r, i, &c);
	if (r->failed) {
		rc = ptc_fail_mem(err);
	} else if (c.packages.n && c.threads.n) {
		d.packages = (const char *const *)c.packages.list;
		d.npackages = c.packages.n;
		d.threads = (const char *const *)c.threads.list;
		d.nthreads = c.threads.n;
		d.core_ids = c.cores;
		d.socket_ids = c.sockets;
		d.dies = (const char *const *)c.dies.list;
		d.ndies = c.dies.n;
		d.die_ids = c.dies.n ? c.die_ids : NULL;
		ptc_feature_put_cpu_topology(&b, &d);
		rc = write_topology_feature(w, PTC_FEAT_CPU_TOPOLOGY, &b, r, err);
	}
	release_lists(&c.packages);
	release_lists(&c.threads);
	release_lists(&c.dies);
	free(c.cores);
	free(c.sockets);
	free(c.die_ids);
	return rc;
}

/* --- caches --- */

struct caches {
	struct ptc_cache *list; /* owned, as are its strings */
	size_t n, cap;
};

static void release_cache(struct ptc_cache *c)
{
	free((char *)c->type);
	free((char *)c->size);
	free((char *)c->cpus);
}

static bool same_cache(const struct ptc_cache *a, const struct ptc_cache *b)
{
	return a->level == b->level && !strcmp(a->type, b->type) && !strcmp(a->cpus, b->cpus);
}

/* Takes ownership of the strings of @c. A cache that several CPUs share is stored once. */
static void add_cache(struct reading *r, struct caches *l, struct ptc_cache *c)
{
	void *items = l->list;
	size_t i;

	for (i = 0; i < l->n && !same_cache(&l->list[i], c); i++)
		;
	if (i == l->n && l->n < MAX_CACHES &&
	    ptc_vec_reserve(&items, &l->cap, l->n + 1, sizeof(*l->list))) {
		l->list = items;
		l->list[l->n++] = *c;
		return;
	}
	r->failed |= i == l->n && l->n < MAX_CACHES;
	release_cache(c);
}

/* Returns false if there is no such cache. */
static bool read_cache(struct reading *r, uint32_t cpu, unsigned int index, struct caches *l)
{
	struct ptc_cache c = {
		.level = parse_u32(line_of(r, "cpu/cpu%u/cache/index%u/level", cpu, index), 0)
	};

	if (!c.level)
		return false;
	c.line_size =
		parse_u32(line_of(r, "cpu/cpu%u/cache/index%u/coherency_line_size", cpu, index), 0);
	c.sets = parse_u32(line_of(r, "cpu/cpu%u/cache/index%u/number_of_sets", cpu, index), 0);
	c.ways = parse_u32(line_of(r, "cpu/cpu%u/cache/index%u/ways_of_associativity", cpu, index),
			   0);
	c.type = line_of(r, "cpu/cpu%u/cache/index%u/type", cpu, index);
	c.size = line_of(r, "cpu/cpu%u/cache/index%u/size", cpu, index);
	c.cpus = line_of(r, "cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, index);
	if (c.type && c.size && c.cpus)
		add_cache(r, l, &c);
	else
		release_cache(&c);
	return true;
}

static int put_caches(struct ptc_writer *w, struct reading *r, uint32_t ncpus, struct ptc_err *err)
{
	struct caches l = { NULL, 0, 0 };
	struct ptc_cache *sorted;
	struct ptc_buf b = PTC_BUF_INIT;
	unsigned int index, level;
	uint32_t cpu;
	size_t i, n = 0;
	int rc = 0;

	for (cpu = 0; cpu < ncpus && !r->failed; cpu++)
		for (index = 0; index < CACHE_INDEXES && read_cache(r, cpu, index, &l); index++)
			;
	sorted = calloc(l.n ? l.n : 1, sizeof(*sorted));
	r->failed |= !sorted;
	for (level = 1; sorted && level <= CACHE_INDEXES; level++)
		for (i = 0; i < l.n; i++)
			if (l.list[i].level == level)
				sorted[n++] = l.list[i];
	if (r->failed) {
		rc = ptc_fail_mem(err);
	} else if (n) {
		ptc_feature_put_cache(&b, sorted, n);
		rc = write_topology_feature(w, PTC_FEAT_CACHE, &b, r, err);
	}
	for (i = 0; i < l.n; i++)
		release_cache(&l.list[i]);
	free(l.list);
	free(sorted);
	return rc;
}

/* --- nodes and memory --- */

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * Lists the numbers that follow @prefix in the names of a folder, ascending. Returns at most @max
 * numbers, all below @max. Caller frees the list.
 */
static uint32_t *list_numbers(struct reading *r, const char *folder, const char *prefix,
			      uint32_t max, size_t *ret_n)
{
	const size_t len = strlen(prefix);
	const struct dirent *e;
	uint32_t *list = NULL;
	size_t n = 0, cap = 0;
	char path[512];
	DIR *d;

	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/%s", r->root, folder);
	d = opendir(path);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread uses this stream */
	while (d && n < max && (e = readdir(d))) {
		void *items = list;
		char *end;
		unsigned long v;

		if (strncmp(e->d_name, prefix, len) != 0 || !e->d_name[len])
			continue;
		v = strtoul(e->d_name + len, &end, 10);
		if (*end || v >= max)
			continue;
		if (!ptc_vec_reserve(&items, &cap, n + 1, sizeof(*list))) {
			r->failed = true;
			break;
		}
		list = items;
		list[n++] = (uint32_t)v;
	}
	if (d)
		(void)closedir(d);
	if (n)
		qsort(list, n, sizeof(*list), by_number);
	*ret_n = n;
	return list;
}

/* Parses a line such as "Node 0 MemTotal:  123 kB". */
static uint64_t kib_of(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static void read_node(struct reading *r, uint32_t node, struct ptc_numa_node *ret)
{
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_err err;
	char path[512];

	*ret = (struct ptc_numa_node){ .node = node };
	(void)snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%u/meminfo", r->root,
		       node);
	if (!ptc_read_file(path, SMALL_FILE, &text, &err) && text.len) {
		ret->total_kib = kib_of((const char *)text.bytes, " MemTotal:");
		ret->free_kib = kib_of((const char *)text.bytes, " MemFree:");
	}
	ptc_buf_release(&text);
	ret->cpus = line_of(r, "node/node%u/cpulist", node);
}

static int put_nodes(struct ptc_writer *w, struct reading *r, const uint32_t *numbers, size_t n,
		     struct ptc_err *err)
{
	struct ptc_numa_node *nodes = calloc(n, sizeof(*nodes));
	struct ptc_buf b = PTC_BUF_INIT;
	bool whole = true;
	size_t i;
	int rc = 0;

	if (!nodes)
		return ptc_fail_mem(err);
	for (i = 0; i < n; i++) {
		read_node(r, numbers[i], &nodes[i]);
		whole &= nodes[i].cpus != NULL;
	}
	if (whole) {
		ptc_feature_put_numa(&b, nodes, n);
		rc = write_topology_feature(w, PTC_FEAT_NUMA_TOPOLOGY, &b, r, err);
	}
	for (i = 0; i < n; i++)
		free((char *)nodes[i].cpus);
	free(nodes);
	return rc;
}

/* Reads which memory blocks belong to a node, one bit each. Caller owns @ret->set. */
static bool read_blocks(struct reading *r, uint32_t node, struct ptc_mem_node *ret)
{
	uint32_t *blocks;
	uint8_t *set = NULL;
	char folder[32];
	size_t n, i, len = 0;

	(void)snprintf(folder, sizeof(folder), "node/node%u", node);
	blocks = list_numbers(r, folder, "memory", MAX_BLOCKS, &n);
	*ret = (struct ptc_mem_node){ .node = node, .size = n ? blocks[n - 1] + UINT64_C(1) : 0 };
	len = (size_t)(ret->size + 63) / 64 * 8;
	set = calloc(len ? len : 1, 1);
	for (i = 0; set && i < n; i++)
		set[blocks[i] / 8] |= (uint8_t)(1 << blocks[i] % 8);
	ret->set = ptc_cur_init(set, set ? len : 0);
	free(blocks);
	return set;
}

static int put_memory(struct ptc_writer *w, struct reading *r, const uint32_t *numbers, size_t n,
		      struct ptc_err *err)
{
	char *block = line_of(r, "memory/block_size_bytes");
	const uint64_t bytes = block ? strtoull(block, NULL, 16) : 0;
	struct ptc_mem_node *nodes;
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, got;
	int rc;

	free(block);
	if (!bytes)
		return 0;
	nodes = calloc(n, sizeof(*nodes));
	if (!nodes)
		return ptc_fail_mem(err);
	for (got = 0; got < n && read_blocks(r, numbers[got], &nodes[got]); got++)
		;
	r->failed |= got < n;
	if (!r->failed)
		ptc_feature_put_mem_topology(&b, bytes, nodes, n);
	rc = write_topology_feature(w, PTC_FEAT_MEM_TOPOLOGY, &b, r, err);
	for (i = 0; i < got; i++)
		free((uint8_t *)nodes[i].set.pos);
	free(nodes);
	return rc;
}

int ptc_topology_write(struct ptc_writer *w, const char *root, uint32_t ncpus, struct ptc_err *err)
{
	struct reading r = { .root = root };
	uint32_t *nodes;
	size_t n;
	int rc = 0;

	if (ncpus && ncpus <= MAX_CPUS) {
		rc = put_cpus(w, &r, ncpus, err);
		if (!rc)
			rc = put_caches(w, &r, ncpus, err);
	}
	if (rc)
		return rc;
	nodes = list_numbers(&r, "node", "node", MAX_NODES, &n);
	if (n)
		rc = put_nodes(w, &r, nodes, n, err);
	if (n && !rc)
		rc = put_memory(w, &r, nodes, n, err);
	free(nodes);
	return rc;
}
