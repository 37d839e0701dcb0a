// SPDX-License-Identifier: MIT
// An index behind the end of a slice.
use std::hint::black_box;

struct Table {
    rows: Vec<u32>,
}

impl Table {
    #[inline(always)]
    fn row(&self, n: usize) -> u32 {
        self.rows[n]
    }
}

#[inline(never)]
fn sum(t: &Table, n: usize) -> u32 {
    (0..n).map(|i| t.row(i)).sum()
}

fn main() {
    let t = Table { rows: vec![1, 2, 3] };
    println!("{}", sum(black_box(&t), black_box(5)));
}
