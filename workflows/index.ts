export { analyze } from './analyze.ts';
export { collectGarbage } from './collectGarbage.ts';
export { compactTable } from './compactTable.ts';
export { expireThings } from './expireThings.ts';
export { ingest } from './ingest.ts';
export { materialize } from './materialize.ts';
export { sweepJobs } from './sweepJobs.ts';
export { sweepTables } from './sweepTables.ts';
