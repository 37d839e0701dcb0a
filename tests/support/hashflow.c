/* SPDX-License-Identifier: MIT */
/*
 * hashflow: hashes the output of `ptcap decode -F tid,from,to,kind` in the way of `record
 * --truth-hash`. Shares no code with either of them. Other lines go to standard error, with exit
 * status 1.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TIDS = 4096, EVERY = 65536 };

static struct {
	long tid;
	uint64_t n, hash;
} tids[MAX_TIDS];
static size_t ntids;

static const char *const kinds[] = { "none",  "start", "async",	  "jcc",    "jmp", "ijmp", "call",
				     "icall", "ret",   "syscall", "sysret", "int", "iret", "far" };

static size_t find(long tid)
{
	size_t i = ntids;

	while (i--)
		if (tids[i].tid == tid)
			return i;
	if (ntids == MAX_TIDS)
		exit(2);
	tids[ntids].tid = tid;
	return ntids++;
}

static void mix(uint64_t *hash, uint64_t v)
{
	*hash = (*hash ^ v) * 0x9e3779b97f4a7c15;
	*hash ^= *hash >> 29;
}

static void show(size_t i)
{
	printf("%ld %" PRIu64 " %016" PRIx64 "\n", tids[i].tid, tids[i].n, tids[i].hash);
}

static bool take(const char *line)
{
	char *p;
	const long tid = strtol(line, &p, 10);
	const uint64_t from = strtoull(p, &p, 16);
	const uint64_t to = strtoull(p, &p, 16);
	uint64_t kind;
	size_t i;

	if (*p++ != ' ')
		return false;
	for (kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++)
		if (!strncmp(p, kinds[kind], strlen(kinds[kind])) && p[strlen(kinds[kind])] == '\n')
			break;
	if (kind == sizeof(kinds) / sizeof(*kinds))
		return false;
	i = find(tid);
	mix(&tids[i].hash, from);
	mix(&tids[i].hash, to);
	mix(&tids[i].hash, kind);
	if (++tids[i].n % EVERY == 0)
		show(i);
	return true;
}

int main(void)
{
	char line[256];
	bool bad = false;
	size_t i;

	while (fgets(line, sizeof(line), stdin)) {
		if (take(line))
			continue;
		(void)fputs(line, stderr);
		bad = true;
	}
	for (i = 0; i < ntids; i++)
		show(i);
	return bad;
}
