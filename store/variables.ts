/**
 * Every environment variable the service knows: one table, from which the README's table and the error texts come.
 * `default` is what a reader is told; the code that applies it is in config.ts.
 */
export interface Variable {
  default: string;
  meaning: string;
  /** Never printed. */
  secret?: true;
}

export const variables = {
  PORT: { default: '8080', meaning: 'port the API listens on' },
  HOST: { default: '127.0.0.1', meaning: 'address the API listens on' },
  SVC_PUBLIC_URL: { default: 'http://HOST:PORT', meaning: 'address under which clients reach the API; links are made from it' },
  SVC_TRUST_PROXY: { default: 'off', meaning: 'on: believe X-Forwarded-For and X-Forwarded-Proto, because a proxy of ours sets them' },
  SVC_DATA_DIR: {
    default: '.svc in the project',
    meaning: 'everything the embedded default keeps: database, blobs, file of Temporal, secrets. Deleting it is a fresh start',
  },
  SVC_SECRET: {
    default: 'generated once into the data dir',
    meaning: 'master secret, at least 32 characters, the same for all processes; sessions and stored secrets depend on it',
    secret: true,
  },
  SVC_SIGNUP: { default: 'on', meaning: 'off: nobody can sign up' },
  SVC_STRUCTURING: { default: 'on', meaning: 'off: uploads land as they are, and nothing is charged for them' },
  SVC_RATE_LIMITS: { default: 'on', meaning: 'off: requests are not limited' },
  SVC_LOG_LEVEL: { default: 'info', meaning: 'fatal, error, warn, info, debug, trace or silent' },
  DATABASE_URL: { default: 'embedded PostgreSQL', meaning: 'postgres://user:password@host:port/database', secret: true },
  TEMPORAL_ADDRESS: { default: 'embedded server', meaning: "host:port of Temporal's frontend" },
  TEMPORAL_NAMESPACE: { default: 'default', meaning: 'namespace of the workflows' },
  TEMPORAL_TASK_QUEUE: { default: 'workbooks', meaning: 'task queue of the workers' },
  TEMPORAL_TLS: { default: 'off, or on when an API key or a certificate is given', meaning: 'on: connect to Temporal by TLS' },
  TEMPORAL_TLS_CLIENT_CERT_PATH: { default: 'none', meaning: 'file with the client certificate (PEM)' },
  TEMPORAL_TLS_CLIENT_KEY_PATH: { default: 'none', meaning: 'file with the key of that certificate (PEM)' },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: { default: "the system's", meaning: 'file with the authority that signed the server (PEM)' },
  TEMPORAL_TLS_SERVER_NAME: { default: 'host of TEMPORAL_ADDRESS', meaning: 'name expected in the certificate of the server' },
  TEMPORAL_API_KEY: { default: 'none', meaning: 'API key for Temporal Cloud', secret: true },
  TEMPORAL_CLI: { default: 'found, downloaded or built', meaning: 'path of the temporal program that runs the embedded server' },
  TEMPORAL_UI_PORT: { default: '8233', meaning: "port of the operators' page of the embedded Temporal" },
  BLOB_URL: { default: 'a folder in the data dir', meaning: 'file:///folder or s3://bucket/prefix' },
  S3_ENDPOINT: { default: "the provider's own", meaning: 'address of an S3-compatible store' },
  S3_REGION: { default: 'us-east-1', meaning: 'region of the bucket' },
  S3_ACCESS_KEY_ID: { default: 'none', meaning: 'needed with BLOB_URL=s3://…' },
  S3_SECRET_ACCESS_KEY: { default: 'none', meaning: 'needed with BLOB_URL=s3://…', secret: true },
  OIDC_ISSUER: { default: 'none', meaning: 'address of an OpenID Connect issuer whose tokens are accepted as sessions' },
  OIDC_AUDIENCE: { default: 'none', meaning: 'audience those tokens must carry; needed with OIDC_ISSUER' },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;
export const variableNames = Object.keys(variables) as VariableName[];
