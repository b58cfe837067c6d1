import { DuckDBInstance } from '@duckdb/node-api';
const c = await (await DuckDBInstance.create(':memory:',{threads:'2'})).connect();
for (const s of [`select $1 as x, 2 as y`,`select $1::int + 1 as x`,`select $a as x, null as n, [] as l, row(1,2) as r, {'a':null} as s`,`select 1 as a, 2 as a`,`values (1,2)`,`from range(3)`, `pivot (select 1 as k, 2 as v) on k using sum(v)`, `select 1; select 2`]) {
  try { const p=await c.prepare(s); const o=[]; for(let i=0;i<p.columnCount;i++){ let t; try{t=p.columnType(i).toString()+'/'+p.columnTypeId(i)}catch(e){t='ERR '+(e as Error).message} o.push(p.columnName(i)+':'+t);} console.log(s,'=>',o.join(' | '), 'params',p.parameterCount);} catch(e){console.log(s,'!!',(e as Error).message)}
}
const r=await c.stream(`select * from (select $1 as x, $2 as y) q(c0,c1)`, [5n, 'abc']); console.log(r.columnTypes().map(String), r.isStreaming);
console.log((await c.runAndReadAll(`select * from (select i from range(5) t(i) order by i desc) q(c0)`)).getRows());
// order through wrapper at scale
await c.run(`create table big as select (hash(i)%1000000)::int as k, i from range(500000) t(i)`);
const rr=await c.stream(`select json_object('k',c0) from (select k, i from big order by k, i) q(c0,c1)`); let prev=-1,bad=0,n=0; for(;;){const ch=await rr.fetchChunk(); if(!ch||!ch.rowCount)break; for(const v of ch.getColumnVector(0).toArray()){const k=JSON.parse(v as string).k; if(k<prev)bad++; prev=k;n++;}} console.log('order',n,bad);
// null garbage
const q=await c.stream(`select i::int as i, case when i%2=0 then i::bigint*1000 else null end as v from range(6) t(i)`); const ch=await q.fetchChunk(); const v=ch!.getColumnVector(1) as any; console.log(v.items);
// interrupt then reuse
const s=await c.stream(`select count(*) from range(100000000) a, range(1000) b where (a.range*b.range)%7=3`).catch(e=>e); 
