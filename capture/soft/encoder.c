/* SPDX-License-Identifier: MIT */
#include "capture/soft/encoder_state.h"

#include <assert.h>
#include <intel-pt.h>
#include <stdlib.h>

#include "base/err.h"

enum {
	TNT_SHORT = 6, /* bits in a short TNT */
	MAX_PACKET = 16,
};

static void spill(struct ptc_enc *e)
{
	if (e->used)
		e->out(e->ctx, e->scratch, e->used);
	e->used = 0;
	(void)pt_enc_sync_set(e->pt, 0);
}

static void encode(struct ptc_enc *e, const struct pt_packet *p)
{
	const int n = pt_enc_next(e->pt, p);

	assert(n > 0 && n <= MAX_PACKET); /* fails only for a malformed packet */
	e->used += (size_t)n;
	e->pos += (uint64_t)n;
}

/* Writes PADs up to a multiple of 8 bytes: a chunk of AUX data may end here. */
static void pad_to_8_bytes(struct ptc_enc *e)
{
	const struct pt_packet p = { .type = ppt_pad };

	while (e->pos % 8)
		encode(e, &p);
}

static void put_pt_packet(struct ptc_enc *e, const struct pt_packet *p)
{
	if (e->used + MAX_PACKET + 8 > PTC_ENC_SCRATCH) {
		pad_to_8_bytes(e);
		spill(e);
	}
	encode(e, p);
}

static void put_bare(struct ptc_enc *e, enum pt_packet_type type)
{
	const struct pt_packet p = { .type = type };

	put_pt_packet(e, &p);
}

static void flush_tnt(struct ptc_enc *e)
{
	struct pt_packet p = { .type = e->ntnt <= TNT_SHORT ? ppt_tnt_8 : ppt_tnt_64 };

	if (!e->ntnt)
		return;
	p.payload.tnt.bit_size = e->ntnt;
	p.payload.tnt.payload = e->tnt;
	put_pt_packet(e, &p);
	e->ntnt = 0;
	e->tnt = 0;
}

/* Sends only the bytes that differ from the last IP (SDM 33.4.2.2, "IP compression"). */
static void put_ip(struct ptc_enc *e, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet p = { .type = type };

	if (e->ip_known && ip >> 16 == e->last_ip >> 16) {
		p.payload.ip.ipc = pt_ipc_update_16;
		p.payload.ip.ip = ip & 0xffff;
	} else if (e->ip_known && ip >> 32 == e->last_ip >> 32) {
		p.payload.ip.ipc = pt_ipc_update_32;
		p.payload.ip.ip = ip & 0xffffffff;
	} else {
		p.payload.ip.ipc = pt_ipc_sext_48;
		p.payload.ip.ip = ip & 0xffffffffffff;
	}
	e->last_ip = ip;
	e->ip_known = true;
	put_pt_packet(e, &p);
}

static void put_mode(struct ptc_enc *e)
{
	struct pt_packet p = { .type = ppt_mode };

	p.payload.mode.leaf = pt_mol_exec;
	p.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	put_pt_packet(e, &p);
	e->mode_sent = true;
}

static uint64_t mtc_of(const struct ptc_enc *e, uint64_t tsc)
{
	return tsc / e->opts.tsc_per_ctc >> e->opts.mtc_freq;
}

static void set_mtc(struct ptc_enc *e, uint64_t mtc)
{
	e->mtc = mtc;
	e->mtc_next = ((mtc + 1) << e->opts.mtc_freq) * e->opts.tsc_per_ctc;
}

/* Writes a TSC, and a TMA that relates MTC to it. */
static void put_time(struct ptc_enc *e, uint64_t tsc)
{
	struct pt_packet p = { .type = ppt_tsc };

	p.payload.tsc.tsc = tsc & 0xffffffffffffff;
	put_pt_packet(e, &p);
	p = (struct pt_packet){ .type = ppt_tma };
	p.payload.tma.ctc = (uint16_t)(tsc / e->opts.tsc_per_ctc);
	p.payload.tma.fc = (uint16_t)(tsc % e->opts.tsc_per_ctc);
	put_pt_packet(e, &p);
	set_mtc(e, mtc_of(e, tsc));
}

/*
 * Writes out the earlier bytes, then an OVF. Without the OVF a decoder would continue as if nothing
 * were missing.
 */
static void put_overflow(struct ptc_enc *e, uint64_t ip)
{
	e->restart = false;
	pad_to_8_bytes(e);
	spill(e);
	e->out(e->ctx, NULL, 0);
	put_bare(e, ppt_ovf);
	e->ip_known = false;
	if (e->on)
		put_ip(e, ppt_fup, ip);
}

static void put_psb(struct ptc_enc *e, uint64_t ip, uint64_t tsc)
{
	struct pt_packet p = { .type = ppt_cbr };

	flush_tnt(e);
	if (e->restart)
		put_overflow(e, ip);
	e->last_psb = e->pos;
	put_bare(e, ppt_psb);
	/* send a full FUP: perf 6.1 decompresses the FUP of a PSB+ with a stale IP */
	e->ip_known = false;
	e->mode_sent = false;
	e->depth = 0;
	put_time(e, tsc);
	p.payload.cbr.ratio = e->opts.cbr;
	put_pt_packet(e, &p);
	if (e->on) {
		put_mode(e);
		put_ip(e, ppt_fup, ip);
	}
	put_bare(e, ppt_psbend);
}

/*
 * Writes one MTC per tick. MTC has eight bits of the counter. After more than 64 ticks a TSC is
 * written instead, since a decoder could miss a wrap.
 */
static void put_mtc(struct ptc_enc *e, uint64_t tsc)
{
	uint64_t now;

	if (tsc < e->mtc_next) /* fast path: avoids the division */
		return;
	now = mtc_of(e, tsc);
	if (now - e->mtc > 64) {
		put_time(e, tsc);
		return;
	}
	while (e->mtc != now) {
		struct pt_packet p = { .type = ppt_mtc };

		set_mtc(e, e->mtc + 1);
		p.payload.mtc.ctc = (uint8_t)e->mtc;
		put_pt_packet(e, &p);
	}
}

int ptc_enc_new(const struct ptc_enc_opts *opts, ptc_enc_out *out, void *ctx, struct ptc_enc **ret,
		struct ptc_err *err)
{
	struct pt_config config;
	struct ptc_enc *e = calloc(1, sizeof(*e));

	assert(opts->tsc_per_ctc && opts->tsc_per_ctc < 512);
	if (!e)
		return ptc_fail_mem(err);
	e->opts = *opts;
	e->out = out;
	e->ctx = ctx;
	pt_config_init(&config);
	config.begin = e->scratch;
	config.end = e->scratch + PTC_ENC_SCRATCH;
	e->pt = pt_alloc_encoder(&config);
	if (!e->pt) {
		free(e);
		return ptc_fail_mem(err);
	}
	*ret = e;
	return 0;
}

void ptc_enc_free(struct ptc_enc *e)
{
	if (!e)
		return;
	pt_free_encoder(e->pt);
	free(e);
}

bool ptc_enc_on(const struct ptc_enc *e)
{
	return e->on;
}

void ptc_enc_begin(struct ptc_enc *e, uint64_t tsc)
{
	assert(!e->on);
	put_psb(e, 0, tsc);
}

void ptc_enc_enter(struct ptc_enc *e, uint64_t ip, uint64_t tsc)
{
	assert(!e->on);
	/*
	 * Each entry has an exact time. Changes made in the kernel before it, such as a new
	 * mapping, must be applied before the code is decoded.
	 */
	if (ptc_enc_psb_due(e))
		put_psb(e, 0, tsc);
	else
		put_time(e, tsc);
	if (!e->mode_sent)
		put_mode(e);
	put_ip(e, ppt_tip_pge, ip);
	e->on = true;
}

static void put_pgd(struct ptc_enc *e)
{
	struct pt_packet p = { .type = ppt_tip_pgd };

	p.payload.ip.ipc = pt_ipc_suppressed;
	put_pt_packet(e, &p);
	e->on = false;
}

void ptc_enc_exit(struct ptc_enc *e, uint64_t tsc)
{
	assert(e->on);
	flush_tnt(e);
	put_mtc(e, tsc);
	put_pgd(e);
}

void ptc_enc_async_exit(struct ptc_enc *e, uint64_t ip, uint64_t tsc)
{
	assert(e->on);
	flush_tnt(e);
	put_mtc(e, tsc);
	put_ip(e, ppt_fup, ip);
	put_pgd(e);
}

void ptc_enc_step(struct ptc_enc *e, uint64_t ip, uint64_t tsc)
{
	assert(e->on);
	if (ptc_enc_psb_due(e))
		put_psb(e, ip, tsc);
	else
		put_mtc(e, tsc);
}

void ptc_enc_cond(struct ptc_enc *e, bool taken)
{
	e->tnt = e->tnt << 1 | taken;
	if (++e->ntnt == PTC_ENC_TNT_LONG)
		flush_tnt(e);
}

void ptc_enc_indirect(struct ptc_enc *e, uint64_t to)
{
	flush_tnt(e);
	put_ip(e, ppt_tip, to);
}

void ptc_enc_push(struct ptc_enc *e, uint64_t ret)
{
	ptc_enc_quick_push(e, ret);
}

/*
 * A return to the address after its call is one taken TNT bit. Any other return gets a TIP and
 * clears the stack. perf pops on every RET, libipt only on compressed RETs. With an empty stack
 * both agree.
 */
void ptc_enc_ret(struct ptc_enc *e, uint64_t to)
{
	if (ptc_enc_compresses(e, to)) {
		ptc_enc_pop(e);
		ptc_enc_cond(e, true);
		return;
	}
	e->depth = 0;
	ptc_enc_indirect(e, to);
}

void ptc_enc_flush(struct ptc_enc *e)
{
	flush_tnt(e);
	pad_to_8_bytes(e);
	spill(e);
}

void ptc_enc_restart(struct ptc_enc *e)
{
	e->restart = true;
}

void ptc_enc_psb(struct ptc_enc *e)
{
	e->last_psb = e->pos - e->opts.psb_period;
}

uint64_t ptc_enc_pos(const struct ptc_enc *e)
{
	return e->pos;
}
