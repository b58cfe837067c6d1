import type pino from 'pino';
import { ulid } from 'ulid';
import type { IdPrefix } from '../core/ids/ids.ts';
import type { ServiceConfig } from './config.ts';
import { openLog } from './log.ts';
import type { Committer } from './pg/commit.ts';
import { openDatabase } from './pg/database.ts';
import { deriveKey, hmacPads } from './secrets.ts';
import { connectTemporal, type Temporal } from './temporal/client.ts';

/** What every activity works with. Made once per process. */
export interface Services extends Committer {
  config: ServiceConfig;
  log: pino.Logger;
  sessionKey: Buffer;
  /** Connected when first asked for; a failure is not remembered. */
  temporal(): Promise<Temporal>;
  close(): Promise<void>;
}

export function makeId(prefix: IdPrefix): string {
  return `${prefix}_${ulid()}`;
}

export function openServices(config: ServiceConfig, part: 'api' | 'worker' | 'setup'): Services {
  const log = openLog(config.logLevel, part);
  const db = openDatabase(config.databaseUrl, {
    poolSize: 20,
    onError: (error) => log.warn({ reason: error.message }, 'database connection lost'),
  });
  let temporal: Promise<Temporal> | null = null;
  return {
    config,
    log,
    db,
    auditPads: hmacPads(deriveKey(config.secret, 'audit chain')),
    sessionKey: deriveKey(config.secret, 'sessions'),
    temporal() {
      temporal ??= connectTemporal(config.temporal).catch((error: unknown) => {
        temporal = null;
        throw error;
      });
      return temporal;
    },
    async close() {
      await (await temporal?.catch(() => null))?.close();
      await db.close();
    },
  };
}
