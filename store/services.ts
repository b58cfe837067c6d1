import { randomFillSync } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type pino from 'pino';
import { monotonicFactory } from 'ulid';
import type { IdPrefix } from '../core/ids/ids.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import { openBlobs } from './blobs/openBlobs.ts';
import type { ServiceConfig } from './config.ts';
import { type Engine, openEngine } from './duckdb/engine.ts';
import { makeWorkDir } from './duckdb/sandbox/folders.ts';
import { openSandbox, type Sandbox } from './duckdb/sandbox/sandbox.ts';
import { openTailFiles, type TailFiles } from './duckdb/tailFiles.ts';
import { KeyedLock } from './keyedLock.ts';
import { describeErrorForLog, openLog } from './log.ts';
import type { Committer } from './pg/commit.ts';
import { type Database, openDatabase } from './pg/database.ts';
import { isHeldToPolicies } from './pg/roleCheck.ts';
import { openPolicies, type Policies } from './policies.ts';
import { deriveKey, hmacPads } from './secrets.ts';
import { connectTemporal, type Temporal, temporalAway } from './temporal/client.ts';

/** What every activity works with. Made once per process. */
export interface Services extends Committer {
  config: ServiceConfig;
  log: pino.Logger;
  sessionKey: Buffer;
  blobs: BlobStore;
  engine: Engine;
  /** Long logs as local files, for whoever reads whole tables. */
  tails: TailFiles;
  policies: Policies;
  /** Of edits that had to start again, by table. */
  editLocks: KeyedLock;
  /** Opened when first asked for: processes in which strangers' SQL runs. */
  sandbox(): Promise<Sandbox>;
  /** Connected when first asked for; a failure is not remembered. */
  temporal(): Promise<Temporal>;
  close(): Promise<void>;
}

const randomness = Buffer.alloc(4096);
let used = randomness.length;

/** From 0 up to 1. Fetched for many ids at a time: an id takes sixteen, and each would be a call of its own. */
function random(): number {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  used += 1;
  return (randomness[used - 1] as number) / 256;
}

/** One after the other even within a millisecond: what was made later sorts later. */
const nextUlid = monotonicFactory(random);

export function makeId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`;
}

/** In the data dir; beside the blobs where these lie on another file system, since there files could only be copied. */
function chooseQueryFolder({ dataDir, blobs }: ServiceConfig): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const apart = blobs.kind === 'file' && statSync(blobs.dir).dev !== statSync(dataDir).dev;
  return apart ? join(blobs.dir, '.queries') : join(dataDir, 'queries');
}

/** The service works with any role; that one of its walls is missing is for its operator to know. Nobody waits for the answer. */
function warnOfMightyRole(db: Database, log: pino.Logger): void {
  isHeldToPolicies(db.pool).then(
    (held) => {
      if (held) return;
      log.warn('the role in DATABASE_URL is a superuser or has BYPASSRLS: row-level security between accounts does not hold for it');
    },
    () => {},
  );
}

export async function openServices(config: ServiceConfig, part: 'api' | 'worker' | 'setup'): Promise<Services> {
  const log = openLog(config.logLevel, part);
  const db = openDatabase(config.databaseUrl, {
    poolSize: 20,
    onError: (error) => log.warn({ reason: error.message }, 'database connection lost'),
  });
  if (part !== 'setup') warnOfMightyRole(db, log);
  const [blobs, engine] = await Promise.all([openBlobs(config), openEngine({ connections: 4, memoryLimitMb: 1024 })]);
  const tails = openTailFiles(
    engine,
    () => makeWorkDir(chooseQueryFolder(config), 0o700),
    (error) => log.warn(describeErrorForLog(error), 'a tail was not written down'),
  );
  let temporal: Promise<Temporal> | null = null;
  let sandbox: Promise<Sandbox> | null = null;
  return {
    config,
    log,
    db,
    blobs,
    engine,
    tails,
    policies: openPolicies(),
    editLocks: new KeyedLock(),
    auditPads: hmacPads(deriveKey(config.secret, 'audit chain')),
    makeId,
    sessionKey: deriveKey(config.secret, 'sessions'),
    sandbox() {
      sandbox ??= openSandbox({
        dir: chooseQueryFolder(config),
        searchPath: config.machine.searchPath,
        onTrouble: (error) => log.warn(describeErrorForLog(error), 'a query process failed'),
      }).catch((error: unknown) => {
        sandbox = null;
        throw error;
      });
      return sandbox;
    },
    temporal() {
      temporal ??= connectTemporal(config.temporal, log).catch((error: unknown) => {
        temporal = null;
        throw temporalAway(error);
      });
      return temporal;
    },
    async close() {
      await (await sandbox?.catch(() => null))?.close();
      await (await temporal?.catch(() => null))?.close();
      await tails.close();
      await engine.close();
      await blobs.close();
      await db.close();
    },
  };
}
