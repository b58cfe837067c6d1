import { DuckDBInstance } from '@duckdb/node-api';
const types=['BIGINT','VARCHAR','DECIMAL(18,2)','DATE','BOOLEAN','DOUBLE','VARCHAR','BIGINT','TIMESTAMP','BIGINT','VARCHAR','DECIMAL(18,4)'];
const vals=['7','text','12.30','2020-01-01','true','1.5','支店','5','2024-01-01 00:00:00','8','x','1.2345'];
const mk=(n:number)=>JSON.stringify(Array.from({length:n},(_, i)=>[i,'U',2,Object.fromEntries(vals.map((v,j)=>[j+1,v]))]));
const json=mk(900);
const mkArr=JSON.stringify(Array.from({length:900},(_, i)=>[String(i),'U','2',...vals]));
const allTypes=['BIGINT','VARCHAR','INTEGER',...types];
const v0=`CREATE TEMP TABLE t AS SELECT ${allTypes.map((t,i)=>`CAST(json_extract_string(item, '$[${i}]') AS ${t}) AS x${i}`).join(', ')} FROM (SELECT unnest(CAST($1::JSON AS JSON[])) AS item)`;
const v1=`CREATE TEMP TABLE t AS SELECT CAST(json_extract_string(item,'$[0]') AS BIGINT) a, json_extract_string(item,'$[1]') b, CAST(json_extract_string(item,'$[2]') AS INTEGER) c, ${types.map((t,i)=>`CAST(json_extract_string(item, '$[3]."${i+1}"') AS ${t}) AS x${i}`).join(', ')} FROM (SELECT unnest(CAST($1::JSON AS JSON[])) AS item)`;
const paths=`['$[0]','$[1]','$[2]',${types.map((t,i)=>`'$[3]."${i+1}"'`).join(',')}]`;
const v2=`CREATE TEMP TABLE t AS SELECT CAST(l[1] AS BIGINT) a, l[2] b, CAST(l[3] AS INTEGER) c, ${types.map((t,i)=>`CAST(l[${i+4}] AS ${t}) AS x${i}`).join(', ')} FROM (SELECT json_extract_string(unnest(CAST($1::JSON AS JSON[])), ${paths}) AS l)`;
const v3=`CREATE TEMP TABLE t AS SELECT CAST(l[1] AS BIGINT) a, l[2] b, CAST(l[3] AS INTEGER) c, ${types.map((t,i)=>`CAST(l[${i+4}] AS ${t}) AS x${i}`).join(', ')} FROM (SELECT json_extract_string(item, ${paths}) AS l FROM (SELECT unnest(json_extract($1::JSON, '$[*]')) AS item))`;
for (const fresh of [false, true]) for (const [n, sql, p] of [['v0',v0,mkArr],['v1',v1,json],['v2',v2,json],['v3',v3,json]] as const) {
  const ts=[]; let inst = await DuckDBInstance.create(':memory:', {threads:'1'}); let c = await inst.connect();
  for (let k=0;k<15;k++) { if (fresh) { inst = await DuckDBInstance.create(':memory:', {threads:'1'}); c = await inst.connect(); await c.run('select 1'); } const cpu=process.cpuUsage(); await c.run(sql,[p]); const u=process.cpuUsage(cpu); ts.push((u.user+u.system)/1000); if(k===14&&!fresh) console.log((await c.runAndReadAll('select * from t limit 1')).getRows().toString()); await c.run('DROP TABLE t'); }
  ts.sort((a,b)=>a-b); console.log(fresh?'fresh':'warm',n,'cpu best',ts[0].toFixed(1),'med',ts[7].toFixed(1));
}
process.exit(0)
