// SPDX-License-Identifier: MIT
// Nothing catches the exception of map::at().
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Config {
	std::map<std::string, std::string> kv;
	const std::string &get(const std::string &k) const
	{
		return kv.at(k);
	}
};
static int port(const Config &c)
{
	return std::stoi(c.get("port"));
}
int main()
{
	Config c;
	c.kv["host"] = "x";
	std::cout << port(c) << "\n";
}
