import { pathToFileURL } from 'node:url';
import { formatAllowedTarget } from '../core/outbound/allowedTarget.ts';
import { formatLimit, formatStorageLimits } from '../core/storage/limits.ts';
import type { BlobConfig, Config } from './config.ts';
import type { Env } from './variableReader.ts';
import type { VariableName } from './variables.ts';

/** The variables with which a child process loads the same config. `undefined` removes one that it would inherit. */
export function configToEnv(config: Config): Env {
  const { temporal, oidc } = config;
  const env: Record<VariableName, string | undefined> = {
    PORT: String(config.port),
    HOST: config.host,
    SVC_PUBLIC_URL: config.publicUrl,
    SVC_TRUST_PROXY: String(config.trustedProxies),
    SVC_CORS_ORIGINS: config.corsOrigins.join(',') || undefined,
    SVC_METRICS_ADDRESSES: config.metrics.networks.join(','),
    SVC_METRICS_TOKEN: config.metrics.token ?? undefined,
    SVC_DATA_DIR: config.dataDir,
    SVC_SECRET: config.secret ?? undefined,
    SVC_SIGNUP: onOff(config.signup),
    SVC_STRUCTURING: onOff(config.structuring),
    SVC_RATE_LIMITS: onOff(config.rateLimits),
    SVC_INGEST_MEMORY_BYTES: String(config.ingest.memoryBytes),
    SVC_INGEST_TIME_MS: String(config.ingest.timeMs),
    SVC_ANSWER_BYTES: String(config.answers.processBytes),
    SVC_ANSWER_BYTES_PER_CALLER: String(config.answers.callerBytes),
    SVC_READER_TIMEOUT_MS: String(config.answers.readerTimeoutMs),
    SVC_ANSWER_WAIT_MS: String(config.answerWaitMs),
    SVC_STOP_DELAY_MS: String(config.stop.delayMs),
    SVC_STOP_TIME_MS: String(config.stop.timeMs),
    SVC_REVIEW_CELLS: String(config.reviewCells),
    SVC_JOBS_PER_USER: String(config.jobsPerUser),
    SVC_WORK_BYTES: String(config.work.processBytes),
    SVC_WORK_BYTES_PER_CALLER: String(config.work.callerBytes),
    SVC_PYTHON_MEMORY_BYTES: String(config.python.memoryBytes),
    SVC_PYTHON_TIME_MS: String(config.python.timeMs),
    SVC_TRANSFORM_TIME_MS: String(config.transformTimeMs),
    SVC_CREDITS: config.credits ?? undefined,
    SVC_STORAGE_LIMITS: formatStorageLimits(config.storageLimits),
    SVC_RESULTS_LIMIT: formatLimit(config.resultsLimit),
    SVC_LOG_LEVEL: config.logLevel,
    SVC_LOG_FORMAT: config.logFormat,
    DATABASE_URL: config.databaseUrl ?? undefined,
    TEMPORAL_ADDRESS: temporal.address ?? undefined,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TEMPORAL_TASK_QUEUE: temporal.taskQueue,
    SVC_BUILD_ID: temporal.buildId ?? undefined,
    TEMPORAL_TLS: onOff(temporal.tls !== null),
    TEMPORAL_TLS_CLIENT_CERT_PATH: temporal.tls?.certPath ?? undefined,
    TEMPORAL_TLS_CLIENT_KEY_PATH: temporal.tls?.keyPath ?? undefined,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: temporal.tls?.caPath ?? undefined,
    TEMPORAL_TLS_SERVER_NAME: temporal.tls?.serverName ?? undefined,
    TEMPORAL_API_KEY: temporal.apiKey ?? undefined,
    SVC_TEMPORAL_KEYS: temporal.keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',') || undefined,
    TEMPORAL_CLI: temporal.cliPath ?? undefined,
    TEMPORAL_UI_PORT: String(temporal.uiPort),
    TEMPORAL_UI_URL: temporal.uiUrl ?? undefined,
    SVC_OUTBOUND_ALLOW: config.outbound.allowed.map(formatAllowedTarget).join(',') || undefined,
    SVC_WEBHOOK_DELAYS: config.webhookDelaysMs.map((delayMs) => `${delayMs}ms`).join(','),
    ...placeEnv('', config.blobs),
    ...placeEnv('BACKUP_', config.backups),
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: config.tracesUrl ?? undefined,
    OIDC_ISSUER: oidc?.issuer,
    OIDC_AUDIENCE: oidc?.audience,
    OIDC_CLIENT_ID: oidc?.client?.id,
    OIDC_CLIENT_SECRET: oidc?.client?.secret ?? undefined,
    ...driveEnv(config),
    SVC_MODEL_URL: config.model?.url,
    SVC_MODEL_NAME: config.model?.name,
    SVC_MODEL_KEY: config.model?.key ?? undefined,
    SVC_MODEL_TIME_MS: config.model ? String(config.model.timeMs) : undefined,
    STRIPE_SECRET_KEY: config.stripe?.secretKey,
    STRIPE_WEBHOOK_SECRET: config.stripe?.webhookSecret,
    STRIPE_API_URL: config.stripe?.apiUrl,
  };
  return env;
}

/** This process's environment with `changes` on top: what child processes are given. */
export function inheritEnv(changes: Env, env: Env = process.env): Record<string, string> {
  const merged = Object.entries({ ...env, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The same without variables that begin with one of the prefixes: other programs read some of their own, such as PGPORT. */
export function inheritEnvWithout(prefixes: string[], changes: Env, env: Env = process.env): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !prefixes.some((prefix) => name.startsWith(prefix)));
  return inheritEnv(changes, Object.fromEntries(kept));
}

type BucketVariable = 'S3_ENDPOINT' | 'S3_REGION' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY';
type PlaceVariables<Prefix extends '' | 'BACKUP_'> = Record<
  (Prefix extends '' ? 'BLOB_URL' : 'BACKUP_URL') | `${Prefix}${BucketVariable}`,
  string | undefined
>;

function placeEnv<Prefix extends '' | 'BACKUP_'>(prefix: Prefix, place: BlobConfig | null): PlaceVariables<Prefix> {
  const s3 = place?.kind === 's3' ? place : null;
  return {
    [prefix === '' ? 'BLOB_URL' : 'BACKUP_URL']: s3
      ? `s3://${s3.bucket}/${s3.prefix}`
      : place?.kind === 'file'
        ? pathToFileURL(place.dir).href
        : undefined,
    [`${prefix}S3_ENDPOINT`]: s3?.endpoint ?? undefined,
    [`${prefix}S3_REGION`]: s3?.region,
    [`${prefix}S3_ACCESS_KEY_ID`]: s3?.accessKeyId,
    [`${prefix}S3_SECRET_ACCESS_KEY`]: s3?.secretAccessKey,
  } as PlaceVariables<Prefix>;
}

type DriveVariable = Extract<VariableName, `SVC_${'GOOGLE' | 'ONEDRIVE'}_${string}`>;

function driveEnv({ drives }: Config): Record<DriveVariable, string | undefined> {
  const { google_drive: google, onedrive } = drives;
  return {
    SVC_GOOGLE_CLIENT_ID: google?.clientId,
    SVC_GOOGLE_CLIENT_SECRET: google?.clientSecret,
    SVC_GOOGLE_AUTHORIZE_URL: google?.authorizeUrl,
    SVC_GOOGLE_TOKEN_URL: google?.tokenUrl,
    SVC_GOOGLE_API_URL: google?.apiUrl,
    SVC_ONEDRIVE_CLIENT_ID: onedrive?.clientId,
    SVC_ONEDRIVE_CLIENT_SECRET: onedrive?.clientSecret,
    SVC_ONEDRIVE_AUTHORIZE_URL: onedrive?.authorizeUrl,
    SVC_ONEDRIVE_TOKEN_URL: onedrive?.tokenUrl,
    SVC_ONEDRIVE_API_URL: onedrive?.apiUrl,
  };
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}
