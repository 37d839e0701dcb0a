/* SPDX-License-Identifier: MIT */
/*
 * Reads hex addresses, one per line. Prints their number and the FNV-1a-64 hash over each address
 * as 8 little-endian bytes. Lines that begin with '#' are no addresses and are counted separately:
 * "COUNT HASH COMMENTS".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	uint64_t hash = 0xcbf29ce484222325, count = 0, comments = 0, ip;
	char line[512], *end;
	int i;

	while (fgets(line, sizeof(line), stdin)) {
		if (line[0] == '#') {
			comments++;
			continue;
		}
		ip = strtoull(line, &end, 16);
		if (end == line || *end != '\n') {
			(void)fprintf(stderr, "not an address: %s", line);
			return 1;
		}
		for (i = 0; i < 8; i++, ip >>= 8)
			hash = (hash ^ (ip & 0xff)) * 0x100000001b3;
		count++;
	}
	printf("%" PRIu64 " %016" PRIx64 " %" PRIu64 "\n", count, hash, comments);
	return 0;
}
