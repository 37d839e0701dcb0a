/* SPDX-License-Identifier: MIT */
#include "capture/soft/mapped_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/record/filecode.h"
#include "base/vec.h"

static void release_mapped_file(struct ptc_mapped_file *f)
{
	if (f->fd >= 0)
		(void)close(f->fd);
	free(f->name);
	free(f->ranges);
}

void ptc_mapped_release(struct ptc_mapped *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		release_mapped_file(&m->files[i]);
	free(m->files);
	*m = (struct ptc_mapped){ .n = 0 };
}

static bool is_file(const struct ptc_mapped_file *f, const char *name, const struct ptc_map *map)
{
	return f->inode.ino == map->ino && f->inode.maj == map->maj && f->inode.min == map->min &&
	       !strcmp(f->name, name);
}

/* Moves file @i to the end: the array is ordered by last use. */
static struct ptc_mapped_file *touch(struct ptc_mapped *m, size_t i)
{
	const struct ptc_mapped_file f = m->files[i];

	memmove(&m->files[i], &m->files[i + 1], (m->n - i - 1) * sizeof(*m->files));
	m->files[m->n - 1] = f;
	return &m->files[m->n - 1];
}

/*
 * Removes the least recently used open file completely: its inode may now be reused by another
 * file.
 */
static void forget_oldest(struct ptc_mapped *m)
{
	size_t i = 0;

	while (m->files[i].fd < 0)
		i++;
	release_mapped_file(&m->files[i]);
	m->n--;
	m->nopen--;
	memmove(&m->files[i], &m->files[i + 1], (m->n - i) * sizeof(*m->files));
}

static struct ptc_mapped_file *add_mapped_file(struct ptc_mapped *m, const char *name,
					       const struct ptc_map *map, pid_t pid)
{
	struct ptc_mapped_file f = { .inode = { map->maj, map->min, map->ino } };

	if (!ptc_vec_reserve((void **)&m->files, &m->cap, m->n + 1, sizeof(*m->files)))
		return NULL;
	f.name = strdup(name);
	if (!f.name)
		return NULL;
	f.fd = ptc_samefile_open(name, pid, &f.inode, &f.st);
	if (f.fd >= 0) {
		(void)ptc_elf_build_id_fd(f.fd, (uint64_t)f.st.st_size, &f.id);
		m->nopen++;
	}
	m->files[m->n++] = f;
	if (m->nopen > PTC_MAPPED_OPEN)
		forget_oldest(m);
	return &m->files[m->n - 1];
}

static struct ptc_mapped_file *find_or_add_file(struct ptc_mapped *m, const struct ptc_maps *maps,
						const struct ptc_map *map, pid_t pid)
{
	const char *name = ptc_map_name(maps, map);
	size_t i;

	if (name[0] != '/' || name[1] == '/' || !map->ino)
		return NULL;
	for (i = m->n; i--;)
		if (is_file(&m->files[i], name, map))
			return touch(m, i);
	return add_mapped_file(m, name, map, pid);
}

const struct ptc_mapped_file *ptc_mapped_note(struct ptc_mapped *m, const struct ptc_maps *maps,
					      const struct ptc_map *map, pid_t pid)
{
	struct ptc_mapped_file *f = find_or_add_file(m, maps, map, pid);
	const struct ptc_mapped_range r = { map->off, map->off + (map->end - map->start) };
	size_t i;

	if (!f)
		return NULL;
	for (i = 0; i < f->nranges; i++)
		if (f->ranges[i].off <= r.off && r.end <= f->ranges[i].end)
			return f;
	if (!ptc_vec_reserve((void **)&f->ranges, &f->cap, f->nranges + 1, sizeof(*f->ranges)))
		return NULL;
	f->ranges[f->nranges++] = r;
	return f;
}

bool ptc_mapped_read(struct ptc_mapped *m, const struct ptc_maps *maps, const struct ptc_map *map,
		     pid_t pid, uint64_t off, uint8_t *out, size_t len)
{
	const struct ptc_mapped_file *f = find_or_add_file(m, maps, map, pid);

	return f && f->fd >= 0 && off <= INT64_MAX &&
	       pread(f->fd, out, len, (off_t)off) == (ssize_t)len;
}

/* Returns true if the file was not modified since its mapping. */
static bool is_as_it_was(const struct ptc_mapped_file *f, const struct stat *st)
{
	return st->st_size == f->st.st_size && st->st_mtim.tv_sec == f->st.st_mtim.tv_sec &&
	       st->st_mtim.tv_nsec == f->st.st_mtim.tv_nsec;
}

/* Returns true if a reader will find the file by its name. */
static bool is_there(const struct ptc_mapped_file *f)
{
	struct stat st;
	const int fd = ptc_samefile_open(f->name, 0, &f->inode, &st);

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* Appends the code of @f in @r. *@left: number of bytes that may still be appended. */
static void put_range(const struct ptc_mapped_file *f, struct ptc_mapped_range r, uint64_t *left,
		      struct ptc_buf *b)
{
	struct ptc_filecode c = { .maj = f->inode.maj,
				  .min = f->inode.min,
				  .ino = f->inode.ino,
				  .size = (uint64_t)f->st.st_size,
				  .id = f->id,
				  .name = f->name };
	uint8_t bytes[PTC_FILECODE_MAX];
	ssize_t n;

	for (c.off = r.off; c.off < r.end && *left >= sizeof(bytes); c.off += (uint64_t)n) {
		n = pread(f->fd, bytes,
			  r.end - c.off < sizeof(bytes) ? r.end - c.off : sizeof(bytes),
			  (off_t)c.off);
		if (n <= 0)
			break;
		c.bytes = ptc_cur_init(bytes, (size_t)n);
		ptc_filecode_put(b, &c);
		*left -= (uint64_t)n;
	}
}

void ptc_mapped_put_code(const struct ptc_mapped *m, struct ptc_buf *b)
{
	uint64_t left = PTC_MAPPED_CODE_MAX;
	struct stat st;
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		const struct ptc_mapped_file *f = &m->files[i];

		if (f->fd < 0 || !f->nranges || is_there(f) || fstat(f->fd, &st) ||
		    !is_as_it_was(f, &st))
			continue;
		for (k = 0; k < f->nranges; k++)
			put_range(f, f->ranges[k], &left, b);
	}
}
