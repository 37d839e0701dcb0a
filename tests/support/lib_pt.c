/* SPDX-License-Identifier: MIT */
#include "lib_pt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/image/addrspace.h"
#include "decode/image/codefile.h"
#include "decode/image/diagnostics.h"
#include "decode/image/ipt_image.h"
#include "decode/items/branch_counts.h"
#include "decode/segment/segment.h"
#include "lib_ahead.h"
#include "lib_fast.h"
#include "lib_runs.h"

const uint8_t pt_code[PT_CODE_LEN] = {
	0x74, 0x01,		      /* 1000 je 1003 */
	0x90,			      /* 1002 nop */
	0xeb, 0x01,		      /* 1003 jmp 1006 */
	0x90,			      /* 1005 nop */
	0xe8, 0x19, 0x00, 0x00, 0x00, /* 1006 call 1024 */
	0xff, 0xe0,		      /* 100b jmp *%rax */
	0x90,			      /* 100d nop */
	0xff, 0xd0,		      /* 100e call *%rax */
	0x74, 0x00,		      /* 1010 je 1012 */
	0xe2, 0xfa,		      /* 1012 loop 100e */
	0xf3, 0xa4,		      /* 1014 rep movsb */
	0x0f, 0x05,		      /* 1016 syscall */
	0xcc,			      /* 1018 int3 */
	0xcd, 0x80,		      /* 1019 int $0x80 */
	0x48, 0xcf,		      /* 101b iretq */
	0x48, 0x0f, 0x07,	      /* 101d sysretq */
	0x48, 0xcb,		      /* 1020 lretq */
	0x0f, 0x0b,		      /* 1022 ud2 */
	0x90,			      /* 1024 nop */
	0xc3,			      /* 1025 ret */
	0xeb, 0xfe,		      /* 1026 jmp 1026 */
	0xe8, 0x00, 0x00, 0x00, 0x00, /* 1028 call 102d */
	0xeb, 0xf9,		      /* 102d jmp 1028 */
	0xff, 0xc8,		      /* 102f dec %eax */
	0x74, 0x05,		      /* 1031 je 1038 */
	0xe8, 0xf7, 0xff, 0xff, 0xff, /* 1033 call 102f */
	0xc3,			      /* 1038 ret */
};

static void die(const char *what)
{
	fprintf(stderr, "pt_replay: %s\n", what);
	abort();
}

static char *put_hex(char *at, uint64_t v)
{
	int shift = 60;

	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[v >> shift & 15];
	return at;
}

static char *put_decimal(char *at, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*at++ = digits[--n];
	return at;
}

static char *put_word(char *at, const char *word)
{
	while (*word)
		*at++ = *word++;
	return at;
}

/* Puts two addresses, and a space after each. */
static char *put_pair(char *at, uint64_t from, uint64_t to)
{
	at = put_hex(at, from);
	*at++ = ' ';
	at = put_hex(at, to);
	*at++ = ' ';
	return at;
}

static char *put_branch(char *at, const struct ptc_item *it)
{
	if (it->kind == PTC_KIND_NONE || it->kind >= PTC_KIND_COUNT || it->cause)
		die("a transfer without a kind");
	/* Packets may claim the address 0, but our code is never there. */
	if (it->kind == PTC_KIND_START ?
		    it->from != 0 :
		    it->kind != PTC_KIND_ASYNC && it->from % PT_HIGH - PT_CODE >= PT_CODE_LEN)
		die("a transfer from nowhere");
	at = put_pair(at, it->from, it->to);
	return put_word(at, ptc_kind_name((enum ptc_kind)it->kind));
}

static char *put_gap(char *at, const struct ptc_item *it, const struct ptc_stream *stream)
{
	const struct ptc_span *last = &stream->spans[stream->n - 1];

	if (it->from > last->base + last->len || it->to > last->base + last->len - it->from) {
		fprintf(stderr, "%" PRIx64 " %" PRIx64 "\n", it->from, it->to);
		die("a gap outside the stream");
	}
	at = put_pair(put_word(at, "gap "), it->from, it->to);
	return put_word(at, ptc_gap_name((enum ptc_gap_cause)it->cause));
}

/* Adds the line of @it. Tests make a million lines, so no line is made by printf(). */
static void put_item(struct ptc_buf *out, const struct ptc_item *it,
		     const struct ptc_stream *stream, const struct pt_how *how)
{
	char line[256], *at = line;
	int i;

	if (how->conv) {
		*at++ = '@';
		at = it->time == PTC_NO_TIME ? put_word(at, "-") : put_decimal(at, it->time);
		*at++ = ' ';
	}
	switch (it->type) {
	case PTC_ITEM_BRANCH:
		at = put_branch(at, it);
		break;
	case PTC_ITEM_INSN:
		at = put_hex(at, it->from);
		break;
	case PTC_ITEM_EVENT:
		at = put_word(put_word(at, "event "),
			      ptc_event_name((enum ptc_event_kind)it->kind));
		*at++ = ' ';
		at = put_pair(at, it->from, it->to) - 1;
		break;
	case PTC_ITEM_GAP:
		at = put_gap(at, it, stream);
		break;
	default:
		die("an item of no type");
	}
	for (i = 0; i < it->insn_len; i++) {
		at = put_word(at, i ? "" : " ");
		at = put_hex(at, it->insn[i] >> 4);
		at = put_hex(at, it->insn[i] & 15);
	}
	*at++ = '\n';
	ptc_buf_put(out, line, (size_t)(at - line));
}

/*
 * The second engine's records of a stream with one span, as far as it gets, must equal libipt's.
 * They are checked without chains, with them, and with them over a file. Later texts must equal
 * these.
 */
struct other {
	bool used, more, damaged;
	const char *wrong;
	char text[120];
	struct fs_pull pull;
	struct ptc_fast_rec next;
};

static void other_open(struct other *o, const struct ptc_stream *stream,
		       const struct ptc_addrspace *as, const struct pt_how *how, bool plain)
{
	const struct ptc_span *sp = &stream->spans[0];

	o->used = stream->n == 1 && sp->bytes && !how->insns;
	o->damaged = how->damaged;
	if (!o->used)
		return;
	fs_open(&o->pull, as, sp->bytes, sp->len);
	o->pull.fast.plain = plain;
	o->more = fs_next(&o->pull, &o->next);
}

static void other_look(struct other *o, const struct ptc_item *it)
{
	struct ptc_fast_rec rec;

	o->damaged = o->damaged || it->type == PTC_ITEM_GAP;
	/* libipt handles an erratum only if it knows the processor. */
	if (!o->used || o->wrong || o->pull.fast.erratum || !fs_of_item(it, &rec))
		return;
	if (!o->more) {
		if (o->pull.status == PTC_FAST_AT_END)
			o->wrong = "the second engine lists less";
		return;
	}
	if (!fs_same(rec, o->next)) {
		(void)snprintf(o->text, sizeof(o->text),
			       "the second engine lists %" PRIx64 " %" PRIx64 ", not %" PRIx64
			       " %" PRIx64 " up to %zx",
			       ptc_fast_rec_from(o->next), o->next.to, ptc_fast_rec_from(rec),
			       rec.to, o->pull.fast.pos);
		o->wrong = o->text;
		return;
	}
	o->more = fs_next(&o->pull, &o->next);
}

static void other_close(struct other *o, struct pt_how *how)
{
	if (!o->used)
		return;
	if (!o->wrong && o->more && !o->pull.fast.erratum)
		o->wrong = "the second engine lists more";
	how->fast = o->pull.status;
	how->fast_why = o->pull.fast.flow.why;
	if (!o->wrong && how->fast == PTC_FAST_AT_END && !o->pull.fast.erratum &&
	    o->pull.fast.flow.insns != how->stats.insns) {
		(void)snprintf(o->text, sizeof(o->text),
			       "the second engine counts %" PRIu64 " instructions, not %" PRIu64,
			       o->pull.fast.flow.insns, how->stats.insns);
		o->wrong = o->text;
	}
	if (o->wrong && !PT_OTHER_GAPS(o->damaged))
		die(o->wrong);
	fs_close(&o->pull);
}

static void add_to_sums(struct ptc_sums *sums, const struct ptc_item *it)
{
	if (it->type != PTC_ITEM_BRANCH)
		return;
	sums->kinds[it->kind]++;
	sums->transfers++;
	ptc_sums_add_time(sums, it->time);
}

static void see_item(struct ptc_buf *out, const struct ptc_item *it,
		     const struct ptc_stream *stream, struct pt_how *how, struct other *other)
{
	put_item(out, it, stream, how);
	add_to_sums(&how->sums, it);
	other_look(other, it);
}

/* @late: items are taken only at the end. */
static void run(struct ptc_replay *r, size_t max, bool late, struct ptc_buf *out,
		const struct ptc_stream *stream, struct pt_how *how, struct other *other,
		struct ahead *ahead)
{
	uint64_t last = 0, left = how->max_steps ? how->max_steps : 1000000;
	struct ptc_out *o = ptc_replay_out(r);
	const struct ptc_item *it;
	const char *wrong;
	struct ptc_item one;
	struct ptc_err err;
	uint64_t k;
	int ret;

	do {
		if (!left--)
			die("it does not come to an end");
		wrong = ahead_serve(ahead, r, stream);
		if (wrong)
			die(wrong);
		ret = max ? ptc_replay_steps(r, max, &err) : ptc_replay_step(r, &err);
		if (ret < 0)
			die(err.msg);
		while (o->head < o->n && !(late && ret)) {
			it = ptc_out_take(o, 1);
			if (how->conv && it->time != PTC_NO_TIME) {
				if (it->time < last && !how->disorder)
					die("time goes back");
				last = it->time;
			}
			for (k = 0; k < runs_count(it); k++) {
				one = runs_item(it, k);
				see_item(out, &one, stream, how, other);
			}
		}
	} while (ret);
}

/* Adds the code as a file, whose blocks libipt caches. */
static struct ptc_codefile *add_file(struct ptc_codefiles *files)
{
	struct ptc_codefile *f = ptc_codefiles_new(files, "code");
	const int fd = memfd_create("code", MFD_CLOEXEC);

	if (!f || write(fd, pt_code, PT_CODE_LEN) != PT_CODE_LEN ||
	    !ptc_codefile_supply(f, PT_CODE_LEN, 0, PT_CODE_LEN, fd, 0))
		die("cannot make a file of code");
	(void)close(fd);
	return f;
}

/* Which decoder follows the trace. */
enum who {
	LIBIPT,
	FAST,	/* the second engine, where possible */
	RUNS,	/* FAST, with RUN items */
	COUNTS, /* FAST, counts branches */
	AHEAD,	/* RUNS, segments decoded in advance */
};

/* The tables are large compared with a test's trace, so the last engine's tables are reused. */
static struct ptc_segment_code *spare;

static void lend_tables(struct ptc_engine *e, const struct ptc_addrspace *as)
{
	if (!spare)
		return;
	ptc_fast_code_forget(&spare->code);
	ptc_fast_chains_forget(&spare->chains);
	spare->state = as->state;
	spare->version = as->version;
	e->user.codes->codes[e->user.codes->n++] = spare;
	spare = NULL;
}

static void free_engine(struct ptc_engine *e)
{
	struct ptc_segment_codes *c = e ? e->user.codes : NULL;

	if (c && !spare && c->n) {
		spare = c->codes[--c->n];
		spare->users = 0;
		e->user.nheld = 0;
	}
	ptc_engine_free(e);
}

static struct ptc_engine *new_engine(const struct pt_how *how, const struct ptc_addrspace *as,
				     enum who who)
{
	const struct ptc_ipt_params *p = &how->params;
	const struct ptc_fast_clock clock = { p->mtc_freq, p->tsc_ctc_n, p->tsc_ctc_d };
	struct ptc_engine *e;
	struct ptc_err err;

	if (ptc_engine_new(PTC_ENGINE_FAST, &clock, how->conv, &e, &err))
		die(err.msg);
	lend_tables(e, as);
	e->counts = who == COUNTS;
	return e;
}

/*
 * Returns the text; caller frees it. @max: as in ptc_replay_steps; 0: step by step. @code: the
 * code, if it is not in a file. @late: as in run(). Counted branches are not in the text.
 */
static char *replay(const struct ptc_stream *stream, struct pt_how *how, size_t max, bool late,
		    enum who who, const uint8_t *code)
{
	struct ptc_buf out = PTC_BUF_INIT; /* the text */
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_codefiles files = { .n = 0 };
	struct ptc_addrspace as = { .version = 0 };
	struct ptc_notes notes = { .n = 0 };
	struct ptc_replay_conf conf;
	struct ptc_codefile *file;
	struct ptc_replay *r = NULL;
	struct other other = { .used = false };
	struct ptc_context context = { .pid = -1, .tid = -1, .cpu = -1 };
	const struct ptc_contexts contexts = { .v = &context, .n = 1 };
	const struct ptc_queue_contexts known = { .contexts = &contexts, .upto = UINT64_MAX };
	struct ahead ahead = { .contexts = &known };
	const char *wrong;
	struct ptc_ipt ipt;
	struct ptc_err err;

	file = code ? ptc_codefiles_add_bytes(&files, "code", code, PT_CODE_LEN) : add_file(&files);
	if (!file || !ptc_addrspace_map(&as, PT_CODE, PT_CODE_LEN, 0, file) ||
	    !ptc_addrspace_map(&as, PT_HIGH + PT_CODE, PT_CODE_LEN, 0, file))
		die("out of memory");
	context.view = ptc_view_new(&as, NULL, 1);
	if (!context.view)
		die("out of memory");
	opts.insns = how->insns;
	opts.bytes = how->bytes;
	opts.events = how->events;
	memset(&how->stats, 0, sizeof(how->stats));
	how->sums = ptc_sums_none();
	conf = (struct ptc_replay_conf){
		.opts = &opts,
		.resync = how->psb ? PTC_RESYNC_PSB : PTC_RESYNC_PACKET,
		.ipt = &ipt,
		.clock = { .valid = how->conv },
		.contexts = &known,
		.stream = stream,
		.marks = how->marks,
		.nmarks = how->nmarks,
		.stats = &how->stats,
		.notes = &notes,
		.sums = &how->sums,
		.runs = who == RUNS || who == AHEAD,
	};
	if (how->conv)
		conf.clock.conv = *how->conv;
	if (who != LIBIPT)
		conf.engine = new_engine(how, &as, who);
	ahead.clock = &conf.clock;
	if (who == AHEAD)
		ahead.e = conf.engine;
	if (ptc_ipt_init(&ipt, &how->params, &err) || ptc_replay_new(&conf, &r, &err))
		die(err.msg);
	ptc_replay_set_context(r, -1, -1, -1, &as);
	if (!late && who == LIBIPT)
		other_open(&other, stream, &as, how, !max);
	run(r, max, late, &out, stream, how, &other, &ahead);
	wrong = ahead_close(&ahead, r);
	if (wrong)
		die(wrong);
	other_close(&other, how);
	if (who != LIBIPT)
		how->pieces = conf.engine->stats.pieces;
	ptc_replay_free(r);
	free_engine(conf.engine);
	(void)ptc_view_put(context.view);
	ptc_addrspace_release(&as);
	ptc_codefiles_release(&files);
	ptc_ipt_release(&ipt);
	ptc_notes_release(&notes);
	ptc_buf_u8(&out, 0);
	if (ptc_buf_failed(&out))
		die("out of memory");
	return (char *)out.bytes;
}

/* In rows of at most @max items the output must equal @text. */
static void hold_rows(const struct ptc_stream *stream, struct pt_how *how, size_t max, bool late,
		      enum who who, const uint8_t *code, const char *text)
{
	const struct ptc_decode_stats stats = how->stats;
	const struct ptc_sums sums = how->sums;
	char *in_rows = replay(stream, how, max, late, who, code);

	if (who != LIBIPT && PT_OTHER_GAPS(how->damaged || strstr(text, "gap "))) {
		how->stats = stats;
		how->sums = sums;
		free(in_rows);
		return;
	}
	if (memcmp(&sums, &how->sums, sizeof(sums)) != 0)
		die("transfers add up to something else");
	if (who == COUNTS && memcmp(&stats, &how->stats, sizeof(stats)) != 0)
		die("what is counted is something else");
	if (who != COUNTS &&
	    (strcmp(text, in_rows) != 0 || memcmp(&stats, &how->stats, sizeof(stats)) != 0)) {
		fprintf(stderr, "%sin rows:\n%s", text, in_rows);
		die(who == FAST	 ? "with the second engine it is something else" :
		    who == RUNS	 ? "in runs it is something else" :
		    who == AHEAD ? "made ahead it is something else" :
				   "step by step it is something else than in rows");
	}
	free(in_rows);
}

const char *pt_replay_stream(const struct ptc_stream *stream, struct pt_how *how)
{
	static char *text;
	uint8_t *code = malloc(PT_CODE_LEN);

	if (!code)
		die("out of memory");
	memcpy(code, pt_code, PT_CODE_LEN);
	free(text);
	text = replay(stream, how, 0, false, LIBIPT, code);
	how->pieces = 0;
	if (how->once) {
		free(code);
		return text;
	}
	hold_rows(stream, how, 1000, false, LIBIPT, code, text);
	hold_rows(stream, how, 1000, false, LIBIPT, NULL, text);
	hold_rows(stream, how, 3, true, LIBIPT, NULL, text);
	if (!how->insns && !how->events) {
		hold_rows(stream, how, 1000, false, FAST, code, text);
		hold_rows(stream, how, 3, true, RUNS, code, text);
		hold_rows(stream, how, 1000, true, AHEAD, code, text);
		hold_rows(stream, how, 3, false, COUNTS, code, text);
	}
	free(code);
	return text;
}

const char *pt_replay_bytes(const uint8_t *trace, size_t len, struct pt_how *how)
{
	struct ptc_stream stream = { .n = 0 };
	uint8_t *exact = malloc(len ? len : 1);
	struct ptc_err err;
	const char *text;

	if (!exact)
		die("out of memory");
	if (len)
		memcpy(exact, trace, len);
	if (ptc_stream_single(&stream, exact, len, &err))
		die(err.msg);
	text = pt_replay_stream(&stream, how);
	ptc_stream_release(&stream);
	free(exact);
	return text;
}

const char *pt_replay(const struct ptc_buf *trace, struct pt_how *how)
{
	if (ptc_buf_failed(trace))
		die("out of memory");
	return pt_replay_bytes(trace->bytes, trace->len, how);
}

/* Makes one span of several parts. */
static void cut(const struct ptc_buf *trace, size_t part, struct ptc_span *ret)
{
	size_t at;

	*ret = (struct ptc_span){ .len = trace->len };
	ret->parts = calloc(trace->len / part + 1, sizeof(*ret->parts));
	if (!ret->parts)
		die("out of memory");
	for (at = 0; at < trace->len; at += part)
		ret->parts[ret->nparts++] =
			(struct ptc_part){ trace->bytes + at, at,
					   trace->len - at < part ? trace->len - at : part };
}

const char *pt_replay_parts(const struct ptc_buf *trace, size_t part, struct pt_how *how)
{
	char *want = strdup(pt_replay(trace, how));
	struct ptc_span span;
	const struct ptc_stream stream = { .spans = &span, .n = 1 };
	const char *got;

	if (!want)
		die("out of memory");
	cut(trace, part, &span);
	got = trace->len ? pt_replay_stream(&stream, how) : pt_replay(trace, how);
	if (strcmp(want, got) != 0) {
		fprintf(stderr, "in one piece:\n%sin parts:\n%s", want, got);
		die("in parts it is something else");
	}
	free(span.parts);
	free(want);
	return got;
}
