// SPDX-License-Identifier: MIT
package main

import "os"

type node struct {
	next *node
	v    int
}

//go:noinline
func deep(n int, p *node) int {
	if n == 0 {
		return p.next.v
	}
	return deep(n-1, p) + n
}

//go:noinline
func work(p *node) int {
	return deep(3, p) * 2
}

func main() {
	os.Exit(work(&node{}))
}
