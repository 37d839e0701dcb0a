/* SPDX-License-Identifier: MIT */
/*
 * Writes the seeds: small recordings of each form, for tests/fuzz/seeds.
 *
 *   mkseeds DIR    (tests/fuzz/seeds, from the root of the sources)
 */
#include <stdio.h>
#include <stdlib.h>

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

/* Something of all that is looked into. */
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

/* The first byte says how: see fuzz_inflate.c. */
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

int main(int argc, char **argv)
{
	char folder[480];

	if (argc != 2) {
		(void)fprintf(stderr, "usage: mkseeds DIR\n");
		return 2;
	}
	(void)snprintf(folder, sizeof(folder), "%s/fuzz_reader", argv[1]);
	put_reader(folder);
	(void)snprintf(folder, sizeof(folder), "%s/fuzz_inflate", argv[1]);
	put_inflate(folder);
	return 0;
}
