/* SPDX-License-Identifier: MIT */
#include "lib_flow.h"

static unsigned int pick(struct fl_walk *w, unsigned int n)
{
	w->seed = w->seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned int)(w->seed >> 33) % n;
}

static void flush(struct fl_walk *w)
{
	char text[7] = "";
	unsigned int i;

	if (w->nbits > 6) {
		pt_tnt64(w->b, w->bits, w->nbits);
	} else {
		for (i = 0; i < w->nbits; i++)
			text[i] = w->bits >> (w->nbits - 1 - i) & 1 ? 'T' : 'N';
		pt_tnt(w->b, text);
	}
	w->bits = w->nbits = 0;
}

static bool bit(struct fl_walk *w, bool taken)
{
	w->bits = w->bits << 1 | taken;
	if (++w->nbits == w->most) {
		flush(w);
		w->most = pick(w, 2) ? 1 + pick(w, 6) : 1 + pick(w, 47);
	}
	return taken;
}

static void tip(struct fl_walk *w, uint64_t ip)
{
	flush(w);
	pt_ip(w->b, PT_TIP, ip);
	w->ip = ip;
}

static uint64_t anywhere(struct fl_walk *w)
{
	static const uint16_t places[] = { 0x1000, 0x1002, 0x1003, 0x1006, 0x100e, 0x1010,
					   0x1012, 0x1014, 0x102f, 0x1031, 0x1033 };

	w->base = pick(w, 8) ? w->base : w->base ? 0 : PT_HIGH;
	return w->base + places[pick(w, sizeof(places) / sizeof(*places))];
}

static void call(struct fl_walk *w, uint64_t back)
{
	w->stack[w->depth++ % 64] = w->base + back;
}

/* A return is usually compressed, if it goes back to its call. */
static void ret(struct fl_walk *w, size_t known)
{
	uint64_t to;

	if (!known || !pick(w, 20)) {
		tip(w, anywhere(w));
		return;
	}
	to = w->stack[--w->depth % 64];
	w->base = to >> 32 << 32;
	bit(w, true);
	w->ip = to;
}

/* Advances the time: time packets may come anywhere. */
static void tick(struct fl_walk *w)
{
	const unsigned int n = pick(w, 10);

	w->ctc += (1 + pick(w, 3)) << w->mtc_freq;
	if (n == 0) {
		pt_tsc(w->b, w->ctc * w->ticks + n);
		pt_tma(w->b, (uint16_t)w->ctc, (uint16_t)n);
	} else if (n == 1) {
		pt_cbr(w->b, (uint8_t)(1 + pick(w, 40)));
	} else {
		pt_mtc(w->b, (uint8_t)(w->ctc >> w->mtc_freq));
	}
}

static void psb(struct fl_walk *w)
{
	if (!w->timed) {
		pt_psb_on(w->b, w->ip);
		return;
	}
	w->ctc += pick(w, 3) << w->mtc_freq;
	pt_psb(w->b);
	pt_tsc(w->b, w->ctc * w->ticks + 5);
	pt_tma(w->b, (uint16_t)w->ctc, 5);
	pt_mode_exec64(w->b);
	pt_ip(w->b, PT_FUP, w->ip);
	pt_psbend(w->b);
}

/* Runs one instruction. */
static void run_insn(struct fl_walk *w, size_t *known)
{
	const uint64_t base = w->base;

	switch (w->ip - base) {
	case 0x1000:
		w->ip = base + (bit(w, pick(w, 2)) ? 0x1003 : 0x1002);
		break;
	case 0x1002:
		w->ip = base + 0x1003;
		break;
	case 0x1003:
		w->ip = base + 0x1006;
		break;
	case 0x1006:
		call(w, 0x100b);
		++*known;
		w->ip = base + 0x1024;
		break;
	case 0x100e:
		call(w, 0x1010);
		++*known;
		tip(w, anywhere(w));
		break;
	case 0x1010:
		bit(w, pick(w, 2));
		w->ip = base + 0x1012;
		break;
	case 0x1012:
		w->ip = base + (bit(w, pick(w, 4)) ? 0x100e : 0x1014);
		break;
	case 0x1014:
		w->ip = base + 0x1016;
		break;
	case 0x1024:
		w->ip = base + 0x1025;
		break;
	case 0x102f:
		w->ip = base + 0x1031;
		break;
	case 0x1031:
		w->ip = base + (bit(w, !pick(w, 4)) ? 0x1038 : 0x1033);
		break;
	case 0x1033:
		call(w, 0x1038);
		++*known;
		w->ip = base + 0x102f;
		break;
	case 0x1025:
	case 0x1038:
		ret(w, *known);
		*known -= *known > 0;
		break;
	default: /* an indirect jump, or a system call */
		tip(w, anywhere(w));
		break;
	}
	if (*known > 64)
		*known = 64;
}

/* Adds one of the rarer events of a trace. */
static void happen(struct fl_walk *w, size_t *known)
{
	const uint64_t at = w->ip;

	flush(w);
	switch (pick(w, 6)) {
	case 0: /* an event with its handler in traced code */
		pt_ip(w->b, PT_FUP, at);
		if (!w->timed)
			pt_mtc(w->b, (uint8_t)pick(w, 256));
		else if (!pick(w, 8))
			tick(w);
		tip(w, anywhere(w));
		break;
	case 1: /* an event with its handler elsewhere */
		pt_ip(w->b, PT_FUP, at);
		pt_ip_none(w->b, PT_PGD);
		if (pick(w, 2))
			w->ip = anywhere(w);
		if (w->timed && pick(w, 2))
			tick(w);
		pt_enable(w->b, w->ip);
		break;
	case 2: /* a border of an address filter */
		pt_ip(w->b, PT_PGD, at);
		w->ip = anywhere(w);
		pt_enable(w->b, w->ip);
		break;
	case 3:
		if (w->timed && pick(w, 8)) {
			tick(w);
			break;
		}
		/* The calls since the last packet are unknown. */
		*known = 0;
		pt_ovf(w->b);
		w->ip = anywhere(w);
		pt_ip(w->b, PT_FUP, w->ip);
		break;
	case 4: /* the processor clears its call stack */
		psb(w);
		*known = 0;
		break;
	default:
		if (w->timed) {
			tick(w);
			break;
		}
		pt_cyc(w->b, 1 + pick(w, 5000));
		pt_mtc(w->b, (uint8_t)pick(w, 256));
		break;
	}
}

void fl_walk(struct fl_walk *w, unsigned int insns)
{
	size_t known = 0;

	w->ip = 0x1000;
	w->most = 6;
	w->ticks = w->ticks ? w->ticks : FL_CTC_TICKS;
	psb(w);
	while (insns--) {
		if (w->timed && !pick(w, 8))
			tick(w);
		if (!pick(w, 50))
			happen(w, &known);
		run_insn(w, &known);
	}
	flush(w);
}
