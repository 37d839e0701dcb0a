// SPDX-License-Identifier: MIT
// prog_crash_names MODE: kills itself in functions with long names. See prog_crash.c.
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace store
{

using table = std::map<std::string, std::vector<std::pair<int, std::string>>>;

template <typename Key, typename Value> struct index {
	const Value *volatile values = nullptr;

	__attribute__((noinline)) long size_of(const Key &key) const
	{
		const Value *all = values;

		return *reinterpret_cast<const volatile char *>(all) + static_cast<long>(key.size());
	}
};

template <typename Table, typename Function>
__attribute__((noinline)) long sum_of(const Table &t, const Function &f)
{
	long n = 0;

	for (const auto &entry : t)
		n += f(entry.first);
	return n;
}

} // namespace store

__attribute__((noinline)) static long length_of(const char *volatile *name)
{
	return static_cast<long>(strlen(*name)) + 1; // in the C library
}

int main(int argc, char **argv)
{
	const rlimit none = { 0, 0 };
	const store::table t = { { "first", { { 1, "one" } } }, { "second", {} } };
	store::index<std::string, store::table> i;
	std::function<long(const std::string &)> f = [&i](const std::string &key) {
		return i.size_of(key);
	};

	const char *volatile nowhere = nullptr;

	if (argc < 2)
		return 2;
	setrlimit(RLIMIT_CORE, &none);
	if (!strcmp(argv[1], "names"))
		return static_cast<int>(store::sum_of(t, f));
	if (!strcmp(argv[1], "library"))
		return static_cast<int>(length_of(&nowhere));
	return 0;
}
