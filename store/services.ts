import { randomFillSync } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type pino from 'pino';
import { monotonicFactory } from 'ulid';
import { DomainError } from '../core/errors.ts';
import type { IdPrefix } from '../core/ids/ids.ts';
import { openLedger } from './billing/ledger.ts';
import type { PaymentProvider } from './billing/provider.ts';
import type { BlobStore } from './blobs/blobStore.ts';
import { openBlobs } from './blobs/openBlobs.ts';
import { openChartProcesses } from './charts/openChartProcesses.ts';
import { listCacheDirs, type ServiceConfig } from './config.ts';
import { type Drives, openDrives } from './drives/openDrives.ts';
import { type Engine, openEngine } from './duckdb/engine.ts';
import { makeWorkDir } from './duckdb/sandbox/folders.ts';
import { openSandbox, type Sandbox } from './duckdb/sandbox/sandbox.ts';
import { openTailFiles, type TailFiles } from './duckdb/tailFiles.ts';
import { openVisibleFiles, type VisibleFiles } from './duckdb/visibleFiles.ts';
import { FairGate } from './fairGate.ts';
import { type FileProcesses, openFileProcesses } from './fileProcesses/openFileProcesses.ts';
import { KeyedLock } from './keyedLock.ts';
import { describeErrorForLog, openLog } from './log.ts';
import { type Outbound, openOutbound } from './outbound/openOutbound.ts';
import { ChangeWatch } from './pg/changeWatch.ts';
import type { Committer } from './pg/commit.ts';
import { type Database, openDatabase } from './pg/database.ts';
import { findLatestPosition } from './pg/events.ts';
import { readJobVersions } from './pg/jobs.ts';
import { findContent } from './pg/results.ts';
import { isRowSecurityEnforced } from './pg/roleCheck.ts';
import { readWishes } from './pg/webhooks.ts';
import { openPolicies, type Policies } from './policies.ts';
import { openPython, type Python } from './python/openPython.ts';
import { ResultRows } from './resultRows.ts';
import { deriveKey, hmacPads } from './secrets.ts';
import { StorageMeter } from './storageMeter.ts';
import { connectTemporal, type Temporal, temporalAway } from './temporal/client.ts';
import type { Tracing } from './tracing/tracing.ts';

/** What every activity works with. Made once per process. */
export interface Services extends Committer {
  config: ServiceConfig;
  log: pino.Logger;
  /** null: traces are sent nowhere. */
  tracing: Tracing | null;
  sessionKey: Buffer;
  blobs: BlobStore;
  engine: Engine;
  /** Caches long logs as local files. */
  tails: TailFiles;
  policies: Policies;
  /** Calls addresses that users name. */
  outbound: Outbound;
  drives: Drives;
  /** Who takes the money. */
  payments: PaymentProvider;
  /** Caches tables without their hidden columns as local files. */
  visibleFiles: VisibleFiles;
  /** The rows of small results. */
  resultRows: ResultRows;
  /** Held, per table, by edits that had to start again because the table changed. */
  editLocks: KeyedLock;
  jobWatch: ChangeWatch;
  /** Watches one thing: the place of the newest event. */
  eventWatch: ChangeWatch;
  /** Watches what is wanted of webhooks. */
  webhookWatch: ChangeWatch;
  /** Users take turns in it to have files stored and jobs registered. */
  intake: FairGate;
  /** What accounts store. */
  storage: StorageMeter;
  /** Runs user SQL in separate processes. Opened on first use. */
  sandbox(): Promise<Sandbox>;
  /** The query processes, if there are any yet. */
  readSandboxState(): Sandbox['state'] | null;
  /** Reads files of users in separate processes. Opened on first use. */
  fileProcesses(): Promise<FileProcesses>;
  /** Draws charts of users in separate processes. Opened on first use. */
  chartProcesses(): Promise<FileProcesses>;
  /** Runs Python templates of users in separate processes. Opened on first use; `not-configured` where that is not possible. */
  python(): Promise<Python>;
  /** Connects on first use; a failed attempt is repeated on the next call. */
  temporal(): Promise<Temporal>;
  close(): Promise<void>;
}

const randomness = Buffer.alloc(4096);
let used = randomness.length;

/** Random numbers from 0 to 1, fetched in bulk: an id needs sixteen, and a call for each would be slow. */
function random(): number {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  used += 1;
  return (randomness[used - 1] as number) / 256;
}

/** Monotonic even within a millisecond: a later id always sorts after an earlier one. */
const nextUlid = monotonicFactory(random);

export function makeId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`;
}

/** Prefix and time of an id; the database adds the rest for events that only it knows of. */
export const beginEventId = () => makeId('evt').slice(0, 14);

/** In the data dir, or next to the blobs when these are on another file system, so that files can be moved by renaming. */
function chooseQueryFolder({ dataDir, blobs }: ServiceConfig): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const apart = blobs.kind === 'file' && statSync(blobs.dir).dev !== statSync(dataDir).dev;
  return apart ? join(blobs.dir, '.queries') : join(dataDir, 'queries');
}

/** Warns when the database role bypasses row security. The service works anyway, so start-up does not wait for this check. */
function warnIfRowSecurityIsBypassed(db: Database, log: pino.Logger): void {
  isRowSecurityEnforced(db.pool).then(
    (held) => {
      if (held) return;
      log.warn('the role in DATABASE_URL is a superuser or has BYPASSRLS: row-level security between accounts does not hold for it');
    },
    () => {},
  );
}

/** Few at a time: they keep the few threads busy that read and write files, and those of one workbook wait for each other. */
function openIntake(): FairGate {
  return new FairGate({ slots: 4, leftToOthers: 1, mostWaiting: 2_000, mostWaitingOfOne: 500 }, () => {
    const fix = 'Wait for some of them to be answered, then send the next.';
    return new DomainError('rate-limited', 'Too many files are arriving at once.', fix, { headers: { 'Retry-After': '5' } });
  });
}

async function openPayments(config: ServiceConfig): Promise<PaymentProvider> {
  if (config.stripe === null) return openLedger(config);
  const { openStripe } = await import('./billing/stripe/openStripe.ts');
  return openStripe(config.stripe, config);
}

export async function openServices(config: ServiceConfig, part: 'api' | 'worker' | 'setup'): Promise<Services> {
  const log = openLog(config.logLevel, part);
  // Imported only when needed: without a collector it costs nothing.
  const tracing = config.tracesUrl === null ? null : await openTraces(config.tracesUrl, part, log);
  const db = openDatabase(config.databaseUrl, {
    ...(tracing ? { onConnect: tracing.traceStatements } : {}),
    poolSize: 20,
    onError: (error) => log.warn({ reason: error.message }, 'database connection lost'),
  });
  if (part !== 'setup') warnIfRowSecurityIsBypassed(db, log);
  const [blobs, engine] = await Promise.all([
    openBlobs(config),
    openEngine({ connections: 4, memoryLimitMb: part === 'worker' ? 1024 : 384 }),
  ]);
  const tails = openTailFiles(
    engine,
    () => makeWorkDir(chooseQueryFolder(config), 0o700),
    (error) => log.warn(describeErrorForLog(error), 'a tail was not written down'),
  );
  const visibleFiles = openVisibleFiles(
    () => makeWorkDir(chooseQueryFolder(config), 0o700),
    (error) => log.warn(describeErrorForLog(error), 'a table without hidden columns was not written down'),
  );
  const outbound = openOutbound(config);
  let temporal: Promise<Temporal> | null = null;
  let sandbox: Promise<Sandbox> | null = null;
  let opened: Sandbox | null = null;
  let fileProcesses: Promise<FileProcesses> | null = null;
  let chartProcesses: Promise<FileProcesses> | null = null;
  let python: Promise<Python> | null = null;
  return {
    config,
    log,
    tracing,
    db,
    blobs,
    engine,
    tails,
    policies: openPolicies(db),
    outbound,
    drives: openDrives(config, outbound),
    payments: await openPayments(config),
    visibleFiles,
    resultRows: new ResultRows((id) => findContent(db.orm, id)),
    editLocks: new KeyedLock(),
    jobWatch: new ChangeWatch((ids) => readJobVersions(db.pool, ids)),
    webhookWatch: new ChangeWatch((ids) => readWishes(db.pool, ids)),
    eventWatch: new ChangeWatch(async (ids) => new Map([[ids[0] as string, String(await findLatestPosition(db.pool))]])),
    intake: openIntake(),
    storage: new StorageMeter(db, config.storageLimits),
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
      sandbox.then(
        (value) => {
          opened = value;
        },
        () => {},
      );
      return sandbox;
    },
    fileProcesses() {
      fileProcesses ??= openFileProcesses({
        dir: chooseQueryFolder(config),
        searchPath: config.machine.searchPath,
        processes: Math.max(1, Math.min(4, availableParallelism() - 1)),
        ...config.ingest,
        // An API process reads previews only.
        memoryBytes: Math.min(config.ingest.memoryBytes, part === 'api' ? 1024 ** 3 : Number.POSITIVE_INFINITY),
        onTrouble: (error) => log.warn(describeErrorForLog(error), 'a process that reads files failed'),
      }).catch((error: unknown) => {
        fileProcesses = null;
        throw error;
      });
      return fileProcesses;
    },
    chartProcesses() {
      chartProcesses ??= openChartProcesses({
        dir: chooseQueryFolder(config),
        searchPath: config.machine.searchPath,
        onTrouble: (error) => log.warn(describeErrorForLog(error), 'a process that draws charts failed'),
      }).catch((error: unknown) => {
        chartProcesses = null;
        throw error;
      });
      return chartProcesses;
    },
    python() {
      const { memoryBytes, timeMs: timeoutMs } = config.python;
      python ??= openPython({
        dir: chooseQueryFolder(config),
        searchPath: config.machine.searchPath,
        cacheDirs: listCacheDirs(config),
        // One more than one user gets.
        processes: Math.min(4, availableParallelism()) + 1,
        memoryBytes,
        timeoutMs,
        onTrouble: (error) => log.warn(describeErrorForLog(error), 'a process for Python failed'),
      }).catch((error: unknown) => {
        python = null;
        throw error;
      });
      return python;
    },
    readSandboxState: () => opened?.state ?? null,
    temporal() {
      temporal ??= connectTemporal(config.temporal, log, tracing).catch((error: unknown) => {
        temporal = null;
        throw temporalAway(error);
      });
      return temporal;
    },
    async close() {
      await (await sandbox?.catch(() => null))?.close();
      await (await fileProcesses?.catch(() => null))?.close();
      await (await chartProcesses?.catch(() => null))?.close();
      await (await python?.catch(() => null))?.close();
      await (await temporal?.catch(() => null))?.close();
      await outbound.close();
      await tails.close();
      await visibleFiles.close();
      await engine.close();
      await blobs.close();
      await db.close();
      await tracing?.close();
    },
  };
}

async function openTraces(url: string, part: string, log: pino.Logger): Promise<Tracing> {
  const { openTracing } = await import('./tracing/openTracing.ts');
  return openTracing({ url, part, log });
}
