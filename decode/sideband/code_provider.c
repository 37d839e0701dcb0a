/* SPDX-License-Identifier: MIT */
#include "decode/sideband/code_provider.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "auxtrace/bundle/bundle.h"
#include "auxtrace/reader/reader.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "base/untrusted.h"
#include "decode/elf/debuginfod.h"
#include "decode/elf/omitted_data.h"
#include "decode/image/core.h"
#include "decode/sideband/jitdump_parse.h"
#include "decode/sideband/process.h"
#include "decode/sideband/sideband.h"
#include "decode/symbols/symbol.h"

enum { MAP_MAX = 64 << 20 };

void ptc_origin_release(struct ptc_origin *c)
{
	size_t i;

	ptc_kernel_release(&c->kernel);
	ptc_core_free(c->core);
	for (i = 0; i < c->njits; i++) {
		ptc_text_symbols_release(&c->jits[i].names);
		ptc_poked_pages_release(&c->jits[i].poked);
	}
	free(c->jits);
	ptc_idmap_release(&c->jit_places);
	ptc_dumps_release(&c->dumps);
	free(c->lives);
	for (i = 0; i < c->nremarks; i++)
		free(c->remarks[i]);
	free(c->remarks);
	ptc_codefiles_release(&c->files);
	memset(c, 0, sizeof(*c));
}

void ptc_origin_remark(struct ptc_origin *c, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int r;

	if (!ptc_grow(&c->remarks, &c->remarks_cap, c->nremarks + 2, sizeof(*c->remarks)))
		return;
	va_start(ap, fmt);
	r = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (r < 0)
		return;
	c->remarks[c->nremarks++] = s;
	c->remarks[c->nremarks] = NULL;
}

struct ptc_jit_names *ptc_origin_jit(struct ptc_origin *c, int32_t pid)
{
	const size_t i = ptc_idmap_find(&c->jit_places, pid);

	if (i < SIZE_MAX)
		return &c->jits[i];
	if (!ptc_grow(&c->jits, &c->jits_cap, c->njits + 1, sizeof(*c->jits)) ||
	    !ptc_idmap_add(&c->jit_places, pid, c->njits))
		return NULL;
	c->jits[c->njits] = (struct ptc_jit_names){ .pid = pid };
	return &c->jits[c->njits++];
}

static int by_pid_and_time(const void *pa, const void *pb)
{
	const struct ptc_life *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

void ptc_origin_life(struct ptc_origin *c, int32_t pid, uint64_t time, uint64_t *ret_since,
		     uint64_t *ret_until)
{
	const struct ptc_life key = { pid, time };
	size_t after; /* the first life that begins after @time */

	if (!c->lives_sorted && c->nlives)
		qsort(c->lives, c->nlives, sizeof(*c->lives), by_pid_and_time);
	c->lives_sorted = true;
	after = PTC_PARTITION_POINT(i, 0, c->nlives, by_pid_and_time(&c->lives[i], &key) <= 0);
	*ret_since = after && c->lives[after - 1].pid == pid ? c->lives[after - 1].time : 0;
	*ret_until = after < c->nlives && c->lives[after].pid == pid ? c->lives[after].time - 1 :
								       UINT64_MAX;
}

/* --- before anything is applied ------------------------------------------------------------- */

static const char *release_of(const struct ptc_file *f)
{
	const char *text;
	struct ptc_cur c;

	return ptc_file_feature(f, PTC_FEAT_OSRELEASE, &c, NULL) &&
			       ptc_feature_get_string(&c, &text) && *text ?
		       text :
		       NULL;
}

static bool is_of_this_machine(const struct ptc_file *f)
{
	struct utsname own;
	const char *text;
	struct ptc_cur c;

	return ptc_file_feature(f, PTC_FEAT_HOSTNAME, &c, NULL) &&
	       ptc_feature_get_string(&c, &text) && !uname(&own) && !strcmp(own.nodename, text);
}

int ptc_origin_begin(struct ptc_origin *c, const struct ptc_file *f,
		     const struct ptc_code_opts *opts, struct ptc_err *err)
{
	int r;

	c->files.look_only = opts && opts->look_only;
	c->files.at_home = !(opts && opts->symfs) && is_of_this_machine(f);
	r = ptc_search_init(&c->files.search, opts ? opts->symfs : NULL, opts ? opts->cache : NULL,
			    release_of(f), err);
	c->files.search.left = &c->files.left;
	c->files.search.bundle = ptc_file_bundle(f);
	/* With look_only, the network is not used. */
	if (!r && !c->files.look_only)
		c->files.search.web = ptc_debuginfod_new();
	return r;
}

/* Returns what @m says about its file, apart from the name. */
static struct ptc_file_mark mark_of(const struct ptc_sb_mmap *m)
{
	return (struct ptc_file_mark){ .ino = m->ino,
				       .maj = m->maj,
				       .min = m->min,
				       .low = m->addr <= UINT32_MAX &&
					      !strcmp(m->filename, "[vdso]") };
}

static int see_mmap(struct ptc_origin *c, const struct ptc_sideband *s, const struct ptc_sb *sb,
		    struct ptc_err *err)
{
	const struct ptc_sb_mmap *m = &sb->u.mmap;
	const struct ptc_file_mark mark = mark_of(m);
	struct ptc_codefile *file;

	if (m->pid < 0 || (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		return 0;
	if (ptc_dumps_note(&c->dumps, m) || !(m->prot & PROT_EXEC))
		return 0;
	file = ptc_codefiles_get_mapped(&c->files, m->filename, ptc_sideband_id(s, m), &mark,
					m->pid);
	if (!file)
		return ptc_fail_mem(err);
	ptc_codefile_fill(file, m->pgoff, m->len);
	return 0;
}

/* Returns the pid if a process, or a new program in it, begins with @sb; else -1. */
static int32_t begins(const struct ptc_sb *sb)
{
	if (!(sb->id.has & PERF_SAMPLE_TIME) || !sb->id.time)
		return -1;
	if (sb->type == PERF_RECORD_COMM && sb->misc & PERF_RECORD_MISC_COMM_EXEC)
		return sb->u.comm.pid;
	return sb->type == PERF_RECORD_FORK && sb->u.task.pid != sb->u.task.ppid ? sb->u.task.pid :
										   -1;
}

static bool note_life(struct ptc_origin *c, const struct ptc_sb *sb)
{
	const int32_t pid = begins(sb);

	if (pid < 0)
		return true;
	if (!ptc_grow(&c->lives, &c->lives_cap, c->nlives + 1, sizeof(*c->lives)))
		return false;
	c->lives[c->nlives++] = (struct ptc_life){ pid, sb->id.time };
	c->lives_sorted = false;
	return true;
}

int ptc_origin_see(struct ptc_origin *c, const struct ptc_sideband *s, const struct ptc_sb *sb,
		   struct ptc_err *err)
{
	struct ptc_jit_names *jit;

	if (!note_life(c, sb))
		return ptc_fail_mem(err);
	if (sb->type == PERF_RECORD_MMAP || sb->type == PERF_RECORD_MMAP2)
		return see_mmap(c, s, sb, err);
	if (sb->type == PERF_RECORD_KSYMBOL)
		return ptc_kernel_name(&c->kernel, &sb->u.ksymbol,
				       sb->id.has & PERF_SAMPLE_TIME ? sb->id.time : 0) ?
			       0 :
			       ptc_fail_mem(err);
	if (sb->type != PERF_RECORD_TEXT_POKE ||
	    (sb->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return 0;
	jit = ptc_origin_jit(c, sb->id.pid);
	if (!jit)
		return ptc_fail_mem(err);
	return ptc_poked_pages_add(&jit->poked, sb->u.poke.addr,
				   ptc_cur_left(&sb->u.poke.new_bytes),
				   sb->id.has & PERF_SAMPLE_TIME ? sb->id.time : 0) ?
		       0 :
		       ptc_fail_mem(err);
}

/*
 * Returns the path of kcore_dir in a recording that is a folder (perf record --kcore), or NULL. The
 * caller frees it.
 */
static char *brought_kcore(const struct ptc_file *f)
{
	char *path;

	if (ptc_file_form(f) != PTC_FORM_FOLDER || ptc_file_bundle(f) ||
	    asprintf(&path, "%s/kcore_dir", ptc_file_name(f)) < 0)
		return NULL;
	if (!access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

static int prepare_kernel(struct ptc_procs *ps, const struct ptc_sideband *s,
			  const struct ptc_file *f, const struct ptc_code_opts *opts,
			  struct ptc_err *err)
{
	static const struct ptc_sb_mmap image = { .filename = "[kernel.kallsyms]" };
	const struct ptc_build_id none = { .len = 0 };
	const struct ptc_build_id *id = ptc_sideband_id(s, &image);
	struct ptc_kernel *k = &ps->origin->kernel;
	char *brought = brought_kcore(f);
	int r = ptc_bpf_read(&k->bpf, f, err);

	if (!r)
		r = ptc_kernel_init(k, &ps->origin->files, opts, id ? id : &none, brought, err);
	free(brought);
	if (!r)
		ptc_kernel_begin(k, &ps->kernel);
	return r;
}

int ptc_origin_prepare(struct ptc_procs *ps, struct ptc_sideband *s, const struct ptc_file *f,
		       const struct ptc_code_opts *opts, const struct ptc_tsc_clock *clock,
		       bool kernel_traced, struct ptc_err *err)
{
	struct ptc_origin *c = ps->origin;
	int r = 0;

	c->kernel.wanted = kernel_traced;
	ps->nobody.kernel = kernel_traced ? &ps->kernel.as : NULL;
	ptc_text_symbols_sort(&c->kernel.live);
	if (kernel_traced)
		r = prepare_kernel(ps, s, f, opts, err);
	if (!r && opts && opts->core)
		r = ptc_core_open(opts->core, &(struct ptc_untrusted){ .kernel = true }, &c->core,
				  err);
	return r < 0 ? r : ptc_dumps_read(c, s, f, clock, err);
}

/* --- mappings -------------------------------------------------------------------------------- */

/* Returns true if the core has the same file as @m at the same address. */
static bool core_agrees(const struct ptc_core *core, const struct ptc_sb_mmap *m,
			const struct ptc_codefile *f)
{
	const struct ptc_core_map *cm = ptc_core_map_at(core, m->addr);
	struct ptc_build_id id;

	if (f->anonymous)
		return !cm;
	if (m->filename[0] != '/')
		return !cm; /* the vdso */
	if (!cm || strcmp(cm->name, m->filename) != 0 ||
	    cm->off + (m->addr - cm->start) != m->pgoff)
		return false;
	return !f->id.len || !ptc_core_build_id(core, cm, &id) || ptc_build_id_same(&id, &f->id);
}

static bool map_core(struct ptc_origin *c, struct ptc_proc *p, const struct ptc_sb_mmap *m,
		     struct ptc_codefile *missing)
{
	struct ptc_codefile *file;
	uint64_t n, off;

	if (!core_agrees(c->core, m, missing))
		return true;
	n = ptc_core_code(c->core, &c->files, m->filename, m->addr, m->len, &file, &off);
	if (!n)
		return true;
	missing->in_core = true;
	return ptc_addrspace_map(&p->as, m->addr, n < m->len ? n : m->len, off, file);
}

bool ptc_origin_mmap(struct ptc_origin *c, struct ptc_proc *p, const struct ptc_sb_mmap *m,
		     const struct ptc_build_id *id)
{
	const struct ptc_file_mark mark = mark_of(m);
	struct ptc_codefile *file;
	uint32_t number;

	if (ptc_jit_path(m->filename, &number)) /* mapped to be noticed by perf, not to run */
		return ptc_addrspace_map(&p->as, m->addr, m->len, 0, NULL);
	file = ptc_codefiles_get_mapped(&c->files, m->filename, id, &mark, m->pid);
	if (!file || !ptc_addrspace_map(&p->as, m->addr, m->len, m->pgoff, file))
		return false;
	return file->bytes || !c->core || c->core->pid != p->pid || map_core(c, p, m, file);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Copies the file that was recorded as @path from the bundle. Returns false if it is not there. */
static bool copy_bundled(const struct ptc_bundle *b, const char *path, struct ptc_buf *out)
{
	const size_t i = b ? ptc_manifest_find_path(ptc_bundle_manifest(b), PTC_MEMBER_DATA, path) :
			     SIZE_MAX;
	struct ptc_cur bytes;

	if (i == SIZE_MAX)
		return false;
	bytes = ptc_bundle_bytes(b, i);
	if (ptc_cur_left(&bytes) > MAP_MAX)
		return false;
	ptc_buf_put(out, bytes.pos, ptc_cur_left(&bytes));
	ptc_buf_u8(out, 0);
	if (ptc_buf_failed(out))
		return false;
	out->len--;
	return true;
}

int ptc_origin_perf_map(const struct ptc_search *s, const char *name, struct ptc_buf *out,
			struct ptc_err *err)
{
	const struct ptc_untrusted how = { .root = s->symfs ? strlen(s->symfs) : 0,
					   .max = MAP_MAX,
					   .no_link = true };
	struct stat st;
	char *path;
	int r;

	if (copy_bundled(s->bundle, name, out))
		return 0;
	if (s->bundle && !s->symfs)
		return ptc_fail(err, PTC_E_NOT_EXIST, "'%s' is not in the bundle", name);
	if (asprintf(&path, "%s%s", s->symfs ? s->symfs : "", name) < 0)
		return ptc_fail_mem(err);
	r = ptc_untrusted_read(path, &how, out, &st, err);
	if (!r)
		r = ptc_untrusted_owner(&st, geteuid(), path, PTC_ORIGIN_WAY_OUT, err);
	free(path);
	return r;
}

/* Reads /tmp/perf-PID.map. */
static void read_perf_map(struct ptc_origin *c, struct ptc_jit_names *j)
{
	const struct ptc_search *s = &c->files.search;
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	char name[32], *path;
	int r;

	j->map_tried = true;
	j->sorted = false;
	(void)snprintf(name, sizeof(name), "/tmp/perf-%" PRId32 ".map", j->pid);
	if (asprintf(&path, "%s%s", s->symfs ? s->symfs : "", name) < 0)
		return;
	r = ptc_origin_perf_map(s, name, &b, &err);
	if (!r) {
		if (!ptc_text_symbols_perf_map(&j->names, (const char *)b.bytes))
			ptc_omitted_data_add(s->left, path, "rest of the names", 0);
		ptc_origin_remark(c, "assumed: '%s' is of the process that was recorded", path);
	}
	if (r && r != PTC_E_NOT_EXIST)
		ptc_origin_remark(c, "no names from there: %s", err.msg);
	ptc_buf_release(&b);
	free(path);
}

bool ptc_origin_has_names(struct ptc_origin *c, int32_t pid, uint64_t since, uint64_t time)
{
	struct ptc_jit_names *j = ptc_origin_jit(c, pid);
	size_t i;

	if (j && !j->map_tried)
		read_perf_map(c, j);
	for (i = 0; j && i < j->names.n; i++)
		if (!j->names.names[i].time ||
		    (j->names.names[i].time >= since && j->names.names[i].time <= time))
			return true;
	return false;
}

/* Returns the name of @ip at @time, among the names that process @pid got from @since on. */
static const char *name_of(struct ptc_origin *c, int32_t pid, uint64_t ip, uint64_t since,
			   uint64_t time, uint64_t *ret_off)
{
	struct ptc_jit_names *j = ptc_origin_jit(c, pid);

	if (!j)
		return NULL;
	if (!j->map_tried)
		read_perf_map(c, j);
	if (!j->sorted)
		ptc_text_symbols_sort(&j->names);
	j->sorted = true;
	return ptc_text_symbols_find_since(&j->names, ip, since, time, ret_off);
}

static const char *jit_symbol(struct ptc_origin *c, const struct ptc_proc *p, uint64_t ip,
			      uint64_t time, uint64_t *ret_off)
{
	const char *name = name_of(c, p->pid, ip, p->names_since, time, ret_off);
	const uint64_t until = time < p->names_until ? time : p->names_until;

	return name || !p->names_of ? name : name_of(c, p->names_of, ip, 0, until, ret_off);
}

const char *ptc_origin_symbol(const struct ptc_procs *ps, const struct ptc_proc *p, uint64_t ip,
			      uint64_t time, uint64_t *ret_off)
{
	const struct ptc_addrspace *as = p ? &p->as : &ps->nobody;
	const char *name = ptc_symbol_at(as, ip, ret_off);
	const struct ptc_range *r;

	if (name)
		return name;
	if (ip >> 63)
		return ptc_kernel_symbol(&ps->origin->kernel, &ps->kernel, ip, time, ret_off);
	if (!p)
		return NULL;
	/* A file has its own names. The JIT may have named code that is in no file. */
	r = ptc_addrspace_find(as, ip);
	return !r || !r->file || r->file->anonymous || r->file->from != PTC_CODE_FILE ?
		       jit_symbol(ps->origin, p, ip, time, ret_off) :
		       NULL;
}

static void remark_web(struct ptc_origin *c, const struct ptc_debuginfod *web)
{
	if (web && web->fetched)
		ptc_origin_remark(c, "debuginfod: %zu file%s taken from there (DEBUGINFOD_URLS)",
				  web->fetched, web->fetched == 1 ? "" : "s");
	else if (web && web->tried && !web->client)
		ptc_origin_remark(c, "DEBUGINFOD_URLS is set, and libdebuginfod.so.1 is not "
				     "installed: no server was asked");
}

const char *const *ptc_origin_remarks(const struct ptc_procs *ps)
{
	struct ptc_origin *c = ps->origin;

	remark_web(c, c->files.search.web);
	if (c->core && c->core->used)
		ptc_origin_remark(c, "assumed: what was taken from '%s' was the same while it ran",
				  c->core->path);
	if (c->core && c->core->pid == -1)
		ptc_origin_remark(c, "'%s' does not say whose memory it is: not used",
				  c->core->path);
	if (c->kernel.kcore && ps->kernel.other_boot)
		ptc_origin_remark(c, "'%s' is not of the kernel that was recorded: not used",
				  c->kernel.kcore->path);
	else if (c->kernel.kcore && c->kernel.kcore->used && !c->kernel.names.n)
		ptc_origin_remark(c, "assumed: '%s' is of the kernel that was recorded",
				  c->kernel.kcore->path);
	if (c->kernel.vmlinux && c->kernel.vmlinux->bytes)
		ptc_origin_remark(
			c,
			c->kernel.unplaced ?
				"the recording does not say where the kernel was: vmlinux is not "
				"used" :
				"assumed: the kernel ran as it is in vmlinux; it patches itself, "
				"which --kcore has");
	return (const char *const *)c->remarks;
}
