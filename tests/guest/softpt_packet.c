// SPDX-License-Identifier: GPL-2.0
/* softpt: packets into the AUX area. */
#include "softpt.h"
#include <asm/tsc.h>
#include <linux/module.h>

void put(struct unit *u, const void *from, int n)
{
	struct buf *b = perf_get_aux(&u->handle);
	const u8 *s = from;
	const int all = n;

	for (; n && !u->full; n--, s++) {
		*(u8 *)area_at(&b->area, u->pos) = *s;
		u->pos++;
		u->since_psb++;
		u->full = !b->area.snapshot && u->pos == u->limit;
	}
	keep_bytes(from, all - n);
}

void put_tnt(struct unit *u)
{
	u8 byte = (1 << (u->ntnt + 1)) | (u->tnt << 1);

	if (!u->ntnt)
		return;
	put(u, &byte, 1);
	u->tnt = u->ntnt = 0;
}

void put_outcome(struct unit *u, bool taken)
{
	u->tnt = u->tnt << 1 | taken;
	if (++u->ntnt == 6)
		put_tnt(u);
}

/* Writes a packet with an IP, compressed to the bytes that changed since the last IP. */
void put_ip(struct unit *u, u8 op, u64 ip)
{
	u64 diff = ip ^ u->last_ip;
	u8 p[9];
	int code, n;

	put_tnt(u);
	if (!(diff >> 16))
		code = 1, n = 2;
	else if (!(diff >> 32))
		code = 2, n = 4;
	else if ((u64)((s64)(ip << 16) >> 16) == ip)
		code = 3, n = 6;
	else
		code = 6, n = 8;
	p[0] = op | code << 5;
	memcpy(p + 1, &ip, n);
	put(u, p, 1 + n);
	u->last_ip = ip;
}

/* ---- time -------------------------------------------------------------- */

static bool has(const struct unit *u, int bit)
{
	return u->handle.event->attr.config >> bit & 1;
}

/* Returns the number of MTC periods up to @tsc. */
static u64 periods(const struct unit *u, u64 tsc)
{
	return tsc / CRYSTAL_RATIO >> (u->handle.event->attr.config >> MTC_PERIOD & 15);
}

/* The crystal's count, and the TSC ticks since its last tick: the base for MTC packets. */
static void put_tma(struct unit *u, u64 tsc)
{
	u16 ctc = tsc / CRYSTAL_RATIO, fast = tsc % CRYSTAL_RATIO;
	u8 p[7] = { 0x02, 0x73, ctc & 0xff, ctc >> 8, 0, fast & 0xff, fast >> 8 };

	put(u, p, sizeof(p));
}

void put_tsc(struct unit *u)
{
	u64 tsc = rdtsc(), p = tsc << 8 | 0x19;

	if (!has(u, CONFIG_TSC))
		return;
	put(u, &p, 8);
	if (!has(u, CONFIG_MTC))
		return;
	put_tma(u, tsc);
	u->mtc = periods(u, tsc);
}

/*
 * The 8 bits determine the time if they have not wrapped since the last MTC; otherwise puts a TSC.
 */
void put_mtc(struct unit *u)
{
	u8 p[2] = { 0x59 };
	u64 now, passed;

	if (!has(u, CONFIG_MTC))
		return;
	now = periods(u, rdtsc());
	passed = now - u->mtc;
	u->mtc = now;
	p[1] = now;
	if (passed > 255)
		put_tsc(u); /* a later time, and a new base */
	else if (passed)
		put(u, p, sizeof(p));
}

/* PSB, the state, PSBEND; with the IP if in user mode. */
void put_psb(struct unit *u)
{
	static const u8 psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				    2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	static const u8 cbr[4] = { 2, 3, 20, 0 }, mode[2] = { 0x99, 1 };
	static const u8 end[2] = { 2, 0x23 };

	put_tnt(u);
	if (u->full)
		return;
	put(u, psb, 16);
	u->since_psb = 0;
	u->last_ip = 0;
	put_tsc(u);
	put(u, cbr, 4);
	put(u, mode, 2);
	if (u->in_user)
		put_ip(u, FUP, u->ip);
	put(u, end, 2);
}
