// SPDX-License-Identifier: MIT
package main

import "os"

type counter struct {
	seen map[string]int
}

func (c *counter) add(name string) {
	c.seen[name]++
}

//go:noinline
func countAll(c *counter, names []string) int {
	for _, n := range names {
		c.add(n)
	}
	return len(c.seen)
}

func main() {
	os.Exit(countAll(&counter{}, os.Args))
}
