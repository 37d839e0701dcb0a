/* SPDX-License-Identifier: MIT */
/* JSON output of decode: doc/json.md. Only file names are texts from the recording. */
#include "cli/decode/line_buffer.h"

static void put_address(struct ptc_line *l, const char *key, uint64_t v)
{
	ptc_line_str(l, ",\"");
	ptc_line_str(l, key);
	ptc_line_str(l, "\":\"0x");
	ptc_line_hex(l, v);
	ptc_line_char(l, '"');
}

void ptc_print_json_gap(struct ptc_line *l, const struct ptc_item *it)
{
	ptc_line_str(l, "{\"type\":\"gap\",\"queue\":");
	ptc_line_dec(l, it->queue);
	ptc_line_str(l, ",\"tid\":");
	ptc_line_dec(l, it->tid);
	put_address(l, "offset", it->from);
	put_address(l, "length", it->to);
	ptc_line_str(l, ",\"cause\":\"");
	ptc_line_str(l, ptc_gap_name((enum ptc_gap_cause)it->cause));
	ptc_line_str(l, "\"}\n");
}

/* Print the common head of branches and events. */
static void put_head(struct ptc_line *l, const struct ptc_item *it, const char *type)
{
	ptc_line_str(l, "{\"type\":\"");
	ptc_line_str(l, type);
	ptc_line_str(l, "\",\"tid\":");
	ptc_line_dec(l, it->tid);
	ptc_line_str(l, ",\"cpu\":");
	ptc_line_dec(l, it->cpu);
	ptc_line_str(l, ",\"time\":");
	if (it->time == PTC_NO_TIME)
		ptc_line_str(l, "null");
	else
		ptc_line_dec(l, (int64_t)it->time);
}

static void put_event(struct ptc_line *l, const struct ptc_item *it)
{
	put_head(l, it, "event");
	ptc_line_str(l, ",\"event\":\"");
	ptc_line_str(l, ptc_event_name((enum ptc_event_kind)it->kind));
	ptc_line_char(l, '"');
	put_address(l, "ip", it->from);
	put_address(l, "value", it->to);
	ptc_line_str(l, "}\n");
}

/* @icount NULL: not known, in a shard. */
static void put_branch(struct ptc_line *l, const struct ptc_item *it, const uint64_t *icount)
{
	put_head(l, it, "branch");
	if (icount) {
		ptc_line_str(l, ",\"icount\":");
		ptc_line_dec(l, (int64_t)*icount);
	}
	put_address(l, "from", it->from);
	put_address(l, "to", it->to);
	if (it->flags & PTC_ITEM_TO_ZERO)
		ptc_line_str(l, ",\"to_is_address\":true");
	ptc_line_str(l, ",\"kind\":\"");
	ptc_line_str(l, ptc_kind_name((enum ptc_kind)it->kind));
	ptc_line_str(l, "\"}\n");
}

void ptc_print_json_head(struct ptc_line *l)
{
	ptc_line_str(l, "{\"schema\":\"ptcap-decode\",\"version\":1}\n");
}

/* Print a text; non-ASCII bytes become '?', because they may not be UTF-8. */
static void put_text(struct ptc_line *l, const char *key, const char *s)
{
	ptc_line_str(l, ",\"");
	ptc_line_str(l, key);
	ptc_line_str(l, "\":\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			ptc_line_char(l, '\\');
		ptc_line_char(l, *s >= ' ' && *s < 0x7f ? *s : '?');
	}
	ptc_line_char(l, '"');
}

static void put_count(struct ptc_line *l, const char *key, uint64_t v)
{
	ptc_line_str(l, ",\"");
	ptc_line_str(l, key);
	ptc_line_str(l, "\":");
	ptc_line_dec(l, (int64_t)v);
}

void ptc_print_json_missing(const struct ptc_decode *d, struct ptc_line *l)
{
	struct ptc_missing m;
	size_t i;

	for (i = 0; ptc_decode_missing(d, i, &m); i++) {
		ptc_line_str(l, "{\"type\":\"missing\"");
		put_text(l, "file", m.file);
		if (*m.build_id)
			put_text(l, "build_id", m.build_id);
		if (m.found_path) {
			put_text(l, "found_path", m.found_path);
			put_text(l, "found_build_id", m.found_id);
		}
		put_count(l, "gaps", m.gaps);
		put_count(l, "bytes", m.bytes);
		put_count(l, "branches", m.branches);
		put_text(l, "hint", m.hint);
		ptc_line_str(l, "}\n");
	}
}

int ptc_print_json(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;
	uint64_t icount;
	size_t i;

	for (i = 0; i < n; i++) {
		icount = ptc_printer_count(p, &items[i]);
		if (items[i].type == PTC_ITEM_GAP)
			ptc_print_json_gap(p->line, &items[i]);
		else if (items[i].type == PTC_ITEM_EVENT)
			put_event(p->line, &items[i]);
		else
			put_branch(p->line, &items[i], p->icount ? &icount : NULL);
	}
	return p->line->failed;
}
