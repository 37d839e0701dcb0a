/* SPDX-License-Identifier: MIT */
/*
 * Writes the seeds: small recordings of each form, for tests/fuzz/seeds.
 *
 * mkseeds DIR    (tests/fuzz/seeds, from the root of the sources)
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "auxtrace/bundle/bundle_write.h"
#include "auxtrace/record/crash_record.h"
#include "auxtrace/record/filecode.h"
#include "auxtrace/record/ledger.h"
#include "auxtrace/record/userrec.h"
#include "lib_elf.h"
#include "lib_flow.h"
#include "lib_gopcln.h"
#include "lib_packed.h"

static void put(const char *folder, const char *name, const void *bytes, size_t len)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* Adds an example of each kind of data that a reader parses. */
static void build(struct pd *p)
{
	const struct ptc_time_conv conv = { 31, 715827883, 5000 };
	const struct ptc_auxtrace aux = { .idx = 1, .tid = 10, .cpu = -1 };
	const uint32_t tracing = 8;
	static const uint64_t update[3] = { 2, PD_ID_DUMMY, 0x756d6d7564 };
	struct ptc_build_id_entry id = { .misc = 2, .id = { .len = 20 }, .filename = "/bin/a" };

	pd_init_pt(p, &conv);
	pd_raw(p, PTC_REC_EVENT_UPDATE, 0, update, sizeof(update));
	pd_comm(p, 10, 0, "sleep", false);
	pd_mmap2(p, 10, 5, 0x1000, 0x1000, 0, "/bin/a");
	pd_auxtrace(p, &aux, "\2\202\2\202\2\202\2\202", 8);
	pd_aux(p, 10, 3, 100, 0, 8, PERF_AUX_FLAG_TRUNCATED);
	pd_raw(p, PTC_REC_FINISHED_ROUND, 0, NULL, 0);
	pd_switch(p, 10, 0, 200, true);
	ptc_feature_put_build_id(&p->data, &id);
	pd_raw(p, PTC_REC_HEADER_TRACING_DATA, 0, &tracing, 4);
	ptc_buf_zero(&p->data, tracing);
	pd_feature(p, PTC_FEAT_HOSTNAME, "\4\0\0\0box", 8);
	pd_feature(p, PTC_FEAT_TOTAL_MEM, "\1\0\0\0\0\0\0", 8);
}

static void put_reader(const char *folder)
{
	static const struct {
		const char *name;
		bool pipe;
		uint32_t type;
		size_t max;
	} forms[] = {
		{ "file", false, 0, 0 },
		{ "pipe", true, 0, 0 },
		{ "file-compressed", false, PTC_REC_COMPRESSED, 40 },
		{ "file-compressed2", false, PTC_REC_COMPRESSED2, 4000 },
		{ "pipe-compressed", true, PTC_REC_COMPRESSED, 4000 },
		{ "pipe-compressed2", true, PTC_REC_COMPRESSED2, 40 },
	};
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct pd p;
		uint8_t *bytes;
		size_t len;

		build(&p);
		if (forms[i].type)
			pk_pack(&p, forms[i].type, forms[i].max);
		bytes = forms[i].pipe ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
		put(folder, forms[i].name, bytes, len);
		free(bytes);
		pd_release(&p);
	}
}

/* The first byte sets the options: see fuzz_inflate.c. */
static void put_inflate(const char *folder)
{
	struct packer *z = pk_new();
	struct ptc_buf b = PTC_BUF_INIT, out = PTC_BUF_INIT;
	struct pd p;

	build(&p);
	ptc_buf_u8(&b, 30 | 64);
	ptc_buf_put(&b, p.data.bytes, p.data.len);
	put(folder, "plain", b.bytes, b.len);
	pk_put(z, &out, PTC_REC_COMPRESSED, p.data.bytes, p.data.len, 60000);
	ptc_buf_reset(&b);
	ptc_buf_u8(&b, 255);
	ptc_buf_put(&b, out.bytes + 8, out.len - 8);
	put(folder, "stream", b.bytes, b.len);
	b.bytes[0] = 5;
	put(folder, "stream-cut", b.bytes, b.len);
	pk_free(z);
	ptc_buf_release(&b);
	ptc_buf_release(&out);
	pd_release(&p);
}

/* Writes the pipe-mode records behind the header. */
static void put_pipe(const char *folder)
{
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	bytes = pd_finish_pipe(&p, &len);
	put(folder, "plain", bytes + PTC_PIPE_HEADER_SIZE, len - PTC_PIPE_HEADER_SIZE);
	free(bytes);
	pk_pack(&p, PTC_REC_COMPRESSED2, 40);
	bytes = pd_finish_pipe(&p, &len);
	put(folder, "compressed", bytes + PTC_PIPE_HEADER_SIZE, len - PTC_PIPE_HEADER_SIZE);
	free(bytes);
	pd_release(&p);
}

/* Writes one record for fuzz_record.c, behind an attr with @sample_type and fixed other fields. */
static void put_one(const char *folder, const char *name, uint32_t type, uint64_t sample_type,
		    const void *body, size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_u8(&b, (uint8_t)type);
	ptc_buf_le16(&b, PERF_RECORD_MISC_USER);
	ptc_buf_le64(&b, sample_type);
	ptc_buf_le64(&b, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	ptc_buf_le64(&b, PERF_SAMPLE_BRANCH_HW_INDEX);
	ptc_buf_le64(&b, 3);
	ptc_buf_le64(&b, 5);
	ptc_buf_put(&b, body, len);
	put(folder, name, b.bytes, b.len);
	ptc_buf_release(&b);
}

/* Writes a record of each type with small numbers, then the records of a recording. */
/* Writes the records of our own types: the ledger of the rings, and a dead process. */
static void put_ours(const char *folder)
{
	const struct ptc_ledger_ring ring = { .idx = 1, .cpu = -1, .aux_read = 8, .aux_stored = 8 };
	const struct ptc_ledger_event event = { .id = 7, .enabled_ns = 9, .running_ns = 9 };
	const struct ptc_filecode code = { .size = 4096,
					   .name = "/lib/a.so",
					   .bytes = ptc_cur_init("\xc3", 1) };
	struct ptc_crash c = { .bytes = ptc_cur_init("worker", 6) };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;
	struct ptc_rec rec;
	struct ptc_cur cur;
	char name[32];
	unsigned int n = 0;

	ptc_ledger_put_rings(&b, &ring, 1);
	ptc_ledger_put_events(&b, &event, 1);
	for (c.kind = PTC_CRASH_SIGNAL; c.kind <= PTC_CRASH_AUXV; c.kind++)
		ptc_crash_put(&b, &c);
	ptc_filecode_put(&b, &code);
	cur = ptc_cur_init(b.bytes, b.len);
	while (ptc_rec_next(&cur, 0, &rec, &err) > 0) {
		(void)snprintf(name, sizeof(name), "ours-%02u", n++);
		put_one(folder, name, rec.type, PD_SAMPLE_TYPE, rec.body.pos,
			ptc_cur_left(&rec.body));
	}
	ptc_buf_release(&b);
}

static void put_record(const char *folder)
{
	const uint64_t all = (UINT64_C(1) << 25) - 1;
	uint64_t words[64];
	struct ptc_cur c;
	struct ptc_err err;
	struct ptc_rec rec;
	struct pd p;
	char name[32];
	uint32_t type;
	size_t i;

	for (i = 0; i < 64; i++)
		words[i] = i % 8 == 1 ? 1 : 0;
	for (type = 1; type <= PTC_REC_SCHEDSTAT_DOMAIN; type++) {
		if (!ptc_rec_name(type))
			continue;
		(void)snprintf(name, sizeof(name), "type-%02u", type);
		put_one(folder, name, type, type == PERF_RECORD_SAMPLE ? all : PD_SAMPLE_TYPE,
			words, sizeof(words));
	}
	build(&p);
	c = ptc_cur_init(p.data.bytes, p.data.len);
	while (ptc_rec_next(&c, 0, &rec, &err) > 0) {
		(void)snprintf(name, sizeof(name), "real-%02u", rec.type);
		put_one(folder, name, rec.type, PD_SAMPLE_TYPE, rec.body.pos,
			ptc_cur_left(&rec.body));
		(void)ptc_cur_skip(&c, (size_t)ptc_rec_trailing(&rec));
	}
	pd_release(&p);
	put_ours(folder);
}

/* Writes the words behind the type, with and without a filter. */
static void put_info(const char *folder)
{
	struct ptc_pt_info info = { .type = PTC_AUXTRACE_TYPE_INTEL_PT,
				    .pmu_type = PD_PMU_TYPE,
				    .time = { 31, 715827883, 5000 },
				    .cap_user_time_zero = true,
				    .tsc_bit = 1 << 10,
				    .mtc_bit = 1 << 9,
				    .mtc_freq_bits = 0x3c000,
				    .tsc_ctc_n = 168,
				    .tsc_ctc_d = 2,
				    .filter = "" };
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_pt_info_put(&b, &info);
	put(folder, "plain", b.bytes + 16, b.len - 16);
	ptc_buf_reset(&b);
	info.filter = "filter main @ /bin/a";
	ptc_pt_info_put(&b, &info);
	put(folder, "filter", b.bytes + 16, b.len - 16);
	put(folder, "old", b.bytes + 16, 8 * 10);
	ptc_buf_release(&b);
}

/* Writes inputs for verify: a sound file, and a file with a false claim of each kind. */
static void put_verify(const char *folder)
{
	static const uint8_t time[16] = { 10, [8] = 20 };
	static const struct ptc_compressed unknown = { 2, 1, 3, 5, 65536 };
	static const struct ptc_id_index_entry id = { .id = 12345, .cpu = -1, .tid = 10 };
	const struct ptc_auxtrace aux = { .offset = 4, .idx = 1, .tid = 10, .cpu = -1 };
	const struct ptc_auxtrace_entry entry = { 0x123, PTC_AUXTRACE_SIZE };
	struct ptc_user u = { .type = PTC_REC_ID_INDEX };
	struct ptc_event_desc desc = { .name = "dummy:u", .nids = 1 };
	const uint64_t ids[1] = { 4711 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pd p;
	uint8_t *bytes;
	size_t len;

	build(&p);
	bytes = pd_finish(&p, &len);
	put(folder, "sound", bytes, len);
	free(bytes);
	pd_feature(&p, PTC_FEAT_SAMPLE_TIME, time, sizeof(time));
	ptc_feature_put_compressed(&b, &unknown);
	pd_feature(&p, PTC_FEAT_COMPRESSED, b.bytes, b.len);
	ptc_buf_reset(&b);
	ptc_feature_put_auxtrace(&b, &entry, 1);
	pd_feature(&p, PTC_FEAT_AUXTRACE, b.bytes, b.len);
	ptc_buf_reset(&b);
	desc.attr = &p.attrs[1].attr;
	desc.ids = ids;
	ptc_feature_put_event_desc(&b, &desc, 1);
	pd_feature(&p, PTC_FEAT_EVENT_DESC, b.bytes, b.len);
	ptc_buf_reset(&b);
	ptc_id_index_put_entry(&b, &id);
	u.u.id_index.entries = ptc_cur_init(b.bytes, b.len);
	ptc_user_put(&p.data, &u);
	pd_aux(&p, 10, 3, 100, 4, 8, 0);
	pd_auxtrace(&p, &aux, "\2\202\2\202\2\202\2\202", 8);
	bytes = pd_finish(&p, &len);
	put(folder, "broken", bytes, len);
	free(bytes);
	ptc_buf_release(&b);
	pd_release(&p);
}

/* The last byte sets the options of the copy: see fuzz_copy.c. */
static void put_copy(const char *folder)
{
	static const uint8_t hows[] = { 32, 33, 35, 36, 40, 48 };
	struct ptc_buf b = PTC_BUF_INIT;
	char name[32];
	size_t i, len;

	for (i = 0; i < 2 * sizeof(hows); i++) {
		struct pd p;
		uint8_t *bytes;

		build(&p);
		bytes = i & 1 ? pd_finish_pipe(&p, &len) : pd_finish(&p, &len);
		ptc_buf_reset(&b);
		ptc_buf_put(&b, bytes, len);
		ptc_buf_u8(&b, hows[i / 2]);
		(void)snprintf(name, sizeof(name), "%s-%02u", i & 1 ? "pipe" : "file", hows[i / 2]);
		put(folder, name, b.bytes, b.len);
		free(bytes);
		pd_release(&p);
	}
	ptc_buf_release(&b);
}

static void put_buf(const char *folder, const char *name, struct ptc_buf *b)
{
	put(folder, name, b->bytes, b->len);
	ptc_buf_release(b);
}

static void put_jitdump(const char *folder)
{
	static const char code[] = "\x90\xc3";
	struct ptc_buf b = PTC_BUF_INIT;

	le_jit(&b, 7, 1);
	le_jit_load(&b, 10, 0x1000, 1, "first", code, sizeof(code));
	le_jit_other(&b, 2, 24);
	le_jit_load(&b, 20, 0x2000, 2, "", code, sizeof(code));
	le_jit_move(&b, 30, 0x1000, 0x3000, 1, 2);
	le_jit_load(&b, 40, 0x1000, 1, "again", code, sizeof(code));
	le_jit_move(&b, 50, 0x2000, 0x4000, 77, 2);
	le_jit_other(&b, 3, 0);
	put_buf(folder, "plain", &b);
}

static void put_gopclntab(const char *folder)
{
	static const struct {
		const char *name;
		enum gp_magic magic;
	} versions[] = {
		{ "1.2", GP_1_2 }, { "1.16", GP_1_16 }, { "1.18", GP_1_18 }, { "1.20", GP_1_20 }
	};
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		gp_table(&b, versions[i].magic);
		put_buf(folder, versions[i].name, &b);
	}
}

/* Writes mappings of a program, with its first page, and unnamed memory. */
static void put_core(const char *folder)
{
	static const struct le_mapped maps[] = { { 0x400000, 0x401000, 0, "/bin/a" },
						 { 0x401000, 0x402000, 1, "/bin/a" } };
	struct ptc_buf b = PTC_BUF_INIT, elf = PTC_BUF_INIT;
	struct le_segment segs[2];

	le_program(&elf, 0x400000, 0xab, "\x90\xc3", 2);
	segs[0] = (struct le_segment){ 0x400000, elf.bytes, LE_CODE_OFF };
	segs[1] = (struct le_segment){ 0x7000, "\xc3", 1 };
	le_core(&b, 10, segs, 2, maps, 2);
	put_buf(folder, "plain", &b);
	le_core(&b, 0, segs + 1, 1, maps, 0);
	put_buf(folder, "small", &b);
	ptc_buf_release(&elf);
}

/*
 * Writes walks over the code of lib_pt, with and without times, whole and in parts; the first byte
 * as in fuzz_decode.
 */
static void put_decode(const char *folder)
{
	static const uint8_t hows[] = { 0, 1, 2, 4, 8, 8 | 128, 64, 64 | 8 | 128 };
	struct ptc_buf b = PTC_BUF_INIT;
	char name[20];
	size_t i;

	for (i = 0; i < sizeof(hows); i++) {
		struct fl_walk w = { .b = &b, .seed = i + 1, .timed = hows[i] & 8, .mtc_freq = 3 };

		ptc_buf_u8(&b, hows[i]);
		fl_walk(&w, 60);
		(void)snprintf(name, sizeof(name), "walk%zu", i);
		put_buf(folder, name, &b);
	}
	ptc_buf_u8(&b, 16);
	pt_cyc(&b, 1000);
	pt_mode_tsx(&b, true, false);
	pt_ip(&b, PT_FUP, PT_CODE);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, PT_CODE + 3);
	pt_tnt64(&b, 0x5a5a, 20);
	pt_psb_on(&b, PT_CODE + 0x10);
	pt_tnt(&b, "TNNTN");
	pt_ip16(&b, PT_TIP, PT_CODE + 0x31);
	pt_ip_none(&b, PT_PGD);
	pt_enable(&b, PT_HIGH + PT_CODE);
	pt_cbr(&b, 8);
	pt_ip_none(&b, PT_PGD);
	put_buf(folder, "rare", &b);
}

/* Writes @bytes behind the byte that selects the way of fuzz_bundle.c. */
static void put_way(const char *folder, const char *name, uint8_t way, const void *bytes,
		    size_t len)
{
	struct ptc_buf b = PTC_BUF_INIT;

	ptc_buf_u8(&b, way);
	ptc_buf_put(&b, bytes, len);
	put_buf(folder, name, &b);
}

/* Writes a bundle to a temporary file, and reads it. @folder_form: the recording is a folder. */
static void make_bundle(bool folder_form, struct ptc_buf *ret)
{
	static const char text[] = "some bytes of the member";
	char path[] = "/tmp/mkseeds-XXXXXX";
	const struct ptc_member one[] = {
		{ .kind = PTC_MEMBER_RECORDING },
		{ .kind = PTC_MEMBER_CODE,
		  .id = { .bytes = { 1, 2, 3 }, .len = 20 },
		  .partial = true,
		  .path = (char *)(uintptr_t) "/bin/a" },
		{ .kind = PTC_MEMBER_DATA, .ino = 7, .path = (char *)(uintptr_t) "/tmp/b" },
	};
	const struct ptc_member several[] = { { .kind = PTC_MEMBER_FOLDER },
					      { .kind = PTC_MEMBER_PART },
					      { .kind = PTC_MEMBER_KALLSYMS } };
	struct ptc_bundle_writer w = { .sources = NULL };
	const int fd = mkstemp(path);
	struct ptc_err err;
	uint8_t bytes[4096];
	FILE *f;
	ssize_t n = -1;
	size_t i;

	for (i = 0; i < 3; i++) {
		const struct ptc_bundle_source source = {
			.fd = -1, .bytes = ptc_cur_init(text, sizeof(text) - i)
		};

		(void)ptc_bundle_writer_add(&w, folder_form ? &several[i] : &one[i], &source, "",
					    &err);
	}
	if (fd < 0 || close(fd) || unlink(path) || ptc_bundle_write(&w, path, 3, &err))
		exit(1);
	ptc_bundle_writer_release(&w);
	f = fopen(path, "rb");
	n = f ? (ssize_t)fread(bytes, 1, sizeof(bytes), f) : -1;
	if (n <= 0 || fclose(f) || unlink(path))
		exit(1);
	ptc_buf_put(ret, bytes, (size_t)n);
}

/* Writes bundles, their tar archives, and their manifests, which begin behind the first header. */
static void put_bundle(const char *folder)
{
	static uint8_t tar[1 << 16];
	char name[16];
	int i;

	for (i = 0; i < 2; i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		size_t n;

		make_bundle(i, &b);
		(void)snprintf(name, sizeof(name), "bundle%d", i);
		put_way(folder, name, 0, b.bytes, b.len);
		n = ZSTD_decompress(tar, sizeof(tar), b.bytes, b.len);
		if (ZSTD_isError(n))
			exit(1);
		(void)snprintf(name, sizeof(name), "tar%d", i);
		put_way(folder, name, 1, tar, n);
		(void)snprintf(name, sizeof(name), "manifest%d", i);
		put_way(folder, name, 2, tar + 512, strlen((const char *)tar + 512));
		ptc_buf_release(&b);
	}
}

/* Writes @elf without its magic number, and empties it. */
static void put_elf(const char *folder, const char *name, struct ptc_buf *elf)
{
	struct ptc_buf rest = PTC_BUF_INIT;

	ptc_buf_put(&rest, elf->bytes + SELFMAG, elf->len - SELFMAG);
	ptc_buf_release(elf);
	put_buf(folder, name, &rest);
}

static void put_kept_parts(const char *folder)
{
	struct ptc_buf elf = PTC_BUF_INIT;

	le_program(&elf, 0x1000, 5, "\x90\xc3", 2);
	put_elf(folder, "program", &elf);
	le_module(&elf, 7, "1 mod_unload ");
	put_elf(folder, "module", &elf);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fill)(const char *folder);
	} targets[] = {
		{ "fuzz_reader", put_reader },
		{ "fuzz_inflate", put_inflate },
		{ "fuzz_pipe", put_pipe },
		{ "fuzz_record", put_record },
		{ "fuzz_auxtrace_info", put_info },
		{ "fuzz_verify", put_verify },
		{ "fuzz_copy", put_copy },
		{ "fuzz_jitdump", put_jitdump },
		{ "fuzz_core", put_core },
		{ "fuzz_gopclntab", put_gopclntab },
		{ "fuzz_decode", put_decode },
		{ "fuzz_bundle", put_bundle },
		{ "fuzz_kept_parts", put_kept_parts },
	};
	char folder[480];
	size_t i;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: mkseeds DIR\n");
		return 2;
	}
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		(void)snprintf(folder, sizeof(folder), "%s/%s", argv[1], targets[i].name);
		targets[i].fill(folder);
	}
	return 0;
}
