/* SPDX-License-Identifier: MIT */
/* service: does a little work every millisecond, as a service would, until a signal ends it.
 * README.md records it. */
#include <stdio.h>
#include <time.h>

static unsigned int checksum(const char *s)
{
	unsigned int sum = 0;

	while (*s)
		sum = sum * 31 + (unsigned char)*s++;
	return sum;
}

static unsigned int serve(unsigned int request)
{
	char text[32];

	snprintf(text, sizeof(text), "request %u", request);
	return checksum(text);
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int request, sum = 0;

	for (request = 0;; request++) {
		sum += serve(request);
		nanosleep(&pause, NULL);
	}
	return (int)sum;
}
