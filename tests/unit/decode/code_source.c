/* SPDX-License-Identifier: MIT */
#include "code_source.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/bundle/bundle_write.h"
#include "auxtrace/feature/feature_base.h"
#include "decode/archive/bundle_files.h"
#include "decode/archive/reached_files.h"
#include "lib_elf.h"
#include "lib_pt.h"
#include "recording.h"

void origin_set_cpu(struct pd *pd, const char *cpuid)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_feature_put_string(&b, cpuid);
	pd_feature(pd, PTC_FEAT_CPUID, b.bytes, b.len);
	ptc_buf_release(&b);
}

void origin_begin(struct origin *t)
{
	memset(t, 0, sizeof(*t));
	pd_init_pt(&t->pd, &rec_clock_1ns);
	le_folder(t->dir, sizeof(t->dir));
	t->code.size = sizeof(t->code);
	t->code.cache = t->dir;
	origin_set_cpu(&t->pd, "GenuineIntel,6,158,10");
}

void origin_end(struct origin *t)
{
	pd_release(&t->pd);
	free(t->text);
	le_folder_remove(t->dir);
}

static int on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct origin *t = ctx;
	const char *name;
	uint64_t off;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_GAP) {
			fprintf(t->out, "gap %s\n", ptc_gap_name((enum ptc_gap_cause)it->cause));
			continue;
		}
		name = ptc_decode_symbol(t->d, it, it->from ? it->from : it->to, &off);
		fprintf(t->out, "%" PRIx64 " %" PRIx64 " %s%s%s\n", it->from, it->to,
			ptc_kind_name((enum ptc_kind)it->kind), name ? " " : "", name ? name : "");
	}
	return 0;
}

static void keep(char *out, size_t size, const char *s)
{
	snprintf(out, size, "%s", s ? s : "(null)");
}

/* Writes a bundle of the recording at @path. */
static void put_bundle(const struct origin *t, const char *path, const char *bundle)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	const struct ptc_reached reached = { .d = NULL };
	struct ptc_bundle_writer w = { .sources = NULL };
	struct ptc_bundle_files files = { .reached = &reached, .writer = &w };
	struct ptc_err err;

	opts.code = &t->code;
	cr_assert_eq(ptc_decode_open(path, &opts, &files.d, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_bundle_files_add(&files, &err), 0, "%s", err.msg);
	cr_assert_eq(ptc_bundle_write(&w, bundle, 1, &err), 0, "%s", err.msg);
	ptc_bundle_writer_release(&w);
	ptc_decode_free(files.d);
}

int origin_run(struct origin *t, bool survey, struct ptc_err *err)
{
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	const struct ptc_sink sink = { on_items, t };
	const char *note;
	char path[96], data[104];
	size_t i;
	int r;

	snprintf(path, sizeof(path), "%s/perf.data", t->dir);
	snprintf(data, sizeof(data), "%s%s", path, t->folder ? "/data" : "");
	pd_write(&t->pd, data);
	if (t->bundled) {
		snprintf(data, sizeof(data), "%s.ptcap", path);
		put_bundle(t, path, data);
		memcpy(path, data, sizeof(path));
	}
	opts.code = &t->code;
	free(t->text);
	t->out = open_memstream(&t->text, &t->len);
	r = ptc_decode_open(path, &opts, &t->d, err);
	if (!r) {
		r = survey ? ptc_decode_survey(t->d, &t->files, err) :
			     ptc_decode_run(t->d, &sink, err);
		for (i = 0; (note = ptc_decode_note(t->d, i)) != NULL; i++)
			fprintf(t->out, "# %s\n", note);
		for (i = 0; ptc_decode_missing(t->d, i, &t->missing); i++) {
			if (i)
				continue;
			keep(t->file, sizeof(t->file), t->missing.file);
			keep(t->build_id, sizeof(t->build_id), t->missing.build_id);
			keep(t->found_id, sizeof(t->found_id), t->missing.found_id);
		}
		t->nmissing = i;
		ptc_decode_free(t->d);
	}
	fclose(t->out);
	return r;
}

void origin_expect(struct origin *t, const char *lines, const char *notes)
{
	struct ptc_err err;
	char *hash;

	cr_assert_eq(origin_run(t, false, &err), 0, "%s", err.msg);
	hash = strchr(t->text, '#');
	cr_assert(!strncmp(t->text, lines, strlen(lines)) &&
			  (hash ? hash == t->text + strlen(lines) : t->len == strlen(lines)),
		  "got:\n%swant:\n%s", t->text, lines);
	cr_assert(notes ? hash && !strncmp(hash, notes, strlen(notes)) : !hash, "got:\n%swant:\n%s",
		  t->text, notes ? notes : "(no note)");
}

void origin_trace(struct origin *t, struct ptc_buf *b)
{
	pd_auxtrace(&t->pd, &(struct ptc_auxtrace){ .tid = 7, .cpu = -1 }, b->bytes, b->len);
	ptc_buf_release(b);
}

void origin_one_syscall(struct origin *t, uint64_t base)
{
	struct ptc_buf b = PTC_BUF_INIT;

	rec_psb_at(&b, 1);
	rec_syscall_at(&b, 50, base);
	origin_trace(t, &b);
}

void origin_map_id(struct origin *t, uint64_t addr, uint64_t off, const char *name, uint8_t id)
{
	struct ptc_sb sb = { .type = PERF_RECORD_MMAP2,
			     .misc = PERF_RECORD_MISC_USER,
			     .id = { .has = PD_SAMPLE_TYPE, .pid = 7, .tid = 7 },
			     .u.mmap = { .pid = 7,
					 .tid = 7,
					 .addr = addr,
					 .len = 0x1000,
					 .pgoff = off,
					 .prot = PROT_READ | PROT_EXEC,
					 .filename = name } };

	memset(sb.u.mmap.build_id.bytes, 0x11, 20);
	sb.u.mmap.build_id.bytes[0] = id;
	sb.u.mmap.build_id.len = 20;
	pd_sb(&t->pd, &sb);
}

void origin_kernel_mmap(struct origin *t, uint64_t addr, uint64_t len, uint64_t pgoff,
			const char *name)
{
	struct ptc_sb sb = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.id = { .has = PD_SAMPLE_TYPE, .pid = -1, .tid = -1 },
		.u.mmap = { .pid = -1, .addr = addr, .len = len, .pgoff = pgoff, .filename = name },
	};

	t->pd.attrs[0].attr.exclude_kernel = 0;
	pd_sb(&t->pd, &sb);
}
