/* SPDX-License-Identifier: MIT */
#include "lib_perfdata.h"
#include "fewer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "auxtrace/record/attr.h"

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);           \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

void pd_init(struct pd *p)
{
	memset(p, 0, sizeof(*p));
	p->attr_size = PERF_ATTR_SIZE_VER7;
}

void pd_release(struct pd *p)
{
	size_t i;

	ptc_buf_release(&p->data);
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		ptc_buf_release(&p->features[i]);
}

void pd_attr(struct pd *p, const struct perf_event_attr *attr, const uint64_t *ids, size_t nids)
{
	CHECK(p->nattrs < PD_ATTRS && nids <= PD_IDS);
	p->attrs[p->nattrs].attr = *attr;
	if (nids)
		memcpy(p->attrs[p->nattrs].ids, ids, nids * sizeof(*ids));
	p->attrs[p->nattrs].nids = nids;
	p->nattrs++;
}

void pd_init_pt(struct pd *p, const struct ptc_time_conv *tc)
{
	const struct ptc_pt_info info = {
		.type = PTC_AUXTRACE_TYPE_INTEL_PT,
		.pmu_type = PD_PMU_TYPE,
		.time = tc ? *tc : (struct ptc_time_conv){ 0, 0, 0 },
		.cap_user_time_zero = tc != NULL,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,
		.mtc_bit = 0x200,
		.mtc_freq_bits = 0x3c000,
		.tsc_ctc_n = 250,
		.tsc_ctc_d = 2,
		.cyc_bit = 2,
		.max_nonturbo_ratio = 30,
		.filter = "",
	};
	struct perf_event_attr attr = {
		.type = PD_PMU_TYPE,
		.size = PERF_ATTR_SIZE_VER7,
		.config = 0x300e601,
		.sample_period = 1,
		.sample_type = PD_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
	};
	uint64_t id = PD_ID_PT;

	pd_init(p);
	pd_attr(p, &attr, &id, 1);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 1;
	id = PD_ID_DUMMY;
	pd_attr(p, &attr, &id, 1);
	if (tc)
		ptc_time_conv_put(&p->data, tc);
	ptc_pt_info_put(&p->data, &info);
}

void pd_sb(struct pd *p, const struct ptc_sb *sb)
{
	ptc_sb_put(&p->data, sb, PD_SAMPLE_TYPE);
}

static struct ptc_sb begin(uint32_t type, uint16_t misc, int32_t tid, uint32_t cpu, uint64_t time)
{
	return (struct ptc_sb){
		.type = type,
		.misc = misc,
		.id = { .has = PD_SAMPLE_TYPE,
			.pid = tid,
			.tid = tid,
			.time = time,
			.id = PD_ID_DUMMY,
			.cpu = cpu },
	};
}

void pd_comm(struct pd *p, int32_t tid, uint64_t time, const char *comm, bool exec)
{
	struct ptc_sb sb =
		begin(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, tid, 0, time);

	sb.u.comm = (struct ptc_sb_comm){ tid, tid, comm };
	pd_sb(p, &sb);
}

void pd_mmap2(struct pd *p, int32_t tid, uint64_t time, uint64_t addr, uint64_t len, uint64_t pgoff,
	      const char *filename)
{
	struct ptc_sb sb = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, tid, 0, time);

	sb.u.mmap = (struct ptc_sb_mmap){
		.pid = tid,
		.tid = tid,
		.addr = addr,
		.len = len,
		.pgoff = pgoff,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.filename = filename,
	};
	pd_sb(p, &sb);
}

void pd_itrace_start(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time)
{
	struct ptc_sb sb = begin(PERF_RECORD_ITRACE_START, 0, tid, cpu, time);

	sb.id.id = PD_ID_PT;
	sb.u.itrace_start = (struct ptc_sb_itrace_start){ tid, tid };
	pd_sb(p, &sb);
}

void pd_switch(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time, bool out)
{
	const struct ptc_sb sb =
		begin(PERF_RECORD_SWITCH, out ? PERF_RECORD_MISC_SWITCH_OUT : 0, tid, cpu, time);

	pd_sb(p, &sb);
}

void pd_aux(struct pd *p, int32_t tid, uint32_t cpu, uint64_t time, uint64_t offset, uint64_t size,
	    uint64_t flags)
{
	struct ptc_sb sb = begin(PERF_RECORD_AUX, 0, tid, cpu, time);

	sb.id.id = PD_ID_PT;
	sb.u.aux = (struct ptc_sb_aux){ offset, size, flags };
	pd_sb(p, &sb);
}

void pd_task(struct pd *p, uint32_t type, int32_t pid, int32_t tid, int32_t ppid, uint64_t time)
{
	struct ptc_sb sb = begin(type, 0, tid, 0, time);

	sb.u.task = (struct ptc_sb_task){ pid, ppid, tid, ppid, time };
	pd_sb(p, &sb);
}

void pd_poke(struct pd *p, int32_t pid, uint64_t time, uint64_t addr, const void *bytes, size_t len)
{
	struct ptc_sb sb = begin(PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_USER, pid, 0, time);

	sb.u.poke.addr = addr;
	sb.u.poke.new_bytes = ptc_cur_init(bytes, len);
	pd_sb(p, &sb);
}

void pd_raw(struct pd *p, uint32_t type, uint16_t misc, const void *body, size_t len)
{
	const size_t pad = -len & 7;

	ptc_buf_le32(&p->data, type);
	ptc_buf_le16(&p->data, misc);
	ptc_buf_le16(&p->data, (uint16_t)(8 + len + pad));
	ptc_buf_put(&p->data, body, len);
	ptc_buf_zero(&p->data, pad);
}

void pd_auxtrace(struct pd *p, const struct ptc_auxtrace *a, const void *bytes, size_t len)
{
	struct ptc_auxtrace rec = *a;
	const size_t pad = -len & 7;

	rec.size = len + pad;
	ptc_auxtrace_put(&p->data, &rec);
	ptc_buf_put(&p->data, bytes, len);
	ptc_buf_zero(&p->data, pad);
}

void pd_feature(struct pd *p, unsigned int bit, const void *bytes, size_t len)
{
	CHECK(bit < PTC_FEATURE_BITS);
	ptc_buf_reset(&p->features[bit]);
	ptc_buf_put(&p->features[bit], bytes, len);
	CHECK(!ptc_buf_failed(&p->features[bit]));
	p->has[bit] = true;
}

static void put_features(const struct pd *p, struct ptc_buf *b)
{
	uint64_t off = b->len;
	size_t i;

	for (i = 0; i < PTC_FEATURE_BITS; i++)
		off += p->has[i] ? 16 : 0;
	for (i = 0; i < PTC_FEATURE_BITS; i++) {
		if (!p->has[i])
			continue;
		ptc_buf_le64(b, off);
		ptc_buf_le64(b, p->features[i].len);
		off += p->features[i].len;
	}
	for (i = 0; i < PTC_FEATURE_BITS; i++)
		ptc_buf_put(b, p->features[i].bytes, p->features[i].len);
}

uint8_t *pd_finish(const struct pd *p, size_t *ret_len)
{
	const uint64_t entry = p->attr_size + UINT64_C(16);
	uint64_t ids_off = PTC_FILE_HEADER_SIZE + p->nattrs * entry;
	uint64_t data_off = ids_off;
	struct ptc_buf b = PTC_BUF_INIT;
	uint8_t *bytes;
	size_t i, j;

	for (i = 0; i < p->nattrs; i++)
		data_off += 8 * p->attrs[i].nids;
	ptc_buf_put(&b, PTC_MAGIC_FILE2, 8);
	ptc_buf_le64(&b, PTC_FILE_HEADER_SIZE);
	ptc_buf_le64(&b, entry);
	ptc_buf_le64(&b, PTC_FILE_HEADER_SIZE);
	ptc_buf_le64(&b, p->nattrs * entry);
	ptc_buf_le64(&b, data_off);
	ptc_buf_le64(&b, p->data.len);
	ptc_buf_zero(&b, 16);
	for (i = 0; i < PTC_FEATURE_BITS / 8; i++) {
		uint8_t byte = 0;

		for (j = 0; j < 8; j++)
			byte |= (uint8_t)(p->has[8 * i + j] << j);
		ptc_buf_u8(&b, byte);
	}
	/* Another order than the writer's: here the ids come behind the attrs. */
	for (i = 0; i < p->nattrs; i++) {
		ptc_attr_put(&b, &p->attrs[i].attr, p->attr_size);
		ptc_buf_le64(&b, ids_off);
		ptc_buf_le64(&b, 8 * p->attrs[i].nids);
		ids_off += 8 * p->attrs[i].nids;
	}
	for (i = 0; i < p->nattrs; i++)
		for (j = 0; j < p->attrs[i].nids; j++)
			ptc_buf_le64(&b, p->attrs[i].ids[j]);
	ptc_buf_put(&b, p->data.bytes, p->data.len);
	put_features(p, &b);
	CHECK(!ptc_buf_failed(&p->data) && !ptc_buf_failed(&b));
	bytes = pd_exact(b.bytes, b.len);
	*ret_len = b.len;
	ptc_buf_release(&b);
	return bytes;
}

uint8_t *pd_exact(const void *bytes, size_t len)
{
	uint8_t *p = malloc(len);

	CHECK(p || !len);
	if (len)
		memcpy(p, bytes, len);
	return p;
}

void pd_each_damage(uint8_t *bytes, size_t len, void (*look)(const uint8_t *bytes, size_t len))
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	enum { STEP = FEWER(1, 3) };
	size_t i, v;

	for (i = 0; i < len; i++) {
		const uint8_t was = bytes[i];

		/* Each byte begins with another value. */
		for (v = i % STEP; v < sizeof(values); v += STEP) {
			bytes[i] = values[v];
			look(bytes, len);
		}
		bytes[i] = was;
	}
}

void pd_write(const struct pd *p, const char *path)
{
	size_t len;
	uint8_t *bytes = pd_finish(p, &len);
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(bytes, 1, len, f) == len && !fclose(f));
	free(bytes);
}
