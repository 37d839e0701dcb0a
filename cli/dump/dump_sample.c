/* SPDX-License-Identifier: MIT */
/* Print the fields of a SAMPLE. */
#include <stdio.h>
#include <string.h>

#include "cli/dump/abi_fields.h"
#include "cli/dump/dump.h"
#include "cli/dump/dump_emit.h"
#include "ptcap/file.h"

static void emit_read(struct ptc_emit *e, struct ptc_read r)
{
	struct ptc_read_value v;

	if (r.format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		ptc_emit_time(e, "time_enabled", r.time_enabled);
	if (r.format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		ptc_emit_time(e, "time_running", r.time_running);
	ptc_emit_entries(e, "values");
	while (ptc_read_next(&r, &v)) {
		ptc_emit_entry(e);
		ptc_emit_u64(e, "value", v.value);
		if (r.format & PERF_FORMAT_ID)
			ptc_emit_u64(e, "id", v.id);
		if (r.format & PERF_FORMAT_LOST)
			ptc_emit_u64(e, "lost", v.lost);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_branches(struct ptc_emit *e, struct ptc_branches s)
{
	struct ptc_branch b;

	ptc_emit_u64(e, "branches", s.n);
	if (s.has_hw_idx)
		ptc_emit_i64(e, "hw_idx", (int64_t)s.hw_idx);
	ptc_emit_entries(e, "branch_stack");
	while (ptc_branches_next(&s, &b)) {
		ptc_emit_entry(e);
		ptc_emit_hex(e, "from", b.from);
		ptc_emit_hex(e, "to", b.to);
		ptc_emit_bool(e, "mispred", b.mispred);
		ptc_emit_bool(e, "predicted", b.predicted);
		ptc_emit_bool(e, "in_tx", b.in_tx);
		ptc_emit_bool(e, "abort", b.abort);
		ptc_emit_u64(e, "cycles", b.cycles);
		ptc_emit_named(e, "type", b.type, &ptc_names_branch_type);
		if (b.type == PERF_BR_EXTEND_ABI)
			ptc_emit_named(e, "new_type", b.new_type, &ptc_names_branch_new_type);
		ptc_emit_named(e, "spec", b.spec, &ptc_names_branch_spec);
		ptc_emit_named(e, "priv", b.priv, &ptc_names_branch_priv);
		if (b.reserved)
			ptc_emit_hex(e, "reserved", b.reserved);
		if (s.has_counters)
			ptc_emit_hex(e, "counters", b.counters);
		ptc_emit_end(e);
	}
	ptc_emit_entries_end(e);
}

static void emit_regs(struct ptc_emit *e, const char *abi, const char *name,
		      const struct ptc_regs *r)
{
	unsigned int bit;
	uint64_t v;

	ptc_emit_named(e, abi, r->abi, &ptc_names_regs_abi);
	if (!r->abi)
		return;
	ptc_emit_entries(e, name);
	ptc_emit_entry(e);
	for (bit = 0; bit < 64; bit++) {
		char number[16];

		if (!ptc_regs_get(r, bit, &v))
			continue;
		(void)snprintf(number, sizeof(number), "r%u", bit);
		ptc_emit_hex(e, ptc_reg_name(bit) ? ptc_reg_name(bit) : number, v);
	}
	ptc_emit_end(e);
	ptc_emit_entries_end(e);
}

static void emit_data_src(struct ptc_emit *e, uint64_t v)
{
	static const struct {
		const char *field;
		const struct ptc_names *names;
		bool bits;
	} parts[] = {
		{ "mem_op", &ptc_names_mem_op, true },
		{ "mem_lvl", &ptc_names_mem_lvl, true },
		{ "mem_snoop", &ptc_names_mem_snoop, true },
		{ "mem_lock", &ptc_names_mem_lock, true },
		{ "mem_dtlb", &ptc_names_mem_tlb, true },
		{ "mem_lvl_num", &ptc_names_mem_lvlnum, false },
		{ "mem_remote", &ptc_names_mem_remote, true },
		{ "mem_snoopx", &ptc_names_mem_snoopx, true },
		{ "mem_blk", &ptc_names_mem_blk, true },
		{ "mem_hops", &ptc_names_mem_hops, false },
		{ "mem_region", &ptc_names_mem_region, false },
	};
	const struct ptc_fields *t = &ptc_fields_mem_data_src;
	size_t i, j;

	ptc_emit_hex(e, "data_src", v);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (j = 0; j < t->n; j++) {
			const uint64_t part = ptc_field_get(&t->list[j], &v);

			if (strcmp(t->list[j].name, parts[i].field) != 0 || !part)
				continue;
			if (parts[i].bits)
				ptc_emit_bits(e, parts[i].field, part, parts[i].names);
			else
				ptc_emit_named(e, parts[i].field, part, parts[i].names);
		}
}

static void emit_transaction(struct ptc_emit *e, uint64_t v)
{
	ptc_emit_bits(e, "transaction", v & ~(uint64_t)PERF_TXN_ABORT_MASK, &ptc_names_txn);
	if (v >> PERF_TXN_ABORT_SHIFT)
		ptc_emit_hex(e, "abort_code", v >> PERF_TXN_ABORT_SHIFT);
}

static void emit_weight(struct ptc_emit *e, const struct ptc_sample *s)
{
	if (s->id.has & PERF_SAMPLE_WEIGHT)
		ptc_emit_u64(e, "weight", s->weight.full);
	if (!(s->id.has & PERF_SAMPLE_WEIGHT_STRUCT))
		return;
	ptc_emit_u64(e, "weight", s->weight.var1_dw);
	ptc_emit_u64(e, "weight2", s->weight.var2_w);
	ptc_emit_u64(e, "weight3", s->weight.var3_w);
}

static void emit_large(struct ptc_emit *e, const struct ptc_sample *s)
{
	const uint64_t has = s->id.has;

	if (has & PERF_SAMPLE_READ)
		emit_read(e, s->read);
	if (has & PERF_SAMPLE_CALLCHAIN)
		ptc_emit_callchain(e, s->callchain);
	if (has & PERF_SAMPLE_RAW) {
		ptc_emit_u64(e, "raw_size", ptc_cur_left(&s->raw));
		ptc_emit_bytes(e, "raw", s->raw);
	}
	if (has & PERF_SAMPLE_BRANCH_STACK)
		emit_branches(e, s->branches);
	if (has & PERF_SAMPLE_REGS_USER)
		emit_regs(e, "regs_user_abi", "regs_user", &s->regs_user);
	if (has & PERF_SAMPLE_STACK_USER) {
		ptc_emit_u64(e, "stack_user_size", ptc_cur_left(&s->stack_user));
		ptc_emit_u64(e, "stack_user_dyn", s->stack_user_dyn);
	}
}

static void emit_small(struct ptc_emit *e, const struct ptc_sample *s)
{
	const uint64_t has = s->id.has;

	if (has & PERF_SAMPLE_WEIGHT_TYPE)
		emit_weight(e, s);
	if (has & PERF_SAMPLE_DATA_SRC)
		emit_data_src(e, s->data_src);
	if (has & PERF_SAMPLE_TRANSACTION)
		emit_transaction(e, s->transaction);
	if (has & PERF_SAMPLE_REGS_INTR)
		emit_regs(e, "regs_intr_abi", "regs_intr", &s->regs_intr);
	if (has & PERF_SAMPLE_PHYS_ADDR)
		ptc_emit_hex(e, "phys_addr", s->phys_addr);
	if (has & PERF_SAMPLE_CGROUP)
		ptc_emit_u64(e, "cgroup", s->cgroup);
	if (has & PERF_SAMPLE_DATA_PAGE_SIZE)
		ptc_emit_u64(e, "data_page_size", s->data_page_size);
	if (has & PERF_SAMPLE_CODE_PAGE_SIZE)
		ptc_emit_u64(e, "code_page_size", s->code_page_size);
	if (has & PERF_SAMPLE_AUX)
		ptc_emit_u64(e, "aux_size", ptc_cur_left(&s->aux));
	if (ptc_cur_left(&s->rest))
		ptc_emit_u64(e, "more", ptc_cur_left(&s->rest));
}

int ptc_dump_sample(struct ptc_emit *e, const struct ptc_file *f, const struct ptc_rec *rec,
		    struct ptc_sample_id *ret_id, struct ptc_err *err)
{
	const struct ptc_file_attr *a = ptc_file_sample_attr(f, rec);
	struct ptc_sample s;
	int rc;

	if (!a)
		return 0;
	rc = ptc_sample_parse(rec, &a->attr, &s, err);
	if (rc)
		return rc;
	if (s.id.has & PERF_SAMPLE_IP)
		ptc_emit_hex(e, "ip", s.ip);
	if (s.id.has & PERF_SAMPLE_ADDR)
		ptc_emit_hex(e, "addr", s.addr);
	if (s.id.has & PERF_SAMPLE_PERIOD)
		ptc_emit_u64(e, "period", s.period);
	emit_large(e, &s);
	emit_small(e, &s);
	*ret_id = s.id;
	return 0;
}
