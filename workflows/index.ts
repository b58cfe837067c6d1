export { anchorAudit } from './anchorAudit.ts';
export { collectGarbage } from './collectGarbage.ts';
export { compactTable } from './compactTable.ts';
export { expireThings } from './expireThings.ts';
export { sweepTables } from './sweepTables.ts';
