/**
 * Every environment variable the service knows. docs/configuration.md and the error texts are made from this table.
 * `default` is what a reader is told; the code that applies it is in config.ts.
 */

export const variableTopics = [
  'API',
  'Service',
  'PostgreSQL',
  'Temporal',
  'Blob store',
  'Backup',
  'Tracing',
  'Identity provider',
  'Drives',
  'Language model',
  'Payments',
] as const;

export interface Variable {
  topic: (typeof variableTopics)[number];
  default: string;
  meaning: string;
  /** Never printed. */
  secret?: true;
}

export const variables = {
  PORT: { topic: 'API', default: '8080', meaning: 'port the API listens on' },
  HOST: { topic: 'API', default: '127.0.0.1', meaning: 'address the API listens on' },
  SVC_PUBLIC_URL: {
    topic: 'API',
    default: 'http://HOST:PORT',
    meaning: 'address under which clients reach the API; links are made from it',
  },
  SVC_TRUST_PROXY: {
    topic: 'API',
    default: 'off',
    meaning:
      'on: believe the last address of X-Forwarded-For, because a proxy of ours adds it; a number up to 9: so many proxies stand in a row',
  },
  SVC_CORS_ORIGINS: {
    topic: 'API',
    default: 'none',
    meaning: 'origins of web pages that may call the API, separated by commas, such as https://app.example.com; * for any',
  },
  SVC_METRICS_ADDRESSES: {
    topic: 'API',
    default: '127.0.0.0/8, ::1',
    meaning: 'addresses and networks that may read /metrics, separated by commas, such as 10.0.0.0/8',
  },
  SVC_METRICS_TOKEN: {
    topic: 'API',
    default: 'none',
    meaning: 'whoever sends it as `Authorization: Bearer` may read /metrics from any address; at least 16 characters',
    secret: true,
  },
  SVC_DATA_DIR: {
    topic: 'Service',
    default: '.svc in the project',
    meaning: 'everything the embedded default keeps: database, blobs, file of Temporal, secrets. Deleting it is a fresh start',
  },
  SVC_SECRET: {
    topic: 'Service',
    default: 'generated once into the data dir',
    meaning: 'master secret, at least 32 characters, the same for all processes; sessions and stored secrets depend on it',
    secret: true,
  },
  SVC_SIGNUP: { topic: 'Service', default: 'on', meaning: 'off: nobody can sign up' },
  SVC_STRUCTURING: { topic: 'Service', default: 'on', meaning: 'off: uploads land as they are, and nothing is charged for them' },
  SVC_JOBS_PER_USER: {
    topic: 'Service',
    default: '8',
    meaning: 'how many jobs of one user are under way at a time, over all workers; the others wait their turn',
  },
  SVC_RATE_LIMITS: { topic: 'Service', default: 'on', meaning: 'off: requests are not limited' },
  SVC_INGEST_MEMORY_BYTES: {
    topic: 'Service',
    default: '2 GiB, at most half of the memory of the machine or container',
    meaning: 'memory that the work on one file may take; a file that needs more is refused',
  },
  SVC_INGEST_TIME_MS: {
    topic: 'Service',
    default: '300000',
    meaning: 'time that a step of the work on one file may take, in milliseconds; a file that needs longer is refused',
  },
  SVC_TRANSFORM_TIME_MS: {
    topic: 'Service',
    default: '300000',
    meaning: 'time that a run of a transform in SQL may take, in milliseconds; one that needs longer fails',
  },
  SVC_ANSWER_BYTES: {
    topic: 'API',
    default: '268435456',
    meaning: 'memory that answers which are being made or sent may take in an API process; past it 503',
  },
  SVC_ANSWER_BYTES_PER_CALLER: {
    topic: 'API',
    default: '67108864',
    meaning: 'the part of it that the answers to one user may take; past it 429',
  },
  SVC_WORK_BYTES: {
    topic: 'API',
    default: '268435456',
    meaning: 'memory that requests which are being worked on may take in an API process for their bodies and rows; past it 503',
  },
  SVC_WORK_BYTES_PER_CALLER: {
    topic: 'API',
    default: '134217728',
    meaning: 'the part of it that the requests of one user may take; past it 429',
  },
  SVC_READER_TIMEOUT_MS: {
    topic: 'API',
    default: '30000',
    meaning: 'how long a client may take nothing of an answer before its connection is ended, in milliseconds',
  },
  SVC_ANSWER_WAIT_MS: {
    topic: 'API',
    default: '45000',
    meaning: 'how long a request waits for the end of its job before it is answered with the job itself, in milliseconds',
  },
  SVC_STOP_DELAY_MS: {
    topic: 'API',
    default: '0',
    meaning:
      'how long an API process that was told to stop goes on taking requests while /readyz says 503, so that a balancer looks away, in milliseconds',
  },
  SVC_STOP_TIME_MS: {
    topic: 'Service',
    default: '10000',
    meaning:
      'how long a process that was told to stop gives requests, queries and steps of jobs that are under way, in milliseconds; then it ends',
  },
  SVC_REVIEW_CELLS: {
    topic: 'Service',
    default: '400000',
    meaning: 'how many cells of a table a review holds and looks at, from the first row on',
  },
  SVC_PYTHON_MEMORY_BYTES: {
    topic: 'Service',
    default: '1073741824',
    meaning: 'memory that one run of a Python transform may take, beside its tables; a run that needs more is refused',
  },
  SVC_PYTHON_TIME_MS: {
    topic: 'Service',
    default: '60000',
    meaning: 'time that one run of a Python transform may take, in milliseconds; a run that needs longer is refused',
  },
  SVC_CREDITS: {
    topic: 'Service',
    default: 'unlimited for `npm start`, metered for parts run on their own',
    meaning: 'metered: structuring falls back to raw tables when the credits of an account are used up. unlimited: usage is only recorded',
  },
  SVC_STORAGE_LIMITS: {
    topic: 'Service',
    default: 'free=100GB,payg=100GB,solo=500GB,pro=2TB',
    meaning:
      'what an account may store (tables, sources, results), by plan; plans that are not named keep the default. One size, such as 5GB, for all plans; unlimited: no limit',
  },
  SVC_RESULTS_LIMIT: {
    topic: 'Service',
    default: '1GB',
    meaning: 'what the results of queries of an account may take together; beyond it the oldest ones go',
  },
  SVC_LOG_LEVEL: { topic: 'Service', default: 'info', meaning: 'fatal, error, warn, info, debug, trace or silent' },
  SVC_LOG_FORMAT: {
    topic: 'Service',
    default: 'plain',
    meaning:
      'json: all that `npm start` writes, too, is JSON lines. plain: its own lines are for people, those of the parts stand behind their names',
  },
  DATABASE_URL: {
    topic: 'PostgreSQL',
    default: 'embedded PostgreSQL',
    meaning: 'postgres://user:password@host:port/database',
    secret: true,
  },
  TEMPORAL_ADDRESS: { topic: 'Temporal', default: 'embedded server', meaning: "host:port of Temporal's frontend" },
  TEMPORAL_NAMESPACE: { topic: 'Temporal', default: 'default', meaning: 'namespace of the workflows' },
  TEMPORAL_TASK_QUEUE: { topic: 'Temporal', default: 'workbooks', meaning: 'task queue of the workers' },
  SVC_BUILD_ID: {
    topic: 'Temporal',
    default: 'none: every worker gets tasks',
    meaning: 'which build the workers are of, another for each release: only those of the build that was promoted last get tasks',
  },
  TEMPORAL_TLS: {
    topic: 'Temporal',
    default: 'off, or on when an API key or a certificate is given',
    meaning: 'on: connect to Temporal by TLS',
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: { topic: 'Temporal', default: 'none', meaning: 'file with the client certificate (PEM)' },
  TEMPORAL_TLS_CLIENT_KEY_PATH: { topic: 'Temporal', default: 'none', meaning: 'file with the key of that certificate (PEM)' },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    topic: 'Temporal',
    default: "the system's",
    meaning: 'file with the authority that signed the server (PEM)',
  },
  TEMPORAL_TLS_SERVER_NAME: {
    topic: 'Temporal',
    default: 'host of TEMPORAL_ADDRESS',
    meaning: 'name expected in the certificate of the server',
  },
  TEMPORAL_API_KEY: { topic: 'Temporal', default: 'none', meaning: 'API key for Temporal Cloud', secret: true },
  SVC_TEMPORAL_KEYS: {
    topic: 'Temporal',
    default: 'none: payloads are not encrypted',
    meaning:
      'keys that payloads of workflows are encrypted with, as id:key between commas, each 32 bytes as base64; the first encrypts, all decrypt',
    secret: true,
  },
  TEMPORAL_CLI: {
    topic: 'Temporal',
    default: 'found, downloaded or built',
    meaning: 'path of the temporal program that runs the embedded server',
  },
  TEMPORAL_UI_PORT: { topic: 'Temporal', default: '8233', meaning: "port of the operators' page of the embedded Temporal" },
  TEMPORAL_UI_URL: {
    topic: 'Temporal',
    default: 'that of the embedded server',
    meaning: "address of Temporal's page for operators, to which the page at / links",
  },
  SVC_OUTBOUND_ALLOW: {
    topic: 'Service',
    default: 'none',
    meaning:
      'what is not on the public internet and may be called all the same (addresses to ingest, webhooks, drives), separated by commas: hosts, host:port, addresses or networks, such as files.internal:8443, 10.1.0.0/16',
  },
  SVC_WEBHOOK_DELAYS: {
    topic: 'Service',
    default: '5s, 5m, 30m, 2h, 5h, 10h, 14h, 20h, 24h',
    meaning: 'how long a delivery to a webhook waits after each try that failed; after the last one it is given up',
  },
  BLOB_URL: { topic: 'Blob store', default: 'a folder in the data dir', meaning: 'file:///folder or s3://bucket/prefix' },
  S3_ENDPOINT: { topic: 'Blob store', default: "the provider's own", meaning: 'address of an S3-compatible store' },
  S3_REGION: { topic: 'Blob store', default: 'us-east-1', meaning: 'region of the bucket' },
  S3_ACCESS_KEY_ID: { topic: 'Blob store', default: 'none', meaning: 'needed with BLOB_URL=s3://…' },
  S3_SECRET_ACCESS_KEY: { topic: 'Blob store', default: 'none', meaning: 'needed with BLOB_URL=s3://…', secret: true },
  BACKUP_URL: {
    topic: 'Backup',
    default: 'none',
    meaning: 'where npm run backup puts backups and npm run restore takes them from: a folder, file:///folder or s3://bucket/prefix',
  },
  BACKUP_S3_ENDPOINT: { topic: 'Backup', default: 'S3_ENDPOINT', meaning: 'address of the S3-compatible store of the backups' },
  BACKUP_S3_REGION: { topic: 'Backup', default: 'S3_REGION', meaning: 'region of their bucket' },
  BACKUP_S3_ACCESS_KEY_ID: { topic: 'Backup', default: 'S3_ACCESS_KEY_ID', meaning: 'needed with BACKUP_URL=s3://…' },
  BACKUP_S3_SECRET_ACCESS_KEY: {
    topic: 'Backup',
    default: 'S3_SECRET_ACCESS_KEY',
    meaning: 'needed with BACKUP_URL=s3://…',
    secret: true,
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    topic: 'Tracing',
    default: 'none: no traces',
    meaning: 'address of a collector of OpenTelemetry traces (OTLP over HTTP); the other standard variables, OTEL_…, hold as well',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    topic: 'Tracing',
    default: 'OTEL_EXPORTER_OTLP_ENDPOINT/v1/traces',
    meaning: 'the same for traces alone, as it stands',
  },
  OIDC_ISSUER: {
    topic: 'Identity provider',
    default: 'none',
    meaning: 'address of an OpenID Connect issuer whose tokens are accepted as sessions',
  },
  OIDC_AUDIENCE: { topic: 'Identity provider', default: 'none', meaning: 'audience those tokens must carry; needed with OIDC_ISSUER' },
  OIDC_CLIENT_ID: {
    topic: 'Identity provider',
    default: 'none',
    meaning: 'client id of this service there, for log-ins to the console; its redirect address is SVC_PUBLIC_URL/log-in',
  },
  OIDC_CLIENT_SECRET: { topic: 'Identity provider', default: 'none', meaning: 'secret of that client, where it has one', secret: true },
  SVC_GOOGLE_CLIENT_ID: {
    topic: 'Drives',
    default: 'none',
    meaning: 'client id of this service at Google; its redirect address is SVC_PUBLIC_URL/api/oauth/google_drive/callback',
  },
  SVC_GOOGLE_CLIENT_SECRET: { topic: 'Drives', default: 'none', meaning: 'needed with SVC_GOOGLE_CLIENT_ID', secret: true },
  SVC_GOOGLE_AUTHORIZE_URL: {
    topic: 'Drives',
    default: 'https://accounts.google.com/o/oauth2/v2/auth',
    meaning: 'page on which users let the service read their drives',
  },
  SVC_GOOGLE_TOKEN_URL: { topic: 'Drives', default: 'https://oauth2.googleapis.com/token', meaning: 'where tokens are asked for' },
  SVC_GOOGLE_API_URL: { topic: 'Drives', default: 'https://www.googleapis.com/drive/v3', meaning: 'address of the Drive API' },
  SVC_ONEDRIVE_CLIENT_ID: {
    topic: 'Drives',
    default: 'none',
    meaning: 'client id of this service at Microsoft; its redirect address is SVC_PUBLIC_URL/api/oauth/onedrive/callback',
  },
  SVC_ONEDRIVE_CLIENT_SECRET: { topic: 'Drives', default: 'none', meaning: 'needed with SVC_ONEDRIVE_CLIENT_ID', secret: true },
  SVC_ONEDRIVE_AUTHORIZE_URL: {
    topic: 'Drives',
    default: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    meaning: 'page on which users let the service read their drives',
  },
  SVC_ONEDRIVE_TOKEN_URL: {
    topic: 'Drives',
    default: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    meaning: 'where tokens are asked for',
  },
  SVC_ONEDRIVE_API_URL: { topic: 'Drives', default: 'https://graph.microsoft.com/v1.0', meaning: 'address of Microsoft Graph' },
  SVC_MODEL_URL: {
    topic: 'Language model',
    default: 'none',
    meaning:
      'address of an OpenAI-compatible service, up to and without `/chat/completions`, such as https://models.example.com/v1; reviews that ask for it send rows of tables there',
  },
  SVC_MODEL_NAME: { topic: 'Language model', default: 'none', meaning: 'name of the model; needed with SVC_MODEL_URL' },
  SVC_MODEL_KEY: { topic: 'Language model', default: 'none', meaning: 'key that is sent as `Authorization: Bearer`', secret: true },
  SVC_MODEL_TIME_MS: { topic: 'Language model', default: '120000', meaning: 'how long one answer of the model may take, in milliseconds' },
  STRIPE_SECRET_KEY: {
    topic: 'Payments',
    default: 'none: the embedded ledger, which takes no money',
    meaning: 'secret (sk_…) or restricted (rk_…) key of a Stripe account that takes the payments',
    secret: true,
  },
  STRIPE_WEBHOOK_SECRET: {
    topic: 'Payments',
    default: 'none',
    meaning: 'signing secret (whsec_…) of the webhook endpoint SVC_PUBLIC_URL/api/control/billing/callback; needed with STRIPE_SECRET_KEY',
    secret: true,
  },
  STRIPE_API_URL: { topic: 'Payments', default: 'https://api.stripe.com', meaning: "address of Stripe's API" },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;
export const variableNames = Object.keys(variables) as VariableName[];
