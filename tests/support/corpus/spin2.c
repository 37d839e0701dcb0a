// SPDX-License-Identifier: MIT
// SIGALRM ends an endless loop.
#include <unistd.h>
int main()
{
	alarm(1);
	volatile unsigned long x = 0;
	for (unsigned long i = 0;; i++)
		x += i;
}
