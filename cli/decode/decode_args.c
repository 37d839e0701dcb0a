/* SPDX-License-Identifier: MIT */
#include "cli/decode/decode_args.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/convert/copy_common.h"
#include "cli/decode/decode_options.h"

void ptc_decode_args_release(struct ptc_decode_args *a)
{
	ptc_raw_list_release(&a->raw);
	ptc_id_list_release(&a->tids);
	ptc_id_list_release(&a->cpus);
}

/* Parse family/model/stepping. */
static bool parse_cpu_id(const char *arg, struct ptc_decode_opts *opts)
{
	char *copy = strdup(arg), *s = copy;
	uint64_t f, m, st;
	bool ok;

	ok = copy && ptc_cut_number(&s, '/', &f) && s && ptc_cut_number(&s, '/', &m) && s &&
	     ptc_cut_number(&s, '/', &st) && !s && f <= UINT16_MAX && m <= UINT8_MAX &&
	     st <= UINT8_MAX;
	free(copy);
	if (!ok)
		return false;
	opts->cpu_id_set = true;
	opts->cpu_id = (struct ptc_cpu_id){ (uint16_t)f, (uint8_t)m, (uint8_t)st };
	return true;
}

/* Is the output a profile for another tool? */
static bool is_profile(const struct ptc_decode_args *a)
{
	return a->out.form.lcov || a->out.profile.kind || a->out.call_profile.kind;
}

/*
 * Check the options of profiles for other tools, which count by themselves. Returns -1 to continue,
 * or an exit code.
 */
static int check_profile(struct ptc_decode_args *a)
{
	struct ptc_decoded_form *f = &a->out.form;

	if (a->out.profile.object && !a->out.profile.kind)
		return ptc_usage_error("decode", "--object needs --format bolt, profgen or afdo");
	if (!a->out.profile.object && a->out.profile.kind)
		return ptc_usage_error("decode", "--format bolt, profgen and afdo need --object "
						 "FILE: the program or library of the profile");
	if (!is_profile(a))
		return -1;
	if (f->counts || f->insn || f->calls || f->stats || a->opts.events || f->fields.n)
		return ptc_usage_error("decode",
				       "--format callgrind, folded, pprof, lcov, bolt, profgen "
				       "and afdo cannot be combined with -F, --calls, --counts, "
				       "--insn, --stats or --events");
	if (a->opts.sym || (a->cpu && !a->pt))
		return ptc_usage_error(
			"decode",
			"--format callgrind, folded, pprof, lcov, bolt, profgen and afdo cannot be "
			"combined with --sym or --cpu: a profile needs all "
			"branches of a thread");
	if (a->out.call_profile.kind && a->pt)
		return ptc_usage_error(
			"decode",
			"--format callgrind, folded and pprof cannot be combined with --pt");
	if (f->lcov)
		f->counts = PTC_COUNTS_COVERAGE;
	return -1;
}

/* Check the options of tables. Returns -1 to continue, or an exit code. */
static int check_arrow(struct ptc_decode_args *a)
{
	struct ptc_decoded_form *f = &a->out.form;
	const bool to_stdout = !f->output || !strcmp(f->output, "-");

	if (!f->arrow)
		return f->tables ? ptc_usage_error("decode", "--tables needs --format arrow") : -1;
	if (f->counts || f->insn || f->calls || f->stats || a->opts.events || f->fields.n ||
	    a->opts.sym || a->pt)
		return ptc_usage_error("decode",
				       "--format arrow cannot be combined with -F, --calls, "
				       "--counts, --insn, --stats, --events, --sym or --pt");
	if (a->shard.n && f->tables >> PTC_ARROW_CALLS & 1)
		return ptc_usage_error("decode", "--shard cannot be combined with the table calls: "
						 "calls continue from one shard to the next");
	if (!f->tables && to_stdout)
		f->tables = 1U << PTC_ARROW_BRANCHES;
	else if (!f->tables)
		f->tables = (1U << PTC_ARROW_TABLES) - 1 - (a->shard.n ? 1U << PTC_ARROW_CALLS : 0);
	if (to_stdout && f->tables & (f->tables - 1))
		return ptc_usage_error("decode", "standard output takes one table; add -o DIR, or "
						 "name one table with --tables");
	if (to_stdout && isatty(STDOUT_FILENO))
		return ptc_usage_error("decode", "standard output is a terminal; redirect it, or "
						 "use -o DIR");
	f->recording = a->input ? a->input : PTC_INPUT_DEFAULT;
	if (f->output && ptc_copying_clash("decode", f->recording, f->output))
		return PTC_EXIT_USAGE;
	return -1;
}

/* Check the options of calls for other tools. Returns -1 to continue, or an exit code. */
static int check_timeline(const struct ptc_decode_args *a)
{
	const struct ptc_decoded_form *f = &a->out.form;

	if (f->budget && !f->fxt)
		return ptc_usage_error("decode", "--budget needs --format fxt");
	if (!f->uftrace && !f->fxt)
		return f->output && !f->arrow ?
			       ptc_usage_error("decode",
					       "-o needs --format uftrace, fxt or arrow") :
			       -1;
	if (f->uftrace && (!f->output || !strcmp(f->output, "-")))
		return ptc_usage_error("decode", "--format uftrace writes a folder; add -o DIR");
	if (f->counts || f->insn || f->stats || a->opts.events || f->fields.n || a->opts.sym ||
	    a->pt)
		return ptc_usage_error("decode", "--format uftrace and fxt cannot be combined with "
						 "-F, --counts, --insn, --stats, --events, --sym "
						 "or --pt");
	if (f->fxt && (!f->output || !strcmp(f->output, "-")) && isatty(STDOUT_FILENO))
		return ptc_usage_error("decode", "standard output is a terminal; redirect it, or "
						 "use -o FILE");
	if (f->output &&
	    ptc_copying_clash("decode", a->input ? a->input : PTC_INPUT_DEFAULT, f->output))
		return PTC_EXIT_USAGE;
	return -1;
}

/* Does the output have numbers of instructions? */
static bool needs_icount(const struct ptc_decoded_form *f)
{
	if (f->fields.n)
		return ptc_fields_have(&f->fields, PTC_FIELD_ICOUNT);
	if (f->bin)
		return f->icount;
	if (f->choice.min && !f->choice.min_is_time)
		return true;
	return !f->counts && !f->stats && !f->lcov && f->axis != PTC_AXIS_TIME;
}

/* Check the options of a trace without a recording. Returns -1 to continue, or an exit code. */
static int check_raw(const struct ptc_decode_args *a)
{
	if (a->pt && a->input)
		return ptc_usage_error("decode", "a recording ('%s') cannot be combined with --pt",
				       a->input);
	if (a->raw.n && !a->pt)
		return ptc_usage_error("decode", "--raw needs --pt");
	if (a->pt && (a->code.symfs || a->code.core || a->code.kcore || a->code.vmlinux))
		return ptc_usage_error("decode", "--pt cannot be combined with --symfs, --core, "
						 "--kcore or --vmlinux; --raw names the code");
	if (a->code.kcore && a->code.vmlinux)
		return ptc_usage_error("decode", "--kcore cannot be combined with --vmlinux");
	if (a->pt && (a->tids.n || a->has_time))
		return ptc_usage_error("decode", "--pt cannot be combined with --tid or --time: "
						 "a raw trace has no threads and no clock");
	return -1;
}

/* Check --depth, which has two meanings. Returns -1 to continue, or an exit code. */
static int check_depth(struct ptc_decode_args *a)
{
	const uint64_t depth = a->out.form.choice.depth;

	a->out.call_profile.depth = depth;
	if (!depth || a->out.form.calls)
		return -1;
	if (a->out.call_profile.kind < PTC_CALL_PROFILE_FOLDED)
		return ptc_usage_error("decode", "--depth needs --calls or --format folded, pprof");
	if (depth > PTC_TREE_DEPTH_MAX)
		return ptc_usage_error("decode",
				       "--depth is at most %d with --format folded or pprof",
				       PTC_TREE_DEPTH_MAX);
	return -1;
}

/* Check that the outputs can be combined. Returns -1 to continue, or an exit code. */
static int check_outputs(const struct ptc_decode_args *a)
{
	const struct ptc_decoded_form *f = &a->out.form;

	if (f->json && f->fields.n)
		return ptc_usage_error("decode", "-F cannot be combined with --format json");
	if (f->stats && (f->bin || f->insn || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--stats cannot be combined with -F, --calls, "
						 "--insn or --format bin");
	if (f->counts &&
	    (f->bin || f->insn || f->calls || f->stats || a->opts.events || f->fields.n))
		return ptc_usage_error("decode", "--counts cannot be combined with -F, --calls, "
						 "--insn, --stats, --events or --format bin");
	if (f->bin && (f->insn || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--format bin cannot be combined with -F, "
						 "--calls or --insn");
	if (f->insn && (f->json || f->calls || f->fields.n))
		return ptc_usage_error("decode", "--insn cannot be combined with -F, --calls or "
						 "--format json");
	if (f->inlines && !f->calls && !f->insn && !f->uftrace && !f->fxt && !f->arrow &&
	    !ptc_fields_have(&f->fields, PTC_FIELD_SRCLINE))
		return ptc_usage_error("decode",
				       "--inline needs --calls, --insn, the field srcline, "
				       "or --format uftrace, fxt or arrow");
	if (f->calls && f->fields.n)
		return ptc_usage_error("decode", "--calls cannot be combined with -F");
	if (a->has_time && a->opts.last)
		return ptc_usage_error("decode", "--time cannot be combined with --last");
	if (a->opts.events && (f->calls || f->stats))
		return ptc_usage_error("decode", "--events cannot be combined with --calls or "
						 "--stats");
	if (!f->calls && (f->choice.min || f->choice.folds))
		return ptc_usage_error("decode", "--min and --fold need --calls");
	if (f->icount && !f->bin)
		return ptc_usage_error("decode", "--icount needs --format bin");
	if (f->axis && (f->counts || f->stats || f->bin || f->json || f->arrow || f->fields.n ||
			(is_profile(a) && a->out.call_profile.kind != PTC_CALL_PROFILE_FOLDED)))
		return ptc_usage_error(
			"decode", "--axis is for lines for people, and --format "
				  "folded, uftrace and fxt: it cannot be combined with -F, other "
				  "formats, --counts or --stats");
	return -1;
}

/* Check --shard. Returns -1 to continue, or an exit code. */
static int check_shard(struct ptc_decode_args *a)
{
	struct ptc_decoded_form *f = &a->out.form;

	if (!a->shard.n)
		return -1;
	if (a->has_time || a->opts.last)
		return ptc_usage_error("decode",
				       "--shard cannot be combined with --time or --last");
	if (f->calls || f->uftrace || f->fxt)
		return ptc_usage_error("decode",
				       "--shard cannot be combined with --calls, or with "
				       "--format uftrace or fxt: calls continue from one "
				       "shard to the next; use --time, or a sum: --format "
				       "callgrind, folded or pprof");
	if (f->counts == PTC_COUNTS_COVERAGE && !f->lcov && !f->json)
		return ptc_usage_error("decode", "--shard cannot be combined with the text of "
						 "--counts=coverage, which `ptcap sum` does not "
						 "read; use --format=json or --format=lcov");
	if (f->most)
		return ptc_usage_error("decode", "--shard cannot be combined with the first N of "
						 "--counts: a shard does not know the sums");
	a->out.call_profile.shard = a->shard;
	f->shard = a->shard;
	if (a->out.call_profile.kind)
		return -1;
	if (f->icount || f->axis == PTC_AXIS_INSNS || ptc_fields_have(&f->fields, PTC_FIELD_ICOUNT))
		return ptc_usage_error("decode", "--shard cannot be combined with --icount, "
						 "--axis=insns or the field icount: a shard does "
						 "not know how many instructions ran before it");
	f->axis = PTC_AXIS_TIME;
	return -1;
}

/* Check and take the choice of CPUs. Returns -1 to continue, or an exit code. */
static int check_cpus(struct ptc_decode_args *a)
{
	if (a->out.form.counts >= PTC_COUNTS_BLOCKS && (a->opts.sym || (a->cpu && !a->pt)))
		return ptc_usage_error("decode", "--counts of blocks, lines and coverage cannot be "
						 "combined with --sym or --cpu: it needs all "
						 "branches of a thread");
	if (a->cpu && a->pt && !parse_cpu_id(a->cpu, &a->opts))
		return ptc_value_error("decode", "--cpu", a->cpu,
				       "FAMILY/MODEL/STEPPING with --pt, for example 6/158/9");
	if (a->cpu && !a->pt && !ptc_id_list_parse(&a->cpus, a->cpu))
		return ptc_value_error("decode", "--cpu", a->cpu, "CPU numbers, for example 0,2-4");
	return -1;
}

/* Does the output have a line for each item, which takes longer than decoding the item? */
static bool prints_long_lines(const struct ptc_decode_args *a)
{
	static const enum ptc_field names[] = { PTC_FIELD_SYM, PTC_FIELD_TOSYM, PTC_FIELD_DISASM,
						PTC_FIELD_SRCLINE };
	const struct ptc_decoded_form *f = &a->out.form;
	bool any = !f->fields.n;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		any |= ptc_fields_have(&f->fields, names[i]);
	return any && !f->bin && !f->stats && !f->counts && !f->calls && !f->uftrace && !f->fxt &&
	       !f->arrow && !a->out.profile.kind && !a->out.call_profile.kind &&
	       !a->opts.sym; /* the decoder looks up names, and prints few */
}

/* Check that the options can be combined. Returns -1 to continue, or an exit code. */
static int check_args(struct ptc_decode_args *a)
{
	struct ptc_decoded_form *f = &a->out.form;
	int code = check_profile(a);

	code = code < 0 ? check_arrow(a) : code;
	code = code < 0 ? check_timeline(a) : code;
	code = code < 0 ? check_outputs(a) : code;
	code = code < 0 ? check_raw(a) : code;
	code = code < 0 ? check_depth(a) : code;
	code = code < 0 ? check_cpus(a) : code;
	code = code < 0 ? check_shard(a) : code;
	if (code >= 0)
		return code;
	a->opts.tids = (struct ptc_ids){ a->tids.ranges, a->tids.n };
	a->opts.cpus = (struct ptc_ids){ a->cpus.ranges, a->cpus.n };
	a->opts.sums = f->stats ? &a->sums : NULL;
	a->opts.runs = (f->bin && !f->icount) || f->counts || a->out.profile.kind;
	a->out.call_profile.by_time = f->axis == PTC_AXIS_TIME;
	f->mangled = a->opts.mangled;
	if (f->calls) { /* the calls of a function need all branches */
		f->choice.sym = a->opts.sym;
		a->opts.sym = NULL;
	}
	f->icount = needs_icount(f) && !a->out.profile.kind && !a->shard.n;
	a->opts.icount = f->icount || a->out.call_profile.kind;
	a->opts.insns = f->insn || ptc_fields_have(&f->fields, PTC_FIELD_INSN_IP);
	if (a->opts.engine == PTC_ENGINE_VERIFY && (a->opts.insns || a->opts.events))
		return ptc_usage_error("decode",
				       "--engine verify cannot be combined with --insn, --events "
				       "or the field insn-ip");
	a->opts.lengths = f->calls || f->uftrace || f->fxt || f->tables >> PTC_ARROW_CALLS & 1 ||
			  a->out.call_profile.kind;
	a->opts.bytes = f->insn || ptc_fields_have(&f->fields, PTC_FIELD_DISASM) ||
			ptc_fields_have(&f->fields, PTC_FIELD_INSN);
	/* These outputs depend on the item before. */
	a->opts.before = a->shard.n && (f->bin || f->insn || f->counts >= PTC_COUNTS_BLOCKS ||
					a->out.profile.kind || a->out.call_profile.kind);
	if (prints_long_lines(a)) {
		f->jobs = a->opts.jobs;
		a->opts.jobs = 1;
	}
	return -1;
}

int ptc_decode_args_parse(struct ptc_decode_args *a, int argc, char **argv)
{
	int code;

	*a = (struct ptc_decode_args){ .opts = PTC_DECODE_OPTS_INIT,
				       .code = PTC_CODE_OPTS_INIT,
				       .out = { .totals = PTC_TOTALS_INIT } };
	a->opts.code = &a->code;
	a->sums = (struct ptc_sums_sink){ ptc_decoded_sums, &a->out };
	a->opts.jobs = ptc_default_jobs();
	code = ptc_options_parse(&ptc_decode_options, argc, argv, a);
	if (code >= 0)
		return code;
	if (ptc_take_input("decode", argc, argv, &a->input))
		return PTC_EXIT_USAGE;
	return check_args(a);
}
