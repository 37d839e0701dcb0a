/* SPDX-License-Identifier: MIT */
/* Code that does not run, and code that the linker leaves out, both with lines in the debug
 * information. */
int left_out(int a);

int left_out(int a)
{
	return a * 3; /* left out */
}

static int unused(int a)
{
	if (a > 7)
		return a / 2;
	return a + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return unused(argc);
	return 0;
}
