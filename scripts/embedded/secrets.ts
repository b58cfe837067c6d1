import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Made once for a data dir and kept in its secrets.json. */
interface Secrets {
  /** SVC_SECRET when it is not given. */
  service: string;
  /** Passwords of the embedded PostgreSQL: its superuser, and the role the service uses. */
  postgresAdmin: string;
  postgresService: string;
  /** Of the storage that `npm run cluster` starts. */
  s3: string;
}

export function ensureSecrets(dataDir: string): Secrets {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'secrets.json');
  const kept = readSecrets(path);
  const secrets: Secrets = {
    service: kept.service ?? newSecret(),
    postgresAdmin: kept.postgresAdmin ?? newSecret(),
    postgresService: kept.postgresService ?? newSecret(),
    s3: kept.s3 ?? newSecret(),
  };
  if (Object.keys(secrets).some((key) => kept[key as keyof Secrets] === undefined)) writeSecretFile(path, secrets);
  return secrets;
}

/** Null when the data dir has none yet; nothing is made. */
export function readServiceSecret(dataDir: string): string | null {
  return readSecrets(join(dataDir, 'secrets.json')).service ?? null;
}

/** For data that was made with this secret. */
export function keepServiceSecret(dataDir: string, service: string): void {
  writeSecretFile(join(dataDir, 'secrets.json'), { ...ensureSecrets(dataDir), service });
}

/** Readable by its owner alone, and never seen half-written. */
export function writeSecretFile(path: string, content: unknown): void {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
  const temporary = `${path}.${process.pid}.new`;
  writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

function readSecrets(path: string): Partial<Secrets> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as Partial<Secrets>;
  } catch {
    throw new Error(`${path} is not readable JSON. Restore it, or delete the data dir for a fresh start.`);
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
