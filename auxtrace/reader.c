/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auxtrace/header.h"
#include "base/err.h"

bool ptc_file_bytes(const struct ptc_file *f, uint64_t off, uint64_t size, struct ptc_cur *ret)
{
	struct ptc_cur c = ptc_cur_init(f->base, f->len);

	return off <= f->len && size <= f->len && ptc_cur_skip(&c, (size_t)off) &&
	       ptc_cur_sub(&c, (size_t)size, ret);
}

int ptc_file_err_name(const struct ptc_file *f, struct ptc_err *err)
{
	return ptc_err_prefix(err, "cannot read '%s': ", f->name);
}

static int open_bytes(const void *bytes, size_t len, const char *name, void *map, bool tolerant,
		      struct ptc_file **ret, struct ptc_err *err)
{
	struct ptc_file *f = calloc(1, sizeof(*f));
	int rc;

	if (!f) {
		if (map)
			(void)munmap(map, len);
		return ptc_fail_mem(err);
	}
	f->base = bytes;
	f->len = len;
	f->map = map;
	f->tolerant = tolerant;
	f->name = strdup(name);
	if (!f->name) {
		rc = ptc_fail_mem(err);
	} else {
		rc = ptc_header_read(f, err);
		if (rc)
			rc = ptc_file_err_name(f, err);
	}
	if (rc)
		ptc_file_free(f);
	else
		*ret = f;
	return rc;
}

int ptc_file_open_bytes(const void *bytes, size_t len, const char *name, struct ptc_file **ret,
			struct ptc_err *err)
{
	return open_bytes(bytes, len, name, NULL, false, ret, err);
}

static int open_path(const char *path, bool tolerant, struct ptc_file **ret, struct ptc_err *err)
{
	/* O_NONBLOCK: a FIFO is refused below, not waited for. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *map = NULL;
	struct stat st;
	int rc;

	if (fd < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	if (fstat(fd, &st))
		rc = ptc_fail_sys(err, errno, "cannot open '%s'", path);
	else if (S_ISDIR(st.st_mode))
		rc = ptc_fail(err, PTC_E_UNSUPPORTED,
			      "cannot read '%s': it is a folder; perf's directory mode is not "
			      "supported",
			      path);
	else if (!S_ISREG(st.st_mode))
		rc = ptc_fail(err, PTC_E_UNSUPPORTED, "cannot read '%s': it is not a regular file",
			      path);
	else
		rc = 0;
	if (!rc && st.st_size) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			rc = ptc_fail_sys(err, errno, "cannot map '%s'", path);
	}
	(void)close(fd);
	if (rc)
		return rc;
	return open_bytes(map ? map : "", (size_t)st.st_size, path, map, tolerant, ret, err);
}

int ptc_file_open(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, false, ret, err);
}

int ptc_file_open_damaged(const char *path, struct ptc_file **ret, struct ptc_err *err)
{
	return open_path(path, true, ret, err);
}

void ptc_file_free(struct ptc_file *f)
{
	if (!f)
		return;
	if (f->map)
		(void)munmap(f->map, f->len);
	free(f->by_id);
	free(f->ids);
	free(f->attrs);
	free(f->name);
	free(f);
}

const struct ptc_err *ptc_file_damage(const struct ptc_file *f)
{
	return f->damage.code ? &f->damage : NULL;
}

const char *ptc_file_name(const struct ptc_file *f)
{
	return f->name;
}

uint64_t ptc_file_size(const struct ptc_file *f)
{
	return f->len;
}

uint64_t ptc_file_data_off(const struct ptc_file *f)
{
	return f->data.off;
}

uint64_t ptc_file_data_size(const struct ptc_file *f)
{
	return f->data.size;
}

size_t ptc_file_nattrs(const struct ptc_file *f)
{
	return f->nattrs;
}

const struct ptc_file_attr *ptc_file_attr(const struct ptc_file *f, size_t i)
{
	return &f->attrs[i];
}

bool ptc_file_feature(const struct ptc_file *f, unsigned int bit, struct ptc_cur *ret,
		      uint64_t *ret_off)
{
	if (bit >= PTC_FEATURE_BITS || !f->has[bit])
		return false;
	if (!f->features[bit].size)
		*ret = ptc_cur_init(f->base, 0);
	else if (!ptc_file_bytes(f, f->features[bit].off, f->features[bit].size, ret))
		return false;
	if (ret_off)
		*ret_off = f->features[bit].off;
	return true;
}

int ptc_file_auxtrace(const struct ptc_file *f, const struct ptc_rec *rec, struct ptc_auxtrace *ret,
		      struct ptc_cur *ret_bytes, struct ptc_err *err)
{
	const uint64_t data_end = f->data.off + f->data.size;
	const uint64_t start = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body);
	struct ptc_auxtrace a;
	int rc;

	rc = ptc_auxtrace_parse(rec->body, rec->off, data_end - start, &a, err);
	if (!rc && !ptc_file_bytes(f, start, a.size, ret_bytes))
		rc = ptc_fail_at(err, PTC_E_FORMAT, rec->off, "trace outside the file");
	if (rc)
		return ptc_file_err_name(f, err);
	*ret = a;
	return 0;
}

int ptc_file_next(const struct ptc_file *f, uint64_t *pos, struct ptc_rec *ret, struct ptc_err *err)
{
	const uint64_t off = f->data.off + *pos;
	struct ptc_auxtrace a = { 0 };
	struct ptc_cur c, payload;
	struct ptc_rec rec;
	int rc;

	if (*pos >= f->data.size || !ptc_file_bytes(f, off, f->data.size - *pos, &c))
		return 0;
	rc = ptc_rec_next(&c, off, &rec, err);
	if (rc < 0)
		return ptc_file_err_name(f, err);
	if (rec.type == PTC_REC_AUXTRACE) {
		rc = ptc_file_auxtrace(f, &rec, &a, &payload, err);
		if (rc)
			return rc;
	}
	*pos += PTC_REC_HEADER_SIZE + ptc_cur_left(&rec.body) + a.size;
	*ret = rec;
	return 1;
}

const struct ptc_file_attr *ptc_file_attr_of_id(const struct ptc_file *f, uint64_t id)
{
	const struct ptc_id_entry key = { id, 0 };
	const struct ptc_id_entry *e;

	if (!f->nids)
		return NULL;
	e = bsearch(&key, f->by_id, f->nids, sizeof(*f->by_id), ptc_id_compare);
	return e ? &f->attrs[e->attr] : NULL;
}

/*
 * An id that no attr has, 0 above all, is in what perf itself has put into the
 * file (the mappings of processes already running): that has the first attr's
 * fields.
 */
static const struct ptc_file_attr *attr_of_word(const struct ptc_file *f, const uint8_t *word)
{
	const struct ptc_file_attr *a = word ? ptc_file_attr_of_id(f, ptc_le64(word)) : NULL;

	return a ? a : &f->attrs[0];
}

uint64_t ptc_file_trailer_type(const struct ptc_file *f, const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs || rec->type >= PTC_REC_USER_START || rec->type == PERF_RECORD_SAMPLE ||
	    !f->attrs[0].attr.sample_id_all)
		return 0;
	if (f->trailer_id > 0 && left >= 8 * (size_t)f->trailer_id)
		word = rec->body.end - 8 * (size_t)f->trailer_id;
	return attr_of_word(f, word)->attr.sample_type;
}

const struct ptc_file_attr *ptc_file_sample_attr(const struct ptc_file *f,
						 const struct ptc_rec *rec)
{
	const size_t left = ptc_cur_left(&rec->body);
	const uint8_t *word = NULL;

	if (!f->nattrs)
		return NULL;
	if (f->sample_id >= 0 && left >= 8 * ((size_t)f->sample_id + 1))
		word = rec->body.pos + 8 * (size_t)f->sample_id;
	return attr_of_word(f, word);
}
