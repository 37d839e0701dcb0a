// SPDX-License-Identifier: MIT
// Dies in a function that the compiler has inlined into others. tests/e2e/inlined.py builds it.
use std::hint::black_box;

#[inline(always)]
fn store(p: *mut i32, x: i32) {
    unsafe { std::ptr::write_volatile(p, x) }
}

#[inline(always)]
fn twice(x: i32) {
    leaf(x);
    leaf(x + 1);
}

#[inline(never)]
fn leaf(x: i32) -> i32 {
    black_box(x) + 1
}

#[inline(never)]
fn deep(x: i32) -> i32 {
    twice(x);
    if x > 2 {
        store(black_box(std::ptr::null_mut()), x);
    }
    x
}

#[inline(never)]
fn middle(n: i32) -> i32 {
    (0..n).filter(|x| x % 2 == 1).map(|x| deep(x)).sum::<i32>() + 1
}

fn main() {
    std::process::exit(middle(black_box(9)));
}
