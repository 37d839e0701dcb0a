/* SPDX-License-Identifier: MIT */
#include "capture/host/maps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/io.h"
#include "base/sorted.h"
#include "base/vec.h"

#define MAPS_MAX ((size_t)64 << 20) /* bytes of text; enough for 65530 mappings with long paths */

/* Parses a hex number at *p up to the character @stop. Moves *p past @stop. */
static bool hex_to(const char **p, const char *end, char stop, uint64_t *ret)
{
	uint64_t v = 0;
	const char *s = *p;

	for (; s < end && *s != stop; s++) {
		const char *digits = "0123456789abcdef";
		const char *d = *s ? strchr(digits, *s) : NULL;

		if (!d || v >> 60)
			return false;
		v = v << 4 | (uint64_t)(d - digits);
	}
	if (s == *p || s == end)
		return false;
	*p = s + 1;
	*ret = v;
	return true;
}

/* Format: start-end perms offset major:minor inode   name */
static bool parse_line(const char *p, const char *end, struct ptc_map *map, const char **ret_name)
{
	uint64_t maj, min;

	memset(map, 0, sizeof(*map));
	if (!hex_to(&p, end, '-', &map->start) || !hex_to(&p, end, ' ', &map->end) || end - p < 5)
		return false;
	map->prot = (p[0] == 'r' ? PROT_READ : 0u) | (p[1] == 'w' ? PROT_WRITE : 0u) |
		    (p[2] == 'x' ? PROT_EXEC : 0u);
	map->flags = p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	p += 5;
	if (!hex_to(&p, end, ' ', &map->off) || !hex_to(&p, end, ':', &maj) ||
	    !hex_to(&p, end, ' ', &min))
		return false;
	map->maj = (uint32_t)maj;
	map->min = (uint32_t)min;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		map->ino = map->ino * 10 + (uint64_t)(*p - '0');
	while (p < end && *p == ' ')
		p++;
	*ret_name = p;
	return map->start < map->end;
}

int ptc_maps_parse(struct ptc_maps *m, const char *text, size_t len, struct ptc_err *err)
{
	const char *p = text, *end = text + len;
	unsigned int line = 0;

	m->n = 0;
	ptc_buf_reset(&m->text);
	ptc_buf_u8(&m->text, 0);
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *name;
		struct ptc_map map;

		line++;
		if (!nl || !parse_line(p, nl, &map, &name))
			return ptc_fail_at(err, PTC_E_FORMAT, (uint64_t)(p - text),
					   "line %u of the memory map is damaged", line);
		if (name < nl) {
			map.name = m->text.len;
			ptc_buf_put(&m->text, name, (size_t)(nl - name));
			ptc_buf_u8(&m->text, 0);
		}
		if (ptc_buf_failed(&m->text) ||
		    !ptc_vec_reserve((void **)&m->items, &m->cap, m->n + 1, sizeof(*m->items)))
			return ptc_fail_mem(err);
		m->items[m->n++] = map;
		p = nl + 1;
	}
	if (ptc_buf_failed(&m->text))
		return ptc_fail_mem(err);
	return 0;
}

int ptc_maps_read(struct ptc_maps *m, const char *proc, pid_t pid, struct ptc_err *err)
{
	struct ptc_buf text = PTC_BUF_INIT;
	char path[256];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/%d/maps", proc, (int)pid);
	rc = ptc_read_file(path, MAPS_MAX, &text, err);
	if (!rc) {
		rc = ptc_maps_parse(m, (const char *)text.bytes, text.len, err);
		if (rc)
			(void)ptc_err_prefix(err, "'%s': ", path);
	}
	ptc_buf_release(&text);
	return rc;
}

void ptc_maps_release(struct ptc_maps *m)
{
	free(m->items);
	ptc_buf_release(&m->text);
	*m = (struct ptc_maps)PTC_MAPS_INIT;
}

const struct ptc_map *ptc_maps_find(const struct ptc_maps *m, uint64_t addr)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, m->n, m->items[i].end <= addr);

	return at < m->n && m->items[at].start <= addr ? &m->items[at] : NULL;
}
