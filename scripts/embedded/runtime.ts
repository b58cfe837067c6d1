import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CreditMode } from '../../store/config.ts';
import { isRunning, readStamp } from './processes.ts';
import { writeSecretFile } from './secrets.ts';

/** What a running `npm start` tells `npm run api` and `npm run worker` on the same data dir. */
export interface Runtime {
  pid: number;
  stamp: string;
  apiUrl: string;
  /** Of the API processes behind a balancer. */
  behindUrls: string[];
  databaseUrl: string;
  temporalAddress: string;
  temporalUiUrl: string | null;
  credits: CreditMode;
}

export function writeRuntime(dataDir: string, addresses: Omit<Runtime, 'pid' | 'stamp'>): void {
  const runtime: Runtime = { pid: process.pid, stamp: readStamp(process.pid) ?? '', ...addresses };
  writeSecretFile(runtimePath(dataDir), runtime);
}

export function removeRuntime(dataDir: string): void {
  rmSync(runtimePath(dataDir), { force: true });
}

/** Null when no supervisor runs on this data dir. */
export function readRuntime(dataDir: string): Runtime | null {
  try {
    const runtime = JSON.parse(readFileSync(runtimePath(dataDir), 'utf8')) as Runtime;
    return isRunning(runtime.pid, runtime.stamp) ? runtime : null;
  } catch {
    return null;
  }
}

function runtimePath(dataDir: string): string {
  return join(dataDir, 'runtime.json');
}
