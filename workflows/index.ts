export { anchorAudit } from './anchorAudit.ts';
export { collectGarbage } from './collectGarbage.ts';
export { compactTable } from './compactTable.ts';
export { expireThings } from './expireThings.ts';
export { grantCredits } from './grantCredits.ts';
export { ingest } from './ingest.ts';
export { sweepJobs } from './sweepJobs.ts';
export { sweepTables } from './sweepTables.ts';
export { analyze, materialize } from './workOnSource.ts';
