import type { Config } from '../../store/config.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { Report } from './report.ts';

export interface FindOptions {
  config: Pick<Config, 'dataDir' | 'machine' | 'temporal'>;
  report: Report;
  registry: ProcessRegistry;
  signal?: AbortSignal;
}

export interface MakeOptions extends FindOptions {
  /** An empty folder; the caller removes it. */
  workDir: string;
  version: string;
}

export type MadeProgram = { ok: true; program: string } | { ok: false; why: string };
