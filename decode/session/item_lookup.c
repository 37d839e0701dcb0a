/* SPDX-License-Identifier: MIT */
#include "decode/session/item_lookup.h"

#include <string.h>

#include "base/err.h"
#include "decode/elf/elf_layout.h"
#include "decode/session/decoder.h"

const struct ptc_decode_input *ptc_decode_input(const struct ptc_decode *d)
{
	return &d->in;
}

const struct ptc_file *ptc_decode_recording(const struct ptc_decode *d)
{
	return d->in.file;
}

struct ptc_proc *ptc_decode_process(const struct ptc_decode *d, int32_t pid)
{
	return ptc_procs_find(&d->in.procs, pid);
}

const struct ptc_addrspace *ptc_decode_addrspace(const struct ptc_decode *d,
						 const struct ptc_item *item)
{
	const struct ptc_proc *p = ptc_decode_process(d, item->pid);

	return p ? &p->as : &d->in.procs.nobody;
}

const char *ptc_decode_thread_name(const struct ptc_decode *d, int32_t tid)
{
	const struct ptc_thread *t = ptc_procs_thread(&d->in.procs, tid);

	return t && *t->name ? t->name : NULL;
}

const char *ptc_decode_symbol(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			      uint64_t *ret_off)
{
	const struct ptc_proc *p = ptc_decode_process(d, item->pid);

	return ip ? ptc_origin_symbol(&d->in.procs, p, ip, item->time, ret_off) : NULL;
}

const char *ptc_decode_file(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			    uint64_t *ret_off)
{
	const struct ptc_range *r = ip ? ptc_addrspace_find(ptc_decode_addrspace(d, item), ip) :
					 NULL;

	if (!r || !r->file)
		return NULL;
	*ret_off = ip - r->start + r->off;
	return r->file->name;
}

bool ptc_decode_file_id(const struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			struct ptc_build_id *ret)
{
	const struct ptc_range *r = ip ? ptc_addrspace_find(ptc_decode_addrspace(d, item), ip) :
					 NULL;

	if (!r || !r->file || !r->file->id.len)
		return false;
	*ret = r->file->id;
	return true;
}

/* The recorder's version is "ptcap 0.1.0 (emu)". */
const char *ptc_file_software_source(const struct ptc_file *f)
{
	const char *version;
	struct ptc_cur c;
	size_t n;

	if (!ptc_file_feature(f, PTC_FEAT_VERSION, &c, NULL) ||
	    !ptc_feature_get_string(&c, &version) || strncmp(version, "ptcap ", 6) != 0)
		return NULL;
	n = strlen(version);
	if (n > 5 && !strcmp(version + n - 5, "(emu)"))
		return "emu";
	return n > 6 && !strcmp(version + n - 6, "(step)") ? "step" : NULL;
}

bool ptc_decode_is_of_software(const struct ptc_decode *d)
{
	return d->in.file && ptc_file_software_source(d->in.file);
}

int ptc_decode_layout(const struct ptc_decode *d, const char *name, struct ptc_elf_layout **ret,
		      struct ptc_err *err)
{
	const struct ptc_codefiles *files = &d->in.origin.files;
	const struct ptc_codefile *found = NULL;
	size_t i;
	int fd;

	for (i = 0; i < files->n; i++) {
		const struct ptc_codefile *f = files->files[i];

		if (!f->path || strcmp(f->name, name) != 0)
			continue;
		if (found)
			return ptc_fail(err, PTC_E_NOT_EXIST,
					"the recording has code of several builds of '%s'", name);
		found = f;
	}
	if (!found)
		return ptc_fail(err, PTC_E_NOT_EXIST, "the code of '%s' came from no file", name);
	fd = ptc_codefile_reopen(found);
	if (fd < 0)
		return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' has changed, or is gone", found->path);
	return ptc_elf_layout_read(fd, found->path, ret, err);
}

/* Returns the mapping with @ip whose file can be read, or NULL. */
static const struct ptc_range *readable_range(const struct ptc_decode *d,
					      const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_proc *p = ptc_decode_process(d, item->pid);
	const struct ptc_range *r = p && ip ? ptc_addrspace_find(&p->as, ip) : NULL;

	return r && r->file && r->file->path ? r : NULL;
}

const char *ptc_decode_srcline(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			       int *ret_line)
{
	const struct ptc_range *r = readable_range(d, item, ip);

	return r ? ptc_srcline_find(&d->srclines, r->file, ip - r->start + r->off, ret_line) : NULL;
}

size_t ptc_decode_inlines(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip,
			  struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	const struct ptc_range *r = readable_range(d, item, ip);

	return r ? ptc_srcline_inlines(&d->srclines, r->file, ip - r->start + r->off, frames) : 0;
}

const char *ptc_decode_source_folder(struct ptc_decode *d, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_proc *p = ptc_decode_process(d, item->pid);
	const struct ptc_range *r = p && ip ? ptc_addrspace_find(&p->as, ip) : NULL;

	if (!r || !r->file || !r->file->path)
		return NULL;
	return ptc_srcline_folder(&d->srclines, r->file, ip - r->start + r->off);
}

Dwfl_Module *ptc_decode_module(struct ptc_decode *d, int32_t pid, uint64_t ip, Dwarf **ret_dwarf)
{
	const struct ptc_item it = { .pid = pid };
	const struct ptc_range *r = readable_range(d, &it, ip);

	return r ? ptc_srcline_module(&d->srclines, r->file, ret_dwarf) : NULL;
}

const char *ptc_decode_without_lines(const struct ptc_decode *d, size_t *ret_n)
{
	return ptc_srclines_first_without(&d->srclines, ret_n);
}

int ptc_decode_each_srcline(struct ptc_decode *d,
			    int (*on_line)(void *ctx, const char *file, int line), void *ctx)
{
	return ptc_srclines_each(&d->srclines, on_line, ctx);
}

uint64_t ptc_decode_life(const struct ptc_decode *d, const struct ptc_item *item)
{
	return ptc_procs_life(&d->in.procs, item->tid, item->pid);
}

uint64_t ptc_decode_code_state(const struct ptc_decode *d, const struct ptc_item *item)
{
	const struct ptc_addrspace *as = ptc_decode_addrspace(d, item);

	/*
	 * Address spaces without a number belong to processes whose code does not change, or is not
	 * known. Their numbers count down from the top. Neither count gets to half of the range, so
	 * they never meet.
	 */
	return as->state ? as->state + ((as->kernel ? as->kernel->version : 0) << 28) :
			   (UINT64_MAX >> 8) - ptc_addrspace_version(as);
}
