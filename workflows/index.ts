export { collectGarbage } from './collectGarbage.ts';
export { compactTable } from './compactTable.ts';
export { expireThings } from './expireThings.ts';
export { grantCredits } from './grantCredits.ts';
export { sweepTables } from './sweepTables.ts';
