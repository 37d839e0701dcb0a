/* SPDX-License-Identifier: MIT */
/*
 * Description: redaction zeroes arguments and environments wherever a recording holds them, and
 * changes nothing else.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auxtrace/copy/redact.h"
#include "auxtrace/feature/feature_file.h"
#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/sample.h"
#include "lib_packed.h"
#include "ptcap/copy.h"

enum {
	PID = 7,
	OTHER = 8,
	STACK = 0x7000, /* begin of the mapping */
	END = 0x9000,	/* end of the mapping */
	RANDOM = 0x8800,
	FILL = 0xaa,
};

static void put_crash(struct pd *p, struct ptc_crash *c, const void *bytes, size_t len)
{
	c->bytes = ptc_cur_init(bytes, len);
	ptc_crash_put(&p->data, c);
}

static void put_signal(struct pd *p, uint64_t pid)
{
	struct ptc_crash c = { .kind = PTC_CRASH_SIGNAL };

	c.u.signal.pid = c.u.signal.tid = pid;
	c.u.signal.signo = 11;
	put_crash(p, &c, NULL, 0);
}

static void put_auxv(struct pd *p, uint64_t pid, uint64_t type, uint64_t value)
{
	struct ptc_crash c = { .kind = PTC_CRASH_AUXV };
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_le64(&b, AT_PAGESZ);
	ptc_buf_le64(&b, 4096);
	ptc_buf_le64(&b, type);
	ptc_buf_le64(&b, value);
	ptc_buf_zero(&b, 16);
	c.u.auxv.pid = pid;
	put_crash(p, &c, b.bytes, b.len);
	ptc_buf_release(&b);
}

static void put_map(struct pd *p, uint64_t pid, uint64_t start, uint64_t end, const char *name)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MAP };

	c.u.map.pid = pid;
	c.u.map.start = start;
	c.u.map.end = end;
	put_crash(p, &c, name, strlen(name));
}

static void put_memory(struct pd *p, uint64_t pid, uint64_t from, uint64_t to)
{
	struct ptc_crash c = { .kind = PTC_CRASH_MEMORY };
	uint8_t *bytes = malloc(to - from);

	memset(bytes, FILL, to - from);
	c.u.memory.pid = pid;
	c.u.memory.addr = from;
	put_crash(p, &c, bytes, to - from);
	free(bytes);
}

/* Adds a dead process with a stack in two pieces and code elsewhere. */
static void put_state(struct pd *p, uint64_t pid, uint64_t type, const char *stack)
{
	put_signal(p, pid);
	put_auxv(p, pid, type, RANDOM);
	put_map(p, pid, 0x1000, 0x2000, "/bin/x");
	put_map(p, pid, STACK, END, stack);
	put_memory(p, pid, 0x1000, 0x1100);
	put_memory(p, pid, STACK + 0x100, RANDOM + 0x10);
	put_memory(p, pid, RANDOM + 0x10, END);
}

static struct ptc_file *open_bytes(const uint8_t *bytes, size_t len)
{
	struct ptc_file *f = NULL;
	struct ptc_err err;

	cr_assert_eq(ptc_file_open_bytes(bytes, len, "a", &f, &err), 0, "%s", err.msg);
	return f;
}

/* Number of zero bytes, and of other bytes, in the memory of a process at [from, to). */
struct seen {
	uint64_t zero, kept;
};

static void see(struct seen *s, uint64_t addr, struct ptc_cur bytes, uint64_t from, uint64_t to)
{
	for (; bytes.pos < bytes.end; bytes.pos++, addr++)
		if (addr >= from && addr < to)
			*(*bytes.pos ? &s->kept : &s->zero) += 1;
}

/* Redacts @f. Returns what remains of the memory and code of @pid at [from, to). */
static struct seen redacted(const struct ptc_file *f, uint64_t pid, uint64_t from, uint64_t to)
{
	struct ptc_redact *r = NULL;
	struct seen s = { 0, 0 };
	struct ptc_rec rec;
	struct ptc_err err;
	uint64_t pos = 0;

	cr_assert_eq(ptc_redact_new(f, &r, &err), 0, "%s", err.msg);
	while (ptc_file_next(f, &pos, &rec, &err) == 1) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct ptc_crash c;
		struct ptc_sb sb;
		size_t len = ptc_cur_left(&rec.body);

		if (ptc_redact_record(r, &rec, &b)) {
			cr_assert_eq(b.len, len + 8);
			cr_assert_eq(memcmp(b.bytes, rec.body.pos - 8, 8), 0, "the same header");
			rec.body = ptc_cur_init(b.bytes + 8, len);
		}
		if (ptc_crash_parse(&rec, &c, &err) == 1 && c.kind == PTC_CRASH_MEMORY &&
		    c.u.memory.pid == pid)
			see(&s, c.u.memory.addr, c.bytes, from, to);
		if (rec.type == PERF_RECORD_TEXT_POKE &&
		    ptc_sb_parse(&rec, PD_SAMPLE_TYPE, &sb, &err) == 1 &&
		    (uint64_t)sb.id.pid == pid)
			see(&s, sb.u.poke.addr, sb.u.poke.new_bytes, from, to);
		ptc_buf_release(&b);
	}
	ptc_redact_free(r);
	return s;
}

static void expect(const struct ptc_file *f, uint64_t pid, uint64_t from, uint64_t to, bool zero)
{
	const struct seen s = redacted(f, pid, from, to);

	cr_expect(zero ? s.zero && !s.kept : s.kept && !s.zero,
		  "process %u, 0x%x to 0x%x: %u zero, %u not", (unsigned int)pid,
		  (unsigned int)from, (unsigned int)to, (unsigned int)s.zero, (unsigned int)s.kept);
}

Test(redact, from_at_random_to_the_end_of_its_mapping)
{
	uint8_t code[64], *bytes;
	struct ptc_file *f;
	struct pd p;
	size_t len;

	memset(code, FILL, sizeof(code));
	pd_init_pt(&p, NULL);
	pd_poke(&p, PID, 5, RANDOM - 32, code, sizeof(code));
	pd_poke(&p, OTHER, 5, RANDOM, code, sizeof(code));
	put_state(&p, PID, AT_RANDOM, "[stack]");
	bytes = pd_finish(&p, &len);
	f = open_bytes(bytes, len);
	expect(f, PID, RANDOM, END, true);
	expect(f, PID, 0, RANDOM, false);
	expect(f, OTHER, 0, UINT64_MAX, false);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

Test(redact, where_it_is_not_known_all_of_the_stack_is_zero)
{
	uint8_t *bytes;
	struct ptc_file *f;
	struct pd p;
	size_t len;

	pd_init_pt(&p, NULL);
	put_state(&p, PID, AT_BASE, "[stack]");
	put_state(&p, OTHER, AT_BASE, "/dev/zero");
	bytes = pd_finish(&p, &len);
	f = open_bytes(bytes, len);
	expect(f, PID, STACK, END, true);
	expect(f, PID, 0, STACK, false);
	expect(f, OTHER, 0, UINT64_MAX, true);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

/* Two processes with the same pid: both are redacted. */
Test(redact, each_state_of_a_process_counts)
{
	uint8_t *bytes;
	struct ptc_file *f;
	struct pd p;
	size_t len;

	pd_init_pt(&p, NULL);
	put_state(&p, PID, AT_RANDOM, "[stack]");
	put_state(&p, OTHER, AT_RANDOM, "[stack]");
	put_signal(&p, PID);
	put_auxv(&p, PID, AT_RANDOM, 0x1010);
	put_map(&p, PID, 0x1000, 0x2000, "/bin/x");
	bytes = pd_finish(&p, &len);
	f = open_bytes(bytes, len);
	expect(f, PID, RANDOM, END, true);
	expect(f, PID, 0x1010, 0x1100, true);
	expect(f, PID, 0x1000, 0x1010, false);
	expect(f, OTHER, RANDOM, END, true);
	expect(f, OTHER, 0x1000, RANDOM, false);
	ptc_file_free(f);
	free(bytes);
	pd_release(&p);
}

static bool has(const struct ptc_buf *b, const char *word)
{
	return memmem(b->bytes, b->len, word, strlen(word)) != NULL;
}

Test(redact, words_of_the_command_line_but_the_first)
{
	static const char *const argv[] = { "ptcap", "crash", "hidden" };
	struct ptc_buf words = PTC_BUF_INIT, b = PTC_BUF_INIT, none = PTC_BUF_INIT;
	struct ptc_cur section;

	ptc_feature_put_cmdline(&words, argv, 3);
	section = ptc_cur_init(words.bytes, words.len);
	cr_expect_eq(ptc_redact_feature(PTC_FEAT_CMDLINE, section, &b), strlen("crashhidden"));
	cr_expect_eq(b.len, words.len);
	cr_expect(has(&b, "ptcap") && !has(&b, "crash") && !has(&b, "hidden"));
	cr_expect_eq(ptc_redact_feature(PTC_FEAT_CMDLINE, ptc_cur_init(b.bytes, b.len), &none), 0);
	cr_expect_eq(ptc_redact_feature(PTC_FEAT_HOSTNAME, section, &none), 0);
	cr_expect_eq(none.len, 0);
	ptc_buf_release(&words);
	ptc_buf_release(&b);
	ptc_buf_release(&none);
}

/* Adds a sample with a user stack that holds @word. */
static void put_sample(struct pd *p, const char *word)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.sample_type = PD_SAMPLE_TYPE | PERF_SAMPLE_STACK_USER,
		.sample_stack_user = 64,
	};
	struct ptc_sample s = { .id = { .has = attr.sample_type, .id = 300 },
				.stack_user_dyn = 64 };
	const uint64_t id = 300;
	char stack[64] = "";

	(void)snprintf(stack, sizeof(stack), "%s", word);
	s.stack_user = ptc_cur_init(stack, sizeof(stack));
	pd_attr(p, &attr, &id, 1);
	ptc_sample_put(&p->data, 0, &s, &attr);
}

/*
 * Returns true if any record or feature of the file @path contains @word. Accepts every file form.
 */
static bool file_has(const char *path, const char *word)
{
	struct ptc_buf records = PTC_BUF_INIT;
	struct ptc_file *f = NULL;
	struct ptc_cur section;
	struct ptc_err err;
	bool found = false;

	cr_assert_eq(ptc_file_open(path, &f, &err), 0, "%s", err.msg);
	cr_assert_eq(pk_records(f, &records, &err), 0, "%s", err.msg);
	found = has(&records, word);
	if (ptc_file_feature(f, PTC_FEAT_CMDLINE, &section, NULL))
		found |= memmem(section.pos, ptc_cur_left(&section), word, strlen(word)) != NULL;
	ptc_file_free(f);
	ptc_buf_release(&records);
	return found;
}

Test(redact, in_every_form)
{
	static const char *const argv[] = { "ptcap", "hidden" };
	char folder[] = "/tmp/ptcap-test-XXXXXX", path[64];
	struct ptc_buf words = PTC_BUF_INIT;
	unsigned int how;
	struct pd p;

	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	pd_init_pt(&p, NULL);
	put_sample(&p, "hidden");
	ptc_feature_put_cmdline(&words, argv, 2);
	pd_feature(&p, PTC_FEAT_CMDLINE, words.bytes, words.len);
	for (how = 0; how < 16; how++) {
		const struct ptc_copy_opts opts = {
			.size = sizeof(opts),
			.pipe = how & 1,
			.pack = how & 2 ? PTC_COPY_PACK_ZSTD : PTC_COPY_PACK_KEEP,
			.level = 1,
			.redact = how & 4,
		};
		struct ptc_copy_stats st = PTC_COPY_STATS_INIT;
		struct ptc_err err;
		uint8_t *bytes;
		struct ptc_file *f;
		size_t len;

		bytes = how & 8 ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
		f = open_bytes(bytes, len);
		cr_assert_eq(ptc_copy(f, path, &opts, &st, &err), 0, "%s", err.msg);
		cr_expect_eq(file_has(path, "hidden"), !opts.redact, "form %u", how);
		cr_expect_eq(st.zeroed, opts.redact ? 2 * strlen("hidden") : 0, "form %u", how);
		ptc_file_free(f);
		free(bytes);
		(void)unlink(path);
	}
	ptc_buf_release(&words);
	pd_release(&p);
	(void)snprintf(path, sizeof(path), "%s/out.old", folder);
	(void)unlink(path);
	(void)rmdir(folder);
}
