import type { Attack } from './attack.ts';
import { silentConnections, trickledBodies } from './connections.ts';
import { hoardedIngests, hoardedProcesses, uploadsAtOnce } from './fairness.ts';
import { hostileUploads } from './hostileFiles.ts';
import { burstOfQueries, hoardedResults } from './queries.ts';

export const attacks: Attack[] = [
  trickledBodies,
  silentConnections,
  burstOfQueries,
  hoardedResults,
  hostileUploads,
  hoardedProcesses,
  hoardedIngests,
  uploadsAtOnce,
];
