/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_stats.h"

static void see_time(struct ptc_totals *t, uint64_t ns)
{
	if (ns == PTC_NO_TIME)
		return;
	if (t->first_ns == PTC_NO_TIME || ns < t->first_ns)
		t->first_ns = ns;
	if (t->last_ns == PTC_NO_TIME || ns > t->last_ns)
		t->last_ns = ns;
}

int ptc_totals_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_totals *t = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct ptc_item *it = &items[i];

		if (it->type == PTC_ITEM_BRANCH)
			t->kinds[it->kind]++;
		else if (it->type == PTC_ITEM_GAP)
			t->gap_bytes[it->cause] += it->to;
		see_time(t, it->time);
	}
	return 0;
}

int ptc_totals_sums(void *ctx, const struct ptc_sums *sums)
{
	struct ptc_totals *t = ctx;
	size_t i;

	for (i = 0; i < PTC_KIND_COUNT; i++)
		t->kinds[i] += sums->kinds[i];
	see_time(t, sums->first_ns);
	see_time(t, sums->last_ns);
	return 0;
}

static void pad_stats_column(struct ptc_line *l, size_t begin, size_t width)
{
	while (l->n - begin < width)
		ptc_line_char(l, ' ');
}

static void put_name(struct ptc_line *l, const char *name, const char *sub)
{
	const size_t begin = l->n;

	ptc_line_str(l, name);
	pad_stats_column(l, begin, 14);
	if (sub) {
		ptc_line_str(l, sub);
		pad_stats_column(l, begin, 26);
	}
}

static void put_count(struct ptc_line *l, const char *name, const char *sub, uint64_t v)
{
	put_name(l, name, sub);
	ptc_line_dec(l, (int64_t)v);
	ptc_line_char(l, '\n');
}

static void put_text(struct ptc_line *l, const struct ptc_totals *t,
		     const struct ptc_decode_stats *s)
{
	int i;

	put_count(l, "trace bytes", NULL, s->aux_bytes);
	put_count(l, "instructions", NULL, s->insns);
	put_count(l, "branches", NULL, s->branches);
	for (i = 0; i < PTC_KIND_COUNT; i++)
		if (t->kinds[i])
			put_count(l, "", ptc_kind_name((enum ptc_kind)i), t->kinds[i]);
	put_name(l, "time", NULL);
	ptc_line_time(l, t->first_ns);
	ptc_line_str(l, " to ");
	ptc_line_time(l, t->last_ns);
	ptc_line_char(l, '\n');
	for (i = 0; i < PTC_GAP_COUNT; i++) {
		if (!s->gaps[i])
			continue;
		put_name(l, "gaps", ptc_gap_name((enum ptc_gap_cause)i));
		ptc_line_dec(l, (int64_t)s->gaps[i]);
		ptc_line_str(l, ", ");
		ptc_line_dec(l, (int64_t)t->gap_bytes[i]);
		ptc_line_str(l, " bytes\n");
	}
	put_count(l, "missing files", NULL, s->missing_files);
}

static void put_member(struct ptc_line *l, const char *key, uint64_t v)
{
	ptc_line_str(l, ",\"");
	ptc_line_str(l, key);
	ptc_line_str(l, "\":");
	if (v == PTC_NO_TIME)
		ptc_line_str(l, "null");
	else
		ptc_line_dec(l, (int64_t)v);
}

static void put_json(struct ptc_line *l, const struct ptc_totals *t,
		     const struct ptc_decode_stats *s)
{
	const char *comma = "";
	int i;

	ptc_line_str(l, "{\"schema\":\"ptcap-decode-stats\",\"version\":1");
	put_member(l, "trace_bytes", s->aux_bytes);
	put_member(l, "instructions", s->insns);
	put_member(l, "transfers", s->branches);
	put_member(l, "first_ns", t->first_ns);
	put_member(l, "last_ns", t->last_ns);
	put_member(l, "missing_files", s->missing_files);
	ptc_line_str(l, ",\"kinds\":{");
	for (i = PTC_KIND_START; i < PTC_KIND_COUNT; i++, comma = ",") {
		ptc_line_str(l, comma);
		ptc_line_char(l, '"');
		ptc_line_str(l, ptc_kind_name((enum ptc_kind)i));
		ptc_line_str(l, "\":");
		ptc_line_dec(l, (int64_t)t->kinds[i]);
	}
	ptc_line_str(l, "},\"gaps\":{");
	comma = "";
	for (i = PTC_GAP_OVERFLOW; i < PTC_GAP_COUNT; i++, comma = ",") {
		ptc_line_str(l, comma);
		ptc_line_char(l, '"');
		ptc_line_str(l, ptc_gap_name((enum ptc_gap_cause)i));
		ptc_line_str(l, "\":{\"count\":");
		ptc_line_dec(l, (int64_t)s->gaps[i]);
		put_member(l, "bytes", t->gap_bytes[i]);
		ptc_line_char(l, '}');
	}
	ptc_line_char(l, '}');
}

/*
 * Returns how much of @all bytes libipt decoded. If times are damaged, the engine of a shard also
 * counts a few bytes in front of the shard, which are not in @all.
 */
static uint64_t libipt_bytes(const struct ptc_engine_stats *s, uint64_t all)
{
	return all > s->bytes ? all - s->bytes : 0;
}

static void put_engine(struct ptc_line *l, const char *name, const char *sub, uint64_t bytes,
		       uint64_t pieces)
{
	put_name(l, name, sub);
	ptc_line_dec(l, (int64_t)bytes);
	ptc_line_str(l, " bytes, ");
	ptc_line_dec(l, (int64_t)pieces);
	ptc_line_str(l, " pieces\n");
}

/*
 * Print how much of @all bytes of trace each engine decoded, and why. Nothing for a single engine.
 */
static void put_engines(struct ptc_line *l, const struct ptc_decode *d, uint64_t all)
{
	struct ptc_engine_reason why;
	struct ptc_engine_stats s = PTC_ENGINE_STATS_INIT;
	size_t i;

	ptc_decode_get_engine_stats(d, &s);
	if (!s.pieces && !s.declined)
		return;
	put_engine(l, "engines", "fast", s.bytes, s.pieces);
	put_engine(l, "", "libipt", libipt_bytes(&s, all), s.declined);
	for (i = 0; ptc_decode_get_engine_reason(d, i, &why); i++) {
		put_name(l, "", "");
		ptc_line_dec(l, (int64_t)why.pieces);
		ptc_line_str(l, ": ");
		ptc_line_str(l, why.why);
		ptc_line_char(l, '\n');
	}
}

static void put_engines_json(struct ptc_line *l, const struct ptc_decode *d, uint64_t all)
{
	struct ptc_engine_reason why;
	struct ptc_engine_stats s = PTC_ENGINE_STATS_INIT;
	const char *comma = "";
	size_t i;

	ptc_decode_get_engine_stats(d, &s);
	ptc_line_str(l, ",\"engines\":{\"fast\":{\"pieces\":");
	ptc_line_dec(l, (int64_t)s.pieces);
	put_member(l, "bytes", s.bytes);
	ptc_line_str(l, "},\"libipt\":{\"pieces\":");
	ptc_line_dec(l, (int64_t)s.declined);
	put_member(l, "bytes", libipt_bytes(&s, all));
	ptc_line_str(l, ",\"why\":{");
	for (i = 0; ptc_decode_get_engine_reason(d, i, &why); i++, comma = ",") {
		ptc_line_str(l, comma);
		ptc_line_char(l, '"');
		ptc_line_str(l, why.why);
		ptc_line_str(l, "\":");
		ptc_line_dec(l, (int64_t)why.pieces);
	}
	ptc_line_str(l, "}}}");
}

void ptc_totals_print(const struct ptc_totals *t, const struct ptc_decode *d, struct ptc_line *l,
		      bool json)
{
	struct ptc_decode_stats stats = PTC_DECODE_STATS_INIT;

	ptc_decode_get_stats(d, &stats);
	if (json) {
		put_json(l, t, &stats);
		put_engines_json(l, d, stats.aux_bytes);
		ptc_line_str(l, "}\n");
	} else {
		put_text(l, t, &stats);
		put_engines(l, d, stats.aux_bytes);
	}
}
