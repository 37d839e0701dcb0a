// SPDX-License-Identifier: MIT
// Unwraps a None.
use std::collections::HashMap;
fn get(m:&HashMap<String,i32>, k:&str)->i32{ *m.get(k).unwrap() }
fn main(){ let mut m=HashMap::new(); m.insert("a".to_string(),1); println!("{}", get(&m,"a")+get(&m,"b")); }
