// SPDX-License-Identifier: MIT
// prog_panic MODE: panics. tests/e2e/crash_message.py builds it.
use std::collections::HashMap;
use std::hint::black_box;

#[inline(never)]
fn get(map: &HashMap<String, i32>, key: &str) -> i32 {
    *map.get(key).unwrap()
}

#[inline(never)]
fn format(n: i32) {
    panic!("number {} is \"bad\": \u{e4}", black_box(n))
}

#[inline(never)]
fn literal() {
    panic!("just text")
}

#[inline(never)]
fn expect(r: Result<i32, std::num::ParseIntError>) -> i32 {
    r.expect("a number")
}

#[inline(never)]
fn index(v: &[i32], n: usize) -> i32 {
    v[n]
}

// A panic that leaves this function ends the program.
#[inline(never)]
extern "C" fn nounwind(n: i32) {
    format(n)
}

fn main() {
    let mut map = HashMap::new();
    map.insert("a".to_string(), 1);
    match std::env::args().nth(1).unwrap().as_str() {
        "unwrap" => println!("{}", get(&map, "b")),
        "format" => format(7),
        "literal" => literal(),
        "expect" => println!("{}", expect(black_box("x").parse::<i32>())),
        "index" => println!("{}", index(black_box(&[1, 2]), 5)),
        "nounwind" => nounwind(8),
        "thread" => std::thread::Builder::new().name("worker".into()).spawn(|| format(9)).unwrap().join().unwrap(),
        _ => std::process::abort(),
    }
}
