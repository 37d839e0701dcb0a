/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib_runs.h"

const struct ptc_time_conv rec_clock_1ns = { .shift = 0, .mult = 1, .zero = 0 };

struct rec_file rec_make_file(const void *bytes, size_t len)
{
	struct rec_file f = { .fd = memfd_create("test", MFD_CLOEXEC) };

	cr_assert(f.fd >= 0);
	cr_assert_eq(write(f.fd, bytes, len), (ssize_t)len);
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

void rec_begin(struct recording *t, const struct ptc_time_conv *conv)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;

	memset(t, 0, sizeof(*t));
	t->opts = opts;
	pd_init_pt(&t->pd, conv);
	t->code = rec_make_file(pt_code, PT_CODE_LEN);
}

void rec_map_code(struct recording *t, int32_t tid, uint64_t time, uint64_t addr)
{
	pd_mmap2(&t->pd, tid, time, addr, PT_CODE_LEN, 0, t->code.path);
}

void rec_begin_code(struct recording *t)
{
	rec_begin(t, &rec_clock_1ns);
	rec_map_code(t, 7, 0, 0x1000);
}

void rec_begin_two(struct recording *t, uint64_t addr)
{
	rec_begin_code(t);
	rec_map_code(t, 8, 0, addr);
}

void rec_begin_traced(struct recording *t)
{
	rec_begin_code(t);
	rec_first_syscall(t);
}

void rec_piece(struct recording *t, uint32_t idx, int32_t tid, int32_t cpu, uint64_t off,
	       struct ptc_buf *b)
{
	pd_auxtrace(&t->pd,
		    &(struct ptc_auxtrace){ .offset = off, .idx = idx, .tid = tid, .cpu = cpu },
		    b->bytes, b->len);
	ptc_buf_release(b);
}

static void print(struct recording *t, const struct ptc_item *it)
{
	uint64_t off;
	const char *file = ptc_decode_file(t->d, it, it->from ? it->from : it->to, &off);

	if (it->type == PTC_ITEM_GAP)
		fprintf(t->out, "%d gap %u %" PRIx64 " %" PRIx64 " %s\n", it->tid, it->queue,
			it->from, it->to, ptc_gap_name((enum ptc_gap_cause)it->cause));
	else
		fprintf(t->out, "%d %" PRIx64 " %" PRIx64 " %s%s\n", it->tid, it->from, it->to,
			ptc_kind_name((enum ptc_kind)it->kind), file ? "" : " unmapped");
}

int rec_on_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct recording *t = ctx;
	struct ptc_item it;
	uint64_t k;
	size_t i;

	for (i = 0; i < n; i++) {
		if (items[i].time != PTC_NO_TIME) {
			cr_assert_geq(items[i].time, t->last, "item %zu goes back in time", i);
			t->last = items[i].time;
		}
		t->runs += items[i].type == PTC_ITEM_RUN;
		for (k = 0; k < runs_count(&items[i]); k++) {
			it = runs_item(&items[i], k);
			print(t, &it);
		}
	}
	return 0;
}

int rec_run_bytes(struct recording *t, const void *bytes, size_t len, struct ptc_err *err)
{
	const struct ptc_sink sink = { rec_on_items, t };
	struct rec_file f = rec_make_file(bytes, len);
	const char *note;
	int r;

	t->out = open_memstream(&t->text, &t->len);
	t->last = 0;
	t->runs = 0;
	r = ptc_decode_open(f.path, &t->opts, &t->d, err);
	if (!r) {
		r = ptc_decode_run(t->d, &sink, err);
		t->stats.size = sizeof(t->stats);
		ptc_decode_get_stats(t->d, &t->stats);
		note = ptc_decode_note(t->d, 0);
		snprintf(t->note, sizeof(t->note), "%s", note ? note : "");
		ptc_decode_free(t->d);
	}
	fclose(t->out);
	close(f.fd);
	return r;
}

void rec_end(struct recording *t)
{
	pd_release(&t->pd);
	ptc_buf_release(&t->a);
	ptc_buf_release(&t->b);
	close(t->code.fd);
}

void rec_expect(struct recording *t, const char *lines)
{
	static const enum ptc_engine_choice engines[] = { PTC_ENGINE_LIBIPT, PTC_ENGINE_FAST };
	struct ptc_err err;
	uint8_t *bytes;
	size_t len, i;

	bytes = pd_finish(&t->pd, &len);
	for (i = 0; i < 3; i++) {
		t->opts.engine = engines[i > 0];
		t->opts.runs = i > 1;
		cr_assert_eq(rec_run_bytes(t, bytes, len, &err), 0, "%s", err.msg);
		cr_assert_str_eq(t->text, lines, "got:\n%swant:\n%s", t->text, lines);
		free(t->text);
	}
	free(bytes);
}

void rec_expect_one(struct recording *t, const char *lines)
{
	rec_piece(t, 0, 7, -1, 0, &t->a);
	rec_expect(t, lines);
	rec_end(t);
}

void rec_syscall_at(struct ptc_buf *b, uint64_t time, uint64_t base)
{
	pt_tsc(b, time);
	pt_enable(b, base + 0x16);
	pt_ip_none(b, PT_PGD);
}

void rec_psb_at(struct ptc_buf *b, uint64_t time)
{
	pt_psb(b);
	pt_tsc(b, time);
	pt_psbend(b);
}

void rec_first_syscall(struct recording *t)
{
	rec_psb_at(&t->a, 1);
	rec_syscall_at(&t->a, 10, 0x1000);
}

void rec_switch(struct recording *t, uint32_t cpu, int32_t from, int32_t to, uint64_t time)
{
	pd_switch(&t->pd, from, cpu, time, true);
	pd_switch(&t->pd, to, cpu, time + 1, false);
}

void rec_set_info(struct recording *t, int word, uint8_t value)
{
	enum { INFO_SIZE_AT = 6, WORDS = 16 };
	uint8_t *p = t->pd.data.bytes;

	while (p[0] != PTC_REC_AUXTRACE_INFO)
		p += p[INFO_SIZE_AT];
	p[WORDS + 8 * word] = value;
}
