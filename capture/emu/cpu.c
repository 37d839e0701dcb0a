/* SPDX-License-Identifier: MIT */
#include "capture/emu/cpu.h"

#include <unistd.h>

#include "capture/rings/barrier.h"

static void before_publish(void *ctx, uint64_t from, uint64_t to)
{
	struct ptc_emu_cpu *c = ctx;

	ptc_records_aux(&c->rec, from, to, 0);
}

static size_t aux_room(const struct ptc_emu_cpu *c)
{
	const struct perf_event_mmap_page *page = ptc_softring_page(c->ring);

	return c->aux_size -
	       (size_t)(ptc_softring_aux_head(c->ring) - ptc_load_tail(&page->aux_tail));
}

/*
 * Writes or drops bytes like a PMU: from the first bytes that do not fit, all are dropped up to a
 * restart. A TRUNCATED record reports that.
 */
static void drop_or_write(struct ptc_emu_cpu *c, const uint8_t *bytes, size_t len)
{
	if (!len) /* the encoder restarts */
		c->dropping = false;
	if (!c->dropping && aux_room(c) < len) {
		c->dropping = true;
		ptc_records_aux(&c->rec, ptc_softring_aux_published(c->ring),
				ptc_softring_aux_head(c->ring), PERF_AUX_FLAG_TRUNCATED);
		ptc_softring_aux_publish(c->ring);
		ptc_softring_wake(c->ring);
	}
	if (c->dropping)
		c->dropped += len;
	else
		(void)ptc_softring_aux_write(c->ring, bytes, len, NULL, NULL);
}

void ptc_emu_cpu_begin_anew(struct ptc_emu_cpu *c)
{
	if (aux_room(c) >= c->aux_size / 2)
		ptc_enc_restart(c->enc);
}

static void on_packets(void *ctx, const uint8_t *bytes, size_t len)
{
	struct ptc_emu_cpu *c = ctx;

	if (c->lossy)
		drop_or_write(c, bytes, len);
	else
		(void)ptc_softring_aux_write(c->ring, bytes, len, before_publish, c);
}

void ptc_emu_cpu_publish(struct ptc_emu_cpu *c)
{
	uint64_t from, to;

	ptc_enc_flush(c->enc);
	from = ptc_softring_aux_published(c->ring);
	to = ptc_softring_aux_head(c->ring);
	c->published = ptc_enc_pos(c->enc);
	if (from == to)
		return;
	ptc_records_aux(&c->rec, from, to, 0);
	ptc_softring_aux_publish(c->ring);
}

int ptc_emu_cpu_open(struct ptc_emu_cpu *c, const struct ptc_emu_cpu_opts *opts,
		     struct ptc_err *err)
{
	int rc = ptc_softring_new(&opts->ring, &c->ring, err);

	if (!rc)
		rc = ptc_enc_new(&opts->enc, on_packets, c, &c->enc, err);
	c->aux_size = opts->ring.aux_size;
	c->lossy = opts->ring.lossy;
	c->flow.enc = c->enc;
	c->rec.ring = c->ring;
	c->rec.cpu = opts->number;
	c->rec.clock = opts->clock;
	c->rec.pt_id = opts->first_id;
	c->rec.side_id = opts->first_id + 1;
	return rc;
}

int ptc_emu_cpu_open_lbr(struct ptc_emu_cpu *c, const struct ptc_record_opts *o,
			 struct ptc_lbr_stacks *stacks, struct ptc_truth *truth,
			 struct ptc_err *err)
{
	c->flow.lbr = &c->lbr;
	return ptc_lbr_init(&c->lbr, o, stacks, &c->rec, c->rec.side_id + 1, truth, err);
}

void ptc_emu_cpu_close(struct ptc_emu_cpu *c)
{
	ptc_lbr_release(&c->lbr);
	ptc_records_release(&c->rec);
	ptc_enc_free(c->enc);
	ptc_softring_free(c->ring);
	c->enc = NULL;
	c->ring = NULL;
}

struct ptc_source_ring ptc_emu_cpu_desc(const struct ptc_emu_cpu *c, uint32_t idx)
{
	const bool lbr = c->flow.lbr != NULL;

	return (struct ptc_source_ring){
		.page = ptc_softring_page(c->ring),
		.data_off = (size_t)sysconf(_SC_PAGESIZE),
		.data_size = ptc_softring_data_size(c->ring),
		.aux = ptc_softring_aux(c->ring),
		.aux_size = c->aux_size,
		.fd = ptc_softring_fd(c->ring),
		.counts = true,
		.idx = idx,
		.tid = -1,
		.cpu = (int32_t)c->rec.cpu,
		.id = { c->rec.pt_id, lbr ? c->lbr.id : c->rec.side_id, lbr ? c->rec.side_id : 0 },
	};
}
