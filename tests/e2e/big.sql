-- SPDX-License-Identifier: MIT
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
insert into t select i, hex(i * 7919) from n;
create index u on t(b);
select count(*), sum(length(b)) from t where b > '5';
