/* SPDX-License-Identifier: MIT */
/* Calls into the vdso: code in no file. */
#include <sys/time.h>
#include <time.h>

int main(void)
{
	struct timespec ts;
	struct timeval tv;
	int i;

	for (i = 0; i < 5; i++)
		if (clock_gettime(CLOCK_MONOTONIC, &ts) || gettimeofday(&tv, NULL))
			return 1;
	return time(NULL) > 0 ? 0 : 1;
}
