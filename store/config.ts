import { homedir, totalmem } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { AllowedTarget } from '../core/outbound/allowedTarget.ts';
import type { StorageLimits } from '../core/storage/limits.ts';
import { projectDir } from './projectDir.mjs';
import { type Env, VariableReader } from './variableReader.ts';
import { type Variable, type VariableName, variableNames, variables } from './variables.ts';

/** The one way to read environment variables. The table of all of them is variables.ts. */

export { projectDir };

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];
const creditModes = ['unlimited', 'metered'] as const;
export type CreditMode = (typeof creditModes)[number];
const logFormats = ['plain', 'json'] as const;

export type BlobConfig =
  | { kind: 'file'; dir: string }
  | {
      kind: 's3';
      bucket: string;
      /** Without slashes at its ends; empty for the whole bucket. */
      prefix: string;
      endpoint: string | null;
      region: string;
      accessKeyId: string;
      secretAccessKey: string;
    };

interface TlsConfig {
  certPath: string | null;
  keyPath: string | null;
  caPath: string | null;
  serverName: string | null;
}

/** A key that payloads of workflows are encrypted with. */
export interface PayloadKey {
  id: string;
  key: Buffer;
}

export interface TemporalConfig {
  /** null: the embedded server. */
  address: string | null;
  namespace: string;
  taskQueue: string;
  /** Of the workers; null: they are not told apart. */
  buildId: string | null;
  /** null: no TLS. */
  tls: TlsConfig | null;
  apiKey: string | null;
  /** The first encrypts, all decrypt; none: payloads are not encrypted. */
  keys: PayloadKey[];
  cliPath: string | null;
  uiPort: number;
  /** Its page for operators; null: not known. */
  uiUrl: string | null;
}

export interface Config {
  host: string;
  port: number;
  publicUrl: string;
  /** How many proxies of ours stand before the API, each of which adds the address that it saw to X-Forwarded-For. */
  trustedProxies: number;
  /** Web pages that may call the API; `*` for any. */
  corsOrigins: string[];
  /** Who may read /metrics: these networks, and whoever has the token. */
  metrics: { networks: string[]; token: string | null };
  dataDir: string;
  /** null: the embedded set-up generates it and stores it in the data dir. */
  secret: string | null;
  signup: boolean;
  /** Whether uploads are structured; off: they land as they are. */
  structuring: boolean;
  rateLimits: boolean;
  /** What the work on one file may take. */
  ingest: { memoryBytes: number; timeMs: number };
  /** Memory for answers that are being made or sent, and how long a reader may take nothing. */
  answers: { processBytes: number; callerBytes: number; readerTimeoutMs: number };
  /** How long a request waits for the end of its job. */
  answerWaitMs: number;
  /** What a process that was told to stop does: go on for a moment, as seen from a balancer, then end what is under way. */
  stop: { delayMs: number; timeMs: number };
  /** How many cells of a table a review holds. */
  reviewCells: number;
  /** How many jobs of one user are under way at a time; the others wait their turn. */
  jobsPerUser: number;
  /** Memory for large bodies and rows that are being worked on. */
  work: { processBytes: number; callerBytes: number };
  /** What one run of a Python transform may take. */
  python: { memoryBytes: number; timeMs: number };
  /** What is not public and may be called all the same. */
  outbound: { allowed: AllowedTarget[] };
  /** How long a delivery waits after each try that failed; after the last one no more. */
  webhookDelaysMs: number[];
  /** For a run of a transform in SQL. */
  transformTimeMs: number;
  /** Whether work is refused for lack of credits. null: nothing was said, so it depends on how the service is started. */
  credits: CreditMode | null;
  /** Bytes that an account may store, by plan. */
  storageLimits: StorageLimits;
  /** Bytes that the results of an account may take together. */
  resultsLimit: number;
  logLevel: LogLevel;
  logFormat: (typeof logFormats)[number];
  /** null: the embedded PostgreSQL. */
  databaseUrl: string | null;
  temporal: TemporalConfig;
  blobs: BlobConfig;
  /** Where backups are kept; null: nowhere. */
  backups: BlobConfig | null;
  /** Where traces are sent; null: there are none. */
  tracesUrl: string | null;
  oidc: { issuer: string; audience: string; client: { id: string; secret: string | null } | null } | null;
  /** Providers of drives; null: not set up. */
  drives: { google_drive: DriveConfig | null; onedrive: DriveConfig | null };
  /** The language model that reviews may ask; null: none. */
  model: ModelConfig | null;
  /** Who takes the payments; null: the embedded ledger. */
  stripe: StripeConfig | null;
  /** For set-up: the folder for downloads and the folders of PATH. */
  machine: { cacheDir: string; searchPath: string[] };
}

/** This service as a client of a provider of drives, and where that answers. */
export interface DriveConfig {
  clientId: string;
  clientSecret: string;
  authorizeUrl: string;
  tokenUrl: string;
  /** Without a slash at its end. */
  apiUrl: string;
  /** Where the provider sends users back to. */
  redirectUrl: string;
}

/** A service that speaks the protocol of OpenAI's chat completions. */
export interface ModelConfig {
  /** Without `/chat/completions`. */
  url: string;
  name: string;
  key: string | null;
  timeMs: number;
}

export interface StripeConfig {
  secretKey: string;
  webhookSecret: string;
  /** Without a path. */
  apiUrl: string;
}

/** The configuration of the API and the workers, in which every address is set. */
export type ServiceConfig = Config & { databaseUrl: string; secret: string; credits: CreditMode; temporal: { address: string } };

export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

export function loadConfig(env: Env = process.env): Config {
  const read = new VariableReader(env);
  const host = read.text('HOST') ?? '127.0.0.1';
  const port = read.port('PORT', 8080);
  const dataDir = resolve(read.text('SVC_DATA_DIR') ?? join(projectDir, '.svc'));
  const config: Config = {
    host,
    port,
    publicUrl: read.url('SVC_PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '') ?? `http://${urlHost(host)}:${port}`,
    trustedProxies: read.proxies('SVC_TRUST_PROXY'),
    corsOrigins: read.origins('SVC_CORS_ORIGINS'),
    metrics: { networks: read.networks('SVC_METRICS_ADDRESSES'), token: read.secret('SVC_METRICS_TOKEN', 16) },
    dataDir,
    secret: read.secret('SVC_SECRET', 32),
    signup: read.flag('SVC_SIGNUP', true),
    structuring: read.flag('SVC_STRUCTURING', true),
    rateLimits: read.flag('SVC_RATE_LIMITS', true),
    ingest: {
      memoryBytes: read.count('SVC_INGEST_MEMORY_BYTES', usualIngestMemory()),
      timeMs: read.count('SVC_INGEST_TIME_MS', 300_000),
    },
    answers: {
      processBytes: read.count('SVC_ANSWER_BYTES', 256 * 1024 * 1024),
      callerBytes: read.count('SVC_ANSWER_BYTES_PER_CALLER', 64 * 1024 * 1024),
      readerTimeoutMs: read.count('SVC_READER_TIMEOUT_MS', 30_000),
    },
    answerWaitMs: read.count('SVC_ANSWER_WAIT_MS', 45_000),
    stop: { delayMs: read.count('SVC_STOP_DELAY_MS', 0, 0), timeMs: read.count('SVC_STOP_TIME_MS', 10_000) },
    reviewCells: read.count('SVC_REVIEW_CELLS', 400_000),
    jobsPerUser: read.count('SVC_JOBS_PER_USER', 8),
    work: {
      processBytes: read.count('SVC_WORK_BYTES', 256 * 1024 * 1024),
      callerBytes: read.count('SVC_WORK_BYTES_PER_CALLER', 128 * 1024 * 1024),
    },
    python: {
      memoryBytes: read.count('SVC_PYTHON_MEMORY_BYTES', 1024 * 1024 * 1024),
      timeMs: read.count('SVC_PYTHON_TIME_MS', 60_000),
    },
    outbound: { allowed: read.allowedTargets('SVC_OUTBOUND_ALLOW') },
    webhookDelaysMs: read.delays('SVC_WEBHOOK_DELAYS'),
    transformTimeMs: read.count('SVC_TRANSFORM_TIME_MS', 300_000),
    credits: read.choice('SVC_CREDITS', creditModes, null),
    storageLimits: read.storageLimits('SVC_STORAGE_LIMITS'),
    resultsLimit: read.size('SVC_RESULTS_LIMIT', 1e9),
    logLevel: read.choice('SVC_LOG_LEVEL', logLevels, 'info'),
    logFormat: read.choice('SVC_LOG_FORMAT', logFormats, 'plain'),
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    temporal: readTemporal(read),
    blobs: readPlace(read, '') ?? { kind: 'file', dir: join(dataDir, 'blobs') },
    backups: readPlace(read, 'BACKUP_'),
    tracesUrl: readTracesUrl(read),
    oidc: readOidc(read),
    drives: readDrives(read),
    model: readModel(read),
    stripe: readStripe(read),
    machine: readMachine(env),
  };
  for (const provider of ['google_drive', 'onedrive'] as const) {
    const drive = config.drives[provider];
    if (drive) drive.redirectUrl = `${config.publicUrl}/api/oauth/${provider}/callback`;
  }
  if (read.problems.length > 0) throw new ConfigError(read.problems);
  return config;
}

/** At most half of what the machine or its container has, so that the kernel need not decide who has taken too much. */
function usualIngestMemory(): number {
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(2 * 1024 ** 3, Math.min(totalmem(), limit) / 2));
}

/** For a process that cannot run without the addresses of the others. */
export function loadServiceConfig(env: Env = process.env): ServiceConfig {
  return requireServices(loadConfig(env));
}

export function requireServices(config: Config): ServiceConfig {
  const { databaseUrl, secret, temporal } = config;
  const needed: [VariableName, string | null][] = [
    ['DATABASE_URL', databaseUrl],
    ['TEMPORAL_ADDRESS', temporal.address],
    ['SVC_SECRET', secret],
  ];
  const missing = needed.filter(([, value]) => value === null);
  if (missing.length > 0) throw new ConfigError(missing.map(([name]) => `${name} is not set (${variables[name].meaning})`));
  return { ...config, credits: config.credits ?? 'metered' } as ServiceConfig;
}

/** Whether everything is said as JSON lines. Works also when the rest of the configuration is wrong. */
export function wantsJson(env: Env = process.env): boolean {
  return env.SVC_LOG_FORMAT?.trim().toLowerCase() === 'json';
}

/** Whether errors are shown with their stack. Works also when the rest of the configuration is wrong. */
export function wantsStacks(env: Env = process.env): boolean {
  return env.SVC_LOG_LEVEL === 'debug' || env.SVC_LOG_LEVEL === 'trace';
}

function readTemporal(read: VariableReader): TemporalConfig {
  const apiKey = read.text('TEMPORAL_API_KEY');
  const tls: TlsConfig = {
    certPath: read.path('TEMPORAL_TLS_CLIENT_CERT_PATH'),
    keyPath: read.path('TEMPORAL_TLS_CLIENT_KEY_PATH'),
    caPath: read.path('TEMPORAL_TLS_SERVER_CA_CERT_PATH'),
    serverName: read.text('TEMPORAL_TLS_SERVER_NAME'),
  };
  if ((tls.certPath === null) !== (tls.keyPath === null)) {
    read.refuse(
      tls.certPath ? 'TEMPORAL_TLS_CLIENT_KEY_PATH' : 'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'is needed: a certificate and its key go together',
    );
  }
  const wantsTls = read.flag('TEMPORAL_TLS', apiKey !== null || Object.values(tls).some((value) => value !== null));
  const address = read.hostAndPort('TEMPORAL_ADDRESS');
  const uiPort = read.port('TEMPORAL_UI_PORT', 8233);
  return {
    address,
    namespace: read.text('TEMPORAL_NAMESPACE') ?? 'default',
    taskQueue: read.text('TEMPORAL_TASK_QUEUE') ?? 'workbooks',
    buildId: read.word('SVC_BUILD_ID'),
    tls: wantsTls ? tls : null,
    apiKey,
    keys: read.payloadKeys('SVC_TEMPORAL_KEYS'),
    cliPath: read.path('TEMPORAL_CLI'),
    uiPort,
    uiUrl: read.url('TEMPORAL_UI_URL', ['http:', 'https:']) ?? (address === null ? `http://127.0.0.1:${uiPort}` : null),
  };
}

/** A folder or a bucket. What is not said about the bucket of backups is as for the blobs. */
function readPlace(read: VariableReader, prefix: '' | 'BACKUP_'): BlobConfig | null {
  const name = prefix === '' ? 'BLOB_URL' : 'BACKUP_URL';
  const text = read.text(name);
  if (text === null) return null;
  if (isAbsolute(text)) return { kind: 'file', dir: resolve(text) };
  const url = read.url(name, ['file:', 's3:']);
  if (url === null) return { kind: 'file', dir: '' };
  const parsed = new URL(url);
  if (parsed.protocol === 'file:') return { kind: 'file', dir: resolve(read.fileUrl(name, parsed)) };
  const need = (key: 'ACCESS_KEY_ID' | 'SECRET_ACCESS_KEY') =>
    read.text(`${prefix}S3_${key}`) ?? read.text(`S3_${key}`) ?? read.refuse(`${prefix}S3_${key}`, 'is not set');
  const schemes = ['http:', 'https:'];
  return {
    kind: 's3',
    bucket: parsed.host || read.refuse(name, 'must name a bucket: s3://bucket/prefix'),
    prefix: decodeURIComponent(parsed.pathname).replace(/^\/+|\/+$/g, ''),
    endpoint: read.url(`${prefix}S3_ENDPOINT`, schemes) ?? read.url('S3_ENDPOINT', schemes),
    region: read.text(`${prefix}S3_REGION`) ?? read.text('S3_REGION') ?? 'us-east-1',
    accessKeyId: need('ACCESS_KEY_ID'),
    secretAccessKey: need('SECRET_ACCESS_KEY'),
  };
}

function readDrives(read: VariableReader): Config['drives'] {
  const readDrive = (name: 'GOOGLE' | 'ONEDRIVE'): DriveConfig | null => {
    const url = (end: 'AUTHORIZE_URL' | 'TOKEN_URL' | 'API_URL') =>
      (read.url(`SVC_${name}_${end}`, ['https:', 'http:']) ?? variables[`SVC_${name}_${end}`].default).replace(/\/+$/, '');
    const addresses = { authorizeUrl: url('AUTHORIZE_URL'), tokenUrl: url('TOKEN_URL'), apiUrl: url('API_URL'), redirectUrl: '' };
    const clientId = read.text(`SVC_${name}_CLIENT_ID`);
    const clientSecret = read.text(`SVC_${name}_CLIENT_SECRET`);
    if (clientId === null) return null;
    return { ...addresses, clientId, clientSecret: clientSecret ?? read.refuse(`SVC_${name}_CLIENT_SECRET`, 'is not set') };
  };
  return { google_drive: readDrive('GOOGLE'), onedrive: readDrive('ONEDRIVE') };
}

function readModel(read: VariableReader): ModelConfig | null {
  const url = read.url('SVC_MODEL_URL', ['https:', 'http:'])?.replace(/\/+$/, '');
  const name = read.text('SVC_MODEL_NAME');
  const key = read.text('SVC_MODEL_KEY');
  const timeMs = read.count('SVC_MODEL_TIME_MS', 120_000);
  if (url === undefined) return null;
  return { url, name: name ?? read.refuse('SVC_MODEL_NAME', 'is not set'), key, timeMs };
}

function readStripe(read: VariableReader): StripeConfig | null {
  const secretKey = readPrefixed(read, 'STRIPE_SECRET_KEY', /^[sr]k_\w+$/);
  const webhookSecret = readPrefixed(read, 'STRIPE_WEBHOOK_SECRET', /^whsec_\S+$/);
  const apiUrl = (read.url('STRIPE_API_URL', ['https:', 'http:']) ?? variables.STRIPE_API_URL.default).replace(/\/+$/, '');
  if (secretKey === null && webhookSecret === null) return null;
  if (new URL(apiUrl).origin !== apiUrl) read.refuse('STRIPE_API_URL', `must have no path, not "${apiUrl}"`);
  return {
    secretKey: secretKey ?? read.refuse('STRIPE_SECRET_KEY', 'is not set'),
    webhookSecret: webhookSecret ?? read.refuse('STRIPE_WEBHOOK_SECRET', 'is not set'),
    apiUrl,
  };
}

function readPrefixed(read: VariableReader, name: VariableName, form: RegExp): string | null {
  const value = read.text(name);
  if (value !== null && !form.test(value)) read.refuse(name, 'does not look like one');
  return value;
}

function readTracesUrl(read: VariableReader): string | null {
  const schemes = ['http:', 'https:'];
  const collector = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', schemes)?.replace(/\/+$/, '');
  return read.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', schemes) ?? (collector === undefined ? null : `${collector}/v1/traces`);
}

function readOidc(read: VariableReader): Config['oidc'] {
  const issuer = read.url('OIDC_ISSUER', ['https:', 'http:']);
  const audience = read.text('OIDC_AUDIENCE');
  if (issuer === null) return null;
  const id = read.text('OIDC_CLIENT_ID');
  const client = id === null ? null : { id, secret: read.text('OIDC_CLIENT_SECRET') };
  return { issuer, audience: audience ?? read.refuse('OIDC_AUDIENCE', 'is not set'), client };
}

/** Where downloads are kept: the user's cache, or, for users without a home to write to, the data dir. */
export const listCacheDirs = ({ machine, dataDir }: Pick<Config, 'machine' | 'dataDir'>): string[] => [
  machine.cacheDir,
  join(dataDir, 'cache'),
];

function readMachine(env: Env): Config['machine'] {
  const cacheHome = env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME) ? env.XDG_CACHE_HOME : join(env.HOME || homedir(), '.cache');
  return {
    cacheDir: join(cacheHome, 'workbook-data-service'),
    searchPath: (env.PATH ?? '').split(delimiter).filter((dir) => dir !== ''),
  };
}

/** The host as it stands in a URL. A server that listens on all addresses is reached at the local one; IPv6 needs brackets. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** For docs/configuration.md. */
export function describeVariables(): (Variable & { name: VariableName })[] {
  return variableNames.map((name) => ({ name, ...variables[name] }));
}
