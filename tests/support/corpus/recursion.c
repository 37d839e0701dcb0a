// SPDX-License-Identifier: MIT
// An endless recursion without a conditional branch, so without a PT packet.
static int __attribute__((noinline)) overflow(int n)
{
	volatile char b[4096];
	b[0] = (char)n;
	return overflow(n + 1) + b[n & 4095];
}
int main(void)
{
	return overflow(1);
}
