// SPDX-License-Identifier: MIT
// A nil pointer.
package main
import "fmt"
type Node struct{ next *Node; val int }
func find(n *Node, v int) *Node { for ; n != nil; n = n.next { if n.val == v { return n } }; return nil }
func use(n *Node) int { return find(n, 7).val }
func main(){ n := &Node{nil,1}; n = &Node{n,2}; fmt.Println(use(n)) }
