import { pathToFileURL } from 'node:url';
import { formatLimit, formatStorageLimits } from '../core/storage/limits.ts';
import type { Config } from './config.ts';
import type { Env } from './variableReader.ts';
import type { VariableName } from './variables.ts';

/** The variables with which a child process loads the same config. `undefined` removes one that it would inherit. */
export function configToEnv(config: Config): Env {
  const { temporal, blobs, oidc } = config;
  const s3 = blobs.kind === 's3' ? blobs : null;
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
    TEMPORAL_TLS: onOff(temporal.tls !== null),
    TEMPORAL_TLS_CLIENT_CERT_PATH: temporal.tls?.certPath ?? undefined,
    TEMPORAL_TLS_CLIENT_KEY_PATH: temporal.tls?.keyPath ?? undefined,
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: temporal.tls?.caPath ?? undefined,
    TEMPORAL_TLS_SERVER_NAME: temporal.tls?.serverName ?? undefined,
    TEMPORAL_API_KEY: temporal.apiKey ?? undefined,
    TEMPORAL_CLI: temporal.cliPath ?? undefined,
    TEMPORAL_UI_PORT: String(temporal.uiPort),
    TEMPORAL_UI_URL: temporal.uiUrl ?? undefined,
    BLOB_URL: s3 ? `s3://${s3.bucket}/${s3.prefix}` : blobs.kind === 'file' ? pathToFileURL(blobs.dir).href : undefined,
    S3_ENDPOINT: s3?.endpoint ?? undefined,
    S3_REGION: s3?.region,
    S3_ACCESS_KEY_ID: s3?.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3?.secretAccessKey,
    OIDC_ISSUER: oidc?.issuer,
    OIDC_AUDIENCE: oidc?.audience,
    SVC_MODEL_URL: config.model?.url,
    SVC_MODEL_NAME: config.model?.name,
    SVC_MODEL_KEY: config.model?.key ?? undefined,
    SVC_MODEL_TIME_MS: config.model ? String(config.model.timeMs) : undefined,
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

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}
