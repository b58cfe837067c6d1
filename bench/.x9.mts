import { DuckDBInstance } from '@duckdb/node-api';
import { streamRows, startRows } from '/work/main/store/duckdb/formats/streamRows.ts';
import { describeQuery } from '/work/main/store/duckdb/formats/describeQuery.ts';
import { readRows } from '/work/main/test/formats/readBack.ts';
const c = await (await DuckDBInstance.create(':memory:',{threads:process.env.T??'2'})).connect();
const columns = Array.from({ length: 200 }, (_, i) => `(i + ${i})::${['BIGINT', 'VARCHAR', 'DOUBLE', 'DECIMAL(9,2)'][i % 4]} AS c${i}`);
const sql=`SELECT ${columns.join(', ')} FROM range(3000) t(i)`;
const time=async(n:string,f:()=>Promise<unknown>)=>{const w=performance.now();const t=process.cpuUsage();const r=await f();const u=process.cpuUsage(t);console.log(n.padEnd(20),'cpu',((u.user+u.system)/1000).toFixed(0),'wall',(performance.now()-w).toFixed(0),r)};
for (let k=0;k<2;k++){
await time('describe',async()=>{(await describeQuery(c,sql)).length});
await time('plain',async()=>{await c.run(sql)});
for (const f of ['json','ndjson','arrow'] as const) { await time('start '+f, async()=>{const s=await startRows(c,sql,undefined,f); s.body.destroy();}); await time('drain '+f,async()=>{let n=0;for await(const b of streamRows(c,sql,undefined,f))n+=b.length;return n}); await time('read '+f, async()=>(await readRows(c,sql,f)).length);}}
