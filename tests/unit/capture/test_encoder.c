/* SPDX-License-Identifier: MIT */
/* Description: control flow becomes the packets that the SDM defines. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "base/buf.h"
#include "capture/soft/encoder.h"

enum { TICKS = 125, MTC = 3, MTC_TICKS = TICKS << MTC };

struct stream {
	struct ptc_enc *enc;
	struct ptc_buf bytes;
	bool whole; /* every chunk ended at a packet's end and at a multiple of 8 */
	size_t restarts, restart_at;
};

/* Takes a chunk and checks that it may be the end of an AUX record. */
static void take(void *ctx, const uint8_t *bytes, size_t len)
{
	struct stream *s = ctx;
	size_t pos = 0;
	enum ptc_pkt type;

	if (!len) {
		s->restarts++;
		s->restart_at = s->bytes.len;
	}
	while (pos < len) {
		const int n = ptc_pkt_len(bytes + pos, len - pos, &type);

		if (n <= 0) {
			s->whole = false;
			break;
		}
		pos += (size_t)n;
	}
	ptc_buf_put(&s->bytes, bytes, len);
	if (s->bytes.len % 8)
		s->whole = false;
}

static void open_stream(struct stream *s, bool no_retcomp, uint32_t psb_period)
{
	const struct ptc_enc_opts opts = { .no_retcomp = no_retcomp,
					   .psb_period = psb_period,
					   .mtc_freq = MTC,
					   .tsc_per_ctc = TICKS,
					   .cbr = 30 };
	struct ptc_err err;

	*s = (struct stream){ .bytes = PTC_BUF_INIT, .whole = true };
	cr_assert_eq(ptc_enc_new(&opts, take, s, &s->enc, &err), 0);
}

static void close_stream(struct stream *s)
{
	cr_assert(s->whole);
	ptc_enc_free(s->enc);
	ptc_buf_release(&s->bytes);
}

/* Returns the packets since the cut as words, without PADs: "PSB TSC TMA ...". */
static const char *words(struct stream *s)
{
	static char text[1 << 20];
	size_t pos = 0, used = 0;
	enum ptc_pkt type;

	ptc_enc_flush(s->enc);
	text[0] = '\0';
	while (pos < s->bytes.len) {
		const int n = ptc_pkt_len(s->bytes.bytes + pos, s->bytes.len - pos, &type);

		cr_assert_gt(n, 0, "not a packet at %zu", pos);
		if (type != PTC_PKT_PAD)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", ptc_pkt_name(type));
		pos += (size_t)n;
	}
	return text;
}

/* Forgets the bytes so far: words() then returns only the packets after the cut. */
static void cut(struct stream *s)
{
	ptc_enc_flush(s->enc);
	cr_assert(s->whole);
	ptc_buf_reset(&s->bytes);
}

Test(encoder, a_trace_begins_with_a_psb_without_an_ip)
{
	struct stream s;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	cr_assert_str_eq(words(&s), "PSB TSC TMA CBR PSBEND");
	close_stream(&s);
}

Test(encoder, an_entry_says_the_time_the_mode_and_the_ip)
{
	struct stream s;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	cut(&s);
	ptc_enc_enter(s.enc, 0x401000, 1001);
	cr_assert(ptc_enc_on(s.enc));
	ptc_enc_exit(s.enc, 1002);
	cr_assert_not(ptc_enc_on(s.enc));
	ptc_enc_enter(s.enc, 0x401002, 1003); /* the mode is known already */
	cr_assert_str_eq(words(&s), "TSC TMA MODE TIP.PGE TIP.PGD TSC TMA TIP.PGE");
	close_stream(&s);
}

Test(encoder, six_conditional_branches_are_short_and_more_are_long)
{
	struct stream s;
	int i;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	cut(&s);
	for (i = 0; i < 6; i++)
		ptc_enc_cond(s.enc, i & 1);
	cr_assert_str_eq(words(&s), "TNT");
	cut(&s);
	for (i = 0; i < 7; i++)
		ptc_enc_cond(s.enc, i & 1);
	cr_assert_str_eq(words(&s), "TNT64");
	cut(&s);
	for (i = 0; i < 48; i++)
		ptc_enc_cond(s.enc, true);
	cr_assert_str_eq(words(&s), "TNT64 TNT");
	close_stream(&s);
}

/* Returns the IP of the packets since the cut, decompressed with @last. */
static uint64_t last_ip_of(struct stream *s, uint64_t last, size_t *ret_len)
{
	size_t pos = 0;
	enum ptc_pkt type;

	ptc_enc_flush(s->enc);
	while (pos < s->bytes.len) {
		const int n = ptc_pkt_len(s->bytes.bytes + pos, s->bytes.len - pos, &type);

		if (type == PTC_PKT_TIP || type == PTC_PKT_TIP_PGE || type == PTC_PKT_FUP) {
			(void)ptc_pkt_ip(s->bytes.bytes + pos, last, &last);
			*ret_len = (size_t)n;
		}
		pos += (size_t)n;
	}
	return last;
}

Test(encoder, only_the_bytes_of_an_ip_that_differ_are_sent)
{
	static const struct {
		uint64_t ip;
		size_t len;
	} cases[] = {
		{ 0x7f0011112222, 3 },	   /* 16 bits */
		{ 0x7f00ffff0000, 5 },	   /* 32 bits */
		{ 0x560000000000, 7 },	   /* 48 bits */
		{ 0xffffffffff600000, 7 }, /* sign-extended */
		{ 0x10, 7 },
	};
	uint64_t last = 0x7f0011111111;
	struct stream s;
	size_t i, len = 0;

	open_stream(&s, false, 1 << 20);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, last, 1000);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cut(&s);
		ptc_enc_indirect(s.enc, cases[i].ip);
		last = last_ip_of(&s, last, &len);
		cr_assert_eq(last, cases[i].ip, "case %zu: %llx", i, (unsigned long long)last);
		cr_assert_eq(len, cases[i].len, "case %zu: %zu bytes", i, len);
	}
	close_stream(&s);
}

Test(encoder, returns_to_their_calls_are_compressed_sixty_four_deep)
{
	struct stream s;
	unsigned int i;
	size_t tips = 0;
	const char *p;

	open_stream(&s, false, 1 << 20);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	for (i = 0; i < 65; i++)
		ptc_enc_push(s.enc, 0x500000 + i);
	cut(&s);
	for (i = 65; i-- > 0;)
		ptc_enc_ret(s.enc, 0x500000 + i);
	for (p = words(&s); (p = strstr(p, "TIP")); p++)
		tips++;
	cr_assert_eq(tips, 1, "the 65th return address had been dropped");
	close_stream(&s);
}

Test(encoder, a_return_elsewhere_gets_a_tip_and_forgets_the_stack)
{
	struct stream s;

	open_stream(&s, false, 1 << 20);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	ptc_enc_push(s.enc, 0x500000);
	ptc_enc_push(s.enc, 0x500010);
	cut(&s);
	ptc_enc_ret(s.enc, 0x600000);
	ptc_enc_ret(s.enc, 0x500000); /* would match if the stack were kept */
	cr_assert_str_eq(words(&s), "TIP TIP");
	close_stream(&s);
}

Test(encoder, without_ret_compression_every_return_gets_a_tip)
{
	struct stream s;

	open_stream(&s, true, 1 << 20);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	ptc_enc_push(s.enc, 0x500000);
	cut(&s);
	ptc_enc_ret(s.enc, 0x500000);
	cr_assert_str_eq(words(&s), "TIP");
	close_stream(&s);
}

Test(encoder, a_psb_comes_each_period_with_a_whole_ip_and_an_empty_stack)
{
	struct stream s;
	unsigned int i;
	size_t len = 0;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	ptc_enc_push(s.enc, 0x500000);
	for (i = 0; i < 1024; i++)
		ptc_enc_indirect(s.enc, 0x401000 + i);
	cut(&s);
	ptc_enc_step(s.enc, 0x401010, 1000);
	cr_assert_str_eq(words(&s), "PSB TSC TMA CBR MODE FUP PSBEND");
	cr_assert_eq(last_ip_of(&s, 0, &len), 0x401010);
	cr_assert_eq(len, 7, "perf 6.1 needs it whole");
	cut(&s);
	ptc_enc_ret(s.enc, 0x500000);
	cr_assert_str_eq(words(&s), "TIP", "the return stack ends at a PSB");
	close_stream(&s);
}

Test(encoder, each_tick_is_an_mtc_and_a_long_silence_a_tsc)
{
	struct stream s;

	open_stream(&s, false, 1 << 20);
	ptc_enc_begin(s.enc, 0);
	ptc_enc_enter(s.enc, 0x401000, 0);
	cut(&s);
	ptc_enc_step(s.enc, 0x401000, MTC_TICKS - 1);
	cr_assert_str_eq(words(&s), "");
	ptc_enc_step(s.enc, 0x401000, MTC_TICKS);
	cr_assert_str_eq(words(&s), "MTC");
	ptc_enc_step(s.enc, 0x401000, 3ull * MTC_TICKS);
	cr_assert_str_eq(words(&s), "MTC MTC MTC");
	cut(&s);
	ptc_enc_step(s.enc, 0x401000, 300ull * MTC_TICKS);
	cr_assert_str_eq(words(&s), "TSC TMA", "eight bits of the counter would be ambiguous");
	close_stream(&s);
}

Test(encoder, an_asynchronous_exit_names_where)
{
	struct stream s;
	size_t len;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1000);
	ptc_enc_cond(s.enc, true);
	cut(&s);
	ptc_enc_cond(s.enc, true);
	ptc_enc_async_exit(s.enc, 0x401234, 1000);
	cr_assert_str_eq(words(&s), "TNT FUP TIP.PGD");
	cr_assert_eq(last_ip_of(&s, 0x401000, &len), 0x401234);
	close_stream(&s);
}

Test(encoder, what_is_written_out_on_the_way_ends_at_packets)
{
	struct stream s;
	unsigned int i;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 0);
	ptc_enc_enter(s.enc, 0x401000, 0);
	for (i = 0; i < 20000; i++) {
		ptc_enc_step(s.enc, 0x401000 + i, i * 97ull);
		ptc_enc_cond(s.enc, i % 3 == 0);
		if (i % 5 == 0)
			ptc_enc_indirect(s.enc, i * 0x10001ull);
	}
	(void)words(&s);
	cr_assert_gt(s.bytes.len, (size_t)4 * 4096);
	close_stream(&s);
}

Test(encoder, a_new_beginning_is_an_overflow_and_a_psb)
{
	struct stream s;

	open_stream(&s, false, 2048);
	ptc_enc_begin(s.enc, 1000);
	ptc_enc_enter(s.enc, 0x401000, 1001);
	cut(&s);
	ptc_enc_cond(s.enc, true);
	ptc_enc_restart(s.enc);
	cr_assert_eq(s.restarts, 0);
	ptc_enc_step(s.enc, 0x401010, 1002);
	ptc_enc_step(s.enc, 0x401012, 1002);
	cr_assert_str_eq(words(&s), "TNT OVF FUP PSB TSC TMA CBR MODE FUP PSBEND");
	cr_assert_eq(s.restarts, 1);
	cr_assert_eq(s.restart_at, 8); /* the held-back bit was output before */
	ptc_enc_exit(s.enc, 1003);
	cut(&s);
	ptc_enc_restart(s.enc);
	ptc_enc_enter(s.enc, 0x401020, 1004);
	cr_assert_str_eq(words(&s), "OVF PSB TSC TMA CBR PSBEND MODE TIP.PGE");
	close_stream(&s);
}
