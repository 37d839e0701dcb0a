// SPDX-License-Identifier: MIT
// prog_panic MODE: panics. tests/e2e/crash_message.py builds it.
package main

import (
	"errors"
	"fmt"
	"os"
)

type code int
type named string
type pair struct{ a, b int }
type failure struct{ n int }

func (f failure) Error() string { return fmt.Sprintf("failure %d", f.n) }

type node struct {
	next  *node
	value int
}

//go:noinline
func find(n *node, value int) *node {
	for ; n != nil; n = n.next {
		if n.value == value {
			return n
		}
	}
	return nil
}

//go:noinline
func use(n *node) int {
	return find(n, 7).value // DIES: nil
}

//go:noinline
func index(of []int, n int) int {
	return of[n] // DIES: index
}

//go:noinline
func assign(to map[string]int) {
	to["x"] = 1 // DIES: map
}

//go:noinline
func nested() {
	defer func() {
		panic(fmt.Sprint("after ", recover())) // DIES: nested
	}()
	panic("first")
}

//go:noinline
func fail(mode string, n int) {
	switch mode {
	case "string":
		panic("just \"text\" \u00e4") // DIES: string
	case "error":
		panic(fmt.Errorf("wrapped: %w", errors.New("inner"))) // DIES: error
	case "failure":
		panic(failure{n}) // DIES: failure
	case "int":
		panic(n) // DIES: int
	case "code":
		panic(code(-n)) // DIES: code
	case "named":
		panic(named("hello")) // DIES: named
	case "float":
		panic(float64(n) / 8) // DIES: float
	case "bool":
		panic(n > 0) // DIES: bool
	case "pair":
		panic(&pair{n, n}) // DIES: pair
	}
}

func main() {
	mode, n := os.Args[1], len(os.Args)*10
	switch mode {
	case "nil":
		fmt.Println(use(&node{nil, 1}))
	case "index":
		fmt.Println(index([]int{1, 2}, n))
	case "map":
		assign(nil)
	case "nested":
		nested()
	case "goroutine":
		wait := make(chan int)
		go func() {
			fail("string", n)
			wait <- 1
		}()
		<-wait
	}
	fail(mode, n)
}
