/* SPDX-License-Identifier: MIT */
/* Description: the sums of each format of `ptcap sum`. */
#include <stdio.h>

#include "sum_case.h"

#define MAX  "9223372036854775807"
#define MORE "9223372036854775808"

#define COUNTS(times, rows)                                                                        \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"edges\",\"times\":" times      \
	",\"different\":" rows ",\"gaps\":0}\n"
#define PLACE(key, ip, file, off, id)                                                              \
	",\"" key "\":\"" ip "\",\"" key "_file\":\"" file "\",\"" key "_file_offset\":\"" off     \
	"\",\"" key "_build_id\":\"" id "\""
#define ROW(times, from, to)                                                                       \
	"{\"type\":\"count\",\"times\":" times ",\"kind\":\"jmp\"" from to "}\n"
#define NOWHERE ",\"to\":\"0x0\""

Test(sum_counts, a_build_id_and_an_offset_are_a_place)
{
	/* Other addresses and another path. The lowest address and the first path are printed. */
	sum_is(COUNTS("2", "1") ROW("2", PLACE("from", "0x8010", "/b/x", "0x10", "aa"), NOWHERE),
	       COUNTS("3", "1") ROW("3", PLACE("from", "0x7010", "/c/x", "0x10", "aa"), NOWHERE),
	       COUNTS("5", "1") ROW("5", PLACE("from", "0x7010", "/b/x", "0x10", "aa"), NOWHERE));
	sum_is(COUNTS("3", "1") ROW("3", PLACE("from", "0x7010", "/c/x", "0x10", "aa"), NOWHERE),
	       COUNTS("2", "1") ROW("2", PLACE("from", "0x8010", "/b/x", "0x10", "aa"), NOWHERE),
	       COUNTS("5", "1") ROW("5", PLACE("from", "0x7010", "/b/x", "0x10", "aa"), NOWHERE));
	/* Two builds of one file. */
	sum_is(COUNTS("2", "1") ROW("2", PLACE("from", "0x10", "/x", "0x10", "aa"), NOWHERE),
	       COUNTS("3", "1") ROW("3", PLACE("from", "0x10", "/x", "0x10", "bb"), NOWHERE),
	       COUNTS("5", "2") ROW("3", PLACE("from", "0x10", "/x", "0x10", "bb"), NOWHERE)
		       ROW("2", PLACE("from", "0x10", "/x", "0x10", "aa"), NOWHERE));
	/* Another offset. */
	sum_is(COUNTS("2", "1") ROW("2", PLACE("from", "0x10", "/x", "0x10", "aa"), NOWHERE),
	       COUNTS("2", "1") ROW("2", PLACE("from", "0x20", "/x", "0x20", "aa"), NOWHERE),
	       COUNTS("4", "2") ROW("2", PLACE("from", "0x10", "/x", "0x10", "aa"), NOWHERE)
		       ROW("2", PLACE("from", "0x20", "/x", "0x20", "aa"), NOWHERE));
}

Test(sum_counts, without_a_build_id_file_function_or_address_count)
{
#define FILED(ip, off) ",\"from\":\"" ip "\",\"from_file\":\"/x\",\"from_file_offset\":\"" off "\""
#define NAMED(ip, off)                                                                             \
	",\"from\":\"" ip "\",\"from_function\":\"jit\",\"from_function_offset\":" off
	sum_is(COUNTS("1", "1") ROW("1", FILED("0x20", "0x10"), NOWHERE),
	       COUNTS("1", "1") ROW("1", FILED("0x30", "0x10"), NOWHERE),
	       COUNTS("2", "1") ROW("2", FILED("0x20", "0x10"), NOWHERE));
	sum_is(COUNTS("1", "1") ROW("1", NAMED("0x30", "4"), NOWHERE),
	       COUNTS("1", "1") ROW("1", NAMED("0x20", "4"), NOWHERE),
	       COUNTS("2", "1") ROW("2", NAMED("0x20", "4"), NOWHERE));
	sum_is(COUNTS("1", "1") ROW("1", ",\"from\":\"0x20\"", NOWHERE),
	       COUNTS("3", "2") ROW("2", ",\"from\":\"0x30\"", NOWHERE)
		       ROW("1", ",\"from\":\"0x20\"", NOWHERE),
	       COUNTS("4", "2") ROW("2", ",\"from\":\"0x20\"", NOWHERE)
		       ROW("2", ",\"from\":\"0x30\"", NOWHERE));
}

Test(sum_counts, sums_stop_and_larger_numbers_are_refused)
{
#define ONE(times) COUNTS(times, "1") ROW(times, ",\"from\":\"0x20\"", NOWHERE)
	sum_is(ONE(MAX), ONE("1"), ONE(MAX));
	sum_fails(ONE(MORE), NULL, "'one' line 1: not an output");
	sum_fails(ONE("1"), COUNTS("1", "1") ROW(MORE, ",\"from\":\"0x20\"", NOWHERE),
		  "'two' line 2: not a JSON object");
	sum_fails(ONE("-1"), NULL, "'one' line 1: the member \"times\"");
	sum_fails(COUNTS("3", "2") ROW("2", ",\"from\":\"0x20\"", NOWHERE), NULL,
		  "only 1 of 2 entries; write all entries");
	sum_fails(ONE("1") ONE("1"), NULL, "'one' line 3: a second output begins");
	sum_fails(LINES, EDGES, "'two' line 1: counts of edges, but the files before have counts");
	sum_fails("{\"schema\":\"ptcap-decode-counts\",\"version\":2,\"of\":\"edges\"}\n", NULL,
		  "'one' line 1: the version of the format is 2");
	sum_fails(COUNTS("1", "1") ROW("1", ",\"from\":17", NOWHERE), NULL,
		  "'one' line 2: the member \"from\"");
}

Test(sum_counts, a_table_shows_the_largest)
{
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };
	char *text;

	cr_assert(!sum_add(&s, "one", EDGES, strlen(EDGES), &err), "%s", err.msg);
	text = sum_printed(&s, true, 1);
	cr_expect(strstr(text, "# 7 branches, 2 different\n"), "%s", text);
	cr_expect(strstr(text, " 5  71.429  jcc      fall+0x10 (x) -> (x+0x1000)\n"), "%s", text);
	cr_expect(!strstr(text, "ret"), "%s", text);
	free(text);
	ptc_sum_release(&s);
}

Test(sum_coverage, a_line_ran_if_it_ran_once)
{
#define HEAD(lines, ran, blocks)                                                                   \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"coverage\",\"files\":1,"       \
	"\"lines\":" lines ",\"ran\":" ran ",\"blocks\":" blocks ",\"lineless\":0,\"gaps\":0}\n"
#define SOURCE(lines, ran, not_run, code)                                                          \
	"{\"type\":\"file\",\"file\":\"a.c\",\"lines\":" lines ",\"ran\":" ran                     \
	",\"not_run\":" not_run ",\"code\":" code "}\n"
	sum_is(COVERAGE, HEAD("5", "1", "2") SOURCE("5", "1", "[[3,4],[7,8]]", "[[3,4],[6,8]]"),
	       HEAD("5", "3", "11") SOURCE("5", "3", "[[4,4],[8,8]]", "[[3,4],[6,8]]"));
	sum_fails(HEAD("5", "1", "2") SOURCE("5", "1", "[]", "[[3,4]]"), NULL,
		  "'one' line 2: only 2 of 5 source lines");
	sum_fails(HEAD("1", "1", "2") SOURCE("1", "1", "[]", "[[4,3]]"), NULL,
		  "'one' line 2: lines that are no ascending list");
	sum_fails(HEAD("1", "1", "2") "{\"type\":\"file\",\"file\":\"a.c\",\"not_run\":[]}\n", NULL,
		  "'one' line 2: the member \"code\"");
}

Test(sum_report, durations_give_the_mean_and_p99_is_of_one_file)
{
	char *two = sum_of(REPORT, REPORT);

	cr_expect(strstr(two, "\"instructions\":24,\"in_functions\":20,\"time\":null,\"calls\":6,"
			      "\"open\":2,\"functions\":1,\"threads\":2"),
		  "%s", two);
	cr_expect(strstr(two, "\"self\":20,\"total\":20,\"known\":4,\"mean\":4,\"p99\":null,"
			      "\"max\":6,\"durations\":18"),
		  "%s", two);
	free(two);
	sum_fails("{\"schema\":\"ptcap-report\",\"version\":1,\"by\":\"thread\"}\n", NULL,
		  "'one' line 1: a report by thread; only reports by function");
}

Test(sum_stats, numbers_add_up_and_times_are_limits)
{
	static const char other[] =
		"{\"schema\":\"ptcap-decode-stats\",\"version\":1,\"trace_bytes\":1,"
		"\"instructions\":2,\"transfers\":3,\"first_ns\":null,\"last_ns\":12,"
		"\"missing_files\":0,\"kinds\":{\"jcc\":1,\"ret\":2},\"gaps\":{\"lost\":{"
		"\"count\":1,\"bytes\":1}},\"engines\":{\"fast\":{\"pieces\":1,\"bytes\":1},"
		"\"libipt\":{\"pieces\":0,\"bytes\":0,\"why\":{\"a gap\":1}}}}\n";
	static const char want[] =
		"{\"schema\":\"ptcap-decode-stats\",\"version\":1,\"trace_bytes\":11,"
		"\"instructions\":22,\"transfers\":33,\"first_ns\":5,\"last_ns\":12,"
		"\"missing_files\":1,\"kinds\":{\"start\":1,\"jcc\":30,\"ret\":2},\"gaps\":{"
		"\"lost\":{\"count\":3,\"bytes\":4}},\"engines\":{\"fast\":{\"pieces\":2,"
		"\"bytes\":7},\"libipt\":{\"pieces\":2,\"bytes\":4,\"why\":{\"a gap\":1,"
		"\"an end\":2}}}}\n";

	sum_is(STATS, other, want);
	sum_is(other, STATS, want);
}

Test(sum_crashes, crashes_are_counted_by_signature)
{
	static const char other[] =
		"{\"schema\":\"ptcap-crash\",\"version\":1,\"signal\":\"SIGABRT\","
		"\"reason\":\"abort\",\"signature\":\"s0\",\"signature_frames\":[]}\n";
	static const char want[] =
		"{\"schema\":\"ptcap-sum-crashes\",\"version\":1,\"crashes\":3,\"signatures\":2}\n"
		"{\"type\":\"crash\",\"count\":2,\"signature\":\"s1\",\"signal\":\"SIGSEGV\","
		"\"reason\":\"bad-jump\",\"signature_frames\":[\"f\",\"main\"]}\n"
		"{\"type\":\"crash\",\"count\":1,\"signature\":\"s0\",\"signal\":\"SIGABRT\","
		"\"reason\":\"abort\",\"signature_frames\":[]}\n";
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };
	char *text, *two = sum_of(CRASH, other);

	sum_is(two, CRASH, want);
	sum_is(CRASH, two, want);
	free(two);
	cr_assert(!sum_add(&s, "one", want, strlen(want), &err), "%s", err.msg);
	text = sum_printed(&s, true, 1);
	cr_expect_str_eq(text, "# 3 crashes, 2 signatures\n"
			       "# times   signature  reason  frames, the innermost first\n"
			       "2         s1  bad-jump  f < main\n");
	free(text);
	ptc_sum_release(&s);
	sum_fails("{\"schema\":\"ptcap-crash\",\"version\":1}\n", NULL,
		  "'one' line 1: the member \"signature\"");
}

Test(sum_crashes, facts_do_not_depend_on_the_order_of_files)
{
#define CRASH_OF(text)                                                                             \
	"{\"schema\":\"ptcap-crash\",\"version\":1,\"signature\":\"s\",\"text\":\"" text           \
	"\",\"signature_frames\":[]}\n"
	static const char want[] =
		"{\"schema\":\"ptcap-sum-crashes\",\"version\":1,\"crashes\":2,\"signatures\":1}\n"
		"{\"type\":\"crash\",\"count\":2,\"signature\":\"s\",\"text\":\"at 0x1\","
		"\"signature_frames\":[]}\n";

	sum_is(CRASH_OF("at 0x1"), CRASH_OF("at 0x2"), want);
	sum_is(CRASH_OF("at 0x2"), CRASH_OF("at 0x1"), want);
}

Test(sum_counts, files_with_missing_code_add_up)
{
#define EMPTY                                                                                      \
	"{\"schema\":\"ptcap-decode-counts\",\"version\":1,\"of\":\"edges\",\"times\":0,"          \
	"\"different\":0,\"gaps\":0}\n"
#define MISSING(id, path, gaps)                                                                    \
	"{\"type\":\"missing\",\"file\":\"/y\"" id ",\"found_path\":\"" path                       \
	"\",\"found_build_id\":\"\",\"gaps\":" gaps                                                \
	",\"bytes\":2,\"branches\":3,\"hint\":\"h\"}\n"
#define ID(id) ",\"build_id\":\"" id "\""
	static const char two[] =
		EMPTY MISSING("", "/a", "5") "{\"type\":\"missing\",\"file\":\"/"
					     "y\",\"build_id\":\"aa\",\"found_path\":\"/a\","
					     "\"found_build_id\":\"\",\"gaps\":3,\"bytes\":4,"
					     "\"branches\":6,\"hint\":\"h\"}\n";

	sum_is(EMPTY MISSING(ID("aa"), "/b", "1"),
	       EMPTY MISSING(ID("aa"), "/a", "2") MISSING("", "/a", "5"), two);
	sum_is(EMPTY MISSING(ID("aa"), "/a", "2") MISSING("", "/a", "5"),
	       EMPTY MISSING(ID("aa"), "/b", "1"), two);
}

Test(sum_lcov, lines_add_up)
{
	sum_is(LCOV, "TN:\nSF:a.c\nDA:4,3\nDA:9,1\nLF:2\nLH:2\nend_of_record\n",
	       "TN:\nSF:a.c\nDA:3,2\nDA:4,3\nDA:9,1\nLF:3\nLH:3\nend_of_record\n"
	       "TN:\nSF:b.c\nDA:1,0\nLF:1\nLH:0\nend_of_record\n");
	sum_fails("TN:\nSF:a.c\nFN:1,f\nend_of_record\n", NULL,
		  "'one' line 3: ptcap writes no such");
	sum_fails("TN:\nSF:a.c\nDA:1," MORE "\n", NULL, "'one' line 3: not DA:");
	sum_fails("TN:\nSF:a.c\nDA:1,1\nLF:2\nend_of_record\n", NULL,
		  "'one' line 4: the section has");
}

Test(sum_folded, stacks_add_up)
{
	sum_is(FOLDED, "x-1;main 1\na 2\n", "a 2\nx-1;main 6\nx-1;main;f g 7\n");
	/* Names of threads that look like the begin of another format. */
	sum_is("B 1-1;f 2\n", "F 1-1;f 2\n", "B 1-1;f 2\nF 1-1;f 2\n");
	sum_is("TN:-1;f 2\n", "{}-1;f 2\n", "TN:-1;f 2\n{}-1;f 2\n");
	sum_is("a " MAX "\n", "a 1\n", "a " MAX "\n");
	sum_fails("a " MAX "\na " MORE "\n", NULL, "'one' line 2: not a stack");
}

Test(sum_callgrind, names_are_those_of_each_file)
{
	/* The same names have other numbers, and main is in another line. */
	static const char other[] =
		"# callgrind format\nversion: 1\ncmd: y\npositions: line\nevents: Ir\n\n"
		"ob=(7) /bin/x\nfl=(3) a.c\nfn=(9) work\n8 1\n\nfl=(3)\nfn=(8) main\n+0 2\n"
		"cfn=(9)\ncalls=1 8\n-4 1\ntotals: 3\n";
	static const char want[] =
		"# callgrind format\nversion: 1\ncreator: ptcap\npositions: line\nevents: Ir\n"
		"summary: 12\n\nob=(1) /bin/x\nfl=(1) a.c\n"
		"fn=(1) main\n3 4\n8 2\ncob=(1)\ncfi=(1)\ncfn=(2) work\ncalls=3 8\n4 6\n\n"
		"ob=(1)\nfl=(1)\nfn=(2)\n8 6\n\n"
		"totals: 12\n";

	sum_is(CALLGRIND, other, want);
	sum_is(other, CALLGRIND, want);
	sum_fails("# callgrind format\nevents: Ir\nfn=(1)\n", NULL, "'one' line 3: the name with");
	sum_fails("# callgrind format\nevents: Ir\nfn=f\n1 2\ntotals: 3\n", NULL,
		  "'one' line 5: the totals are not the sum");
	sum_fails(CALLGRIND, "# callgrind format\nevents: Ir ns\n",
		  "'two' line 2: the events are 'Ir ns', but the files before have 'Ir'");
	sum_fails("# callgrind format\npositions: instr line\n", NULL,
		  "'one' line 2: the positions");
	sum_fails("# callgrind format\nevents: Ir\nfn=f\n1 " MORE "\n", NULL,
		  "'one' line 4: not a");
}

Test(sum_profiles, branches_and_blocks_add_up)
{
	sum_is(BOLT, "F 1000 1008 1\nB 1000 1020 1 2\nB 0 1 1 0\n",
	       "B 0 1 1 0\nB 1000 1020 6 2\nB X:0 1000 1 0\nF 1000 1008 4\n");
	sum_is(PROFGEN, "1\n8-9:1\n1\n18->10:1\n", "2\n8-9:1\n10-18:3\n2\n18->10:3\n18->20:1\n");
	sum_is(AFDO, "0\n0\n1\n18->10:1\n", "1\n10-18:3\n1\n10:4\n1\n18->10:3\n");
	sum_is("0\n0\n1\n18->10:1\n", NULL, "0\n0\n1\n18->10:1\n");
	sum_fails(PROFGEN, AFDO, "'two' line 6: a profile of autofdo, but");
	sum_fails("B 1 2 3\n", NULL, "'one' line 1: not a branch");
	sum_fails("B 1 2 " MORE " 0\n", NULL, "'one' line 1: not a branch");
	sum_fails("1\n10->18:3\n0\n", NULL, "'one' line 2: not a row of its list");
}
