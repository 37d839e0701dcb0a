// SPDX-License-Identifier: MIT
// A panic while a panic unwinds the stack. The hook prints nothing: the second backtrace would take seconds.
use std::hint::black_box;

struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        if black_box(self.0) == 1 {
            panic!("second");
        }
    }
}

#[inline(never)]
fn work(n: u32) -> u32 {
    let g = Guard(n);
    if black_box(n) == 1 {
        panic!("first");
    }
    g.0
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    println!("{}", work(black_box(1)));
}
