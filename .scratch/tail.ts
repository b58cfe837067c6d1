import { DuckDBInstance } from '@duckdb/node-api';
import { createTailTable } from '../store/duckdb/relation.ts';
const inst = await DuckDBInstance.create(':memory:', {threads:'2'});
const c = await inst.connect();
const types=['BIGINT','VARCHAR','INTEGER','BIGINT','VARCHAR','DECIMAL(18,2)','DATE','BOOLEAN','DOUBLE','VARCHAR','BIGINT','TIMESTAMP','BIGINT','VARCHAR','DECIMAL(18,4)'];
const vals=['1','U','2','7','text','12.30','2020-01-01','true','1.5','支店','5','2024-01-01 00:00:00','8','x','1.2345'];
const json = JSON.stringify(Array.from({length:900},(_, i)=>vals.map((v,j)=>j===0?String(i):v)));
const tail={columns:types.map((type,i)=>({name:'x'+i,type})),json};
const alt=(name:string)=>`CREATE TEMP TABLE ${name} AS SELECT ${types.map((t,i)=>`CAST(l[${i+1}] AS ${t}) AS x${i}`).join(', ')} FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS l)`;
const st=(name:string)=>{const fields=types.map((t,i)=>`"x${i}":"VARCHAR"`).join(',');return ''};
const listp=(name:string)=>`CREATE TEMP TABLE ${name} AS SELECT ${types.map((t,i)=>`CAST(l[${i+1}] AS ${t}) AS x${i}`).join(', ')} FROM (SELECT unnest(CAST($1::JSON AS VARCHAR[][])) AS l)`;
const cols=JSON.stringify(types.map((_,i)=>Array.from({length:900},(_,r)=>i===0?String(r):vals[i])));
const colwise=(name:string)=>`CREATE TEMP TABLE ${name} AS SELECT ${types.map((t,i)=>`CAST(unnest(l[${i+1}]) AS ${t}) AS x${i}`).join(', ')} FROM (SELECT from_json($1, '[["VARCHAR"]]') AS l)`;
for (let k=0;k<6;k++){
 let b=performance.now(); await c.run(createTailTable('t',tail),[json]); let d=performance.now(); await c.run('DROP TABLE t');
 let b2=performance.now(); await c.run(alt('t'),[json]); let d2=performance.now(); await c.run('DROP TABLE t');
 let b3=performance.now(); await c.run(colwise('t'),[cols]); let d3=performance.now(); await c.run('DROP TABLE t');
 let b4=performance.now(); await c.run(listp('t'),[json]); let d4=performance.now();
 const r = (await c.runAndReadAll('select * from t limit 1')).getRows(); await c.run('DROP TABLE t');
 console.log((d-b).toFixed(1),(d2-b2).toFixed(1),(d3-b3).toFixed(1),(d4-b4).toFixed(1));
}
