import type { TestServer } from '../setup/api.ts';
import type { SentForm } from './forms.ts';
import type { World } from './world.ts';

/** A request that succeeds when the owner's session sends it. */
export interface Sample {
  path: string;
  body?: unknown;
  /** Sent as multipart/form-data, in the place of a body. */
  form?: SentForm;
  /** Sent instead of the owner's session; null: none. */
  token?: string | null;
  headers?: Record<string, string>;
  /** Sent there, where the world's own server is not set up for it. */
  at?: Pick<TestServer, 'fetch'>;
}

export type MakeSample = (world: World) => Promise<Sample> | Sample;
