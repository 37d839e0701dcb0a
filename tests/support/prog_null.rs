// SPDX-License-Identifier: MIT
// Reads through a null pointer. tests/e2e/unwound.py builds it.
use std::hint::black_box;

#[inline(never)]
fn leaf(p: *const i32) -> i32 {
    let name = [1u8; 200];
    black_box(&name);
    unsafe { *black_box(p) + i32::from(name[3]) }
}

#[inline(never)]
fn mid(n: i32) -> i32 {
    (0..n).map(|x| leaf(x as usize as *const i32)).sum::<i32>() + 1
}

fn main() {
    println!("{}", mid(black_box(3)));
}
