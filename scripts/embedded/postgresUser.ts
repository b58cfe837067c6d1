import { spawnSync } from 'node:child_process';
import { userInfo } from 'node:os';

/** PostgreSQL refuses to run as root; then it runs as this user. */
export interface PostgresUser {
  name: string;
  ids: { uid: number; gid: number };
}

/** Where root keeps what that user must reach when the project or the data dir lies out of its reach. */
export const sharedDir = '/var/lib/workbook-data-service';

const name = 'postgres';

/** Null when we are not root: PostgreSQL then simply runs as ourselves. */
export function ensurePostgresUser(): PostgresUser | null {
  if (userInfo().uid !== 0) return null;
  const ids = findIds() ?? createUser();
  return { name, ids };
}

/** Really tries, as that user: permission bits alone do not tell about access lists, namespaces and mounts. */
export function canEnter(user: PostgresUser, dir: string): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir], { cwd: '/', stdio: 'ignore', ...user.ids }).status === 0;
}

function findIds(): PostgresUser['ids'] | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function createUser(): PostgresUser['ids'] {
  spawnSync('groupadd', ['--system', name]);
  const made = spawnSync('useradd', ['--system', '--gid', name, '--no-create-home', '--shell', '/bin/false', name], { encoding: 'utf8' });
  // A start beside us may have made it in the same moment, so look before complaining.
  const ids = findIds();
  if (ids) return ids;
  const why = made.error?.message ?? made.stderr.trim();
  throw new Error(
    `PostgreSQL cannot run as root, and a user "${name}" for it could not be made (${why}). Start as a normal user, make that user, or set DATABASE_URL.`,
  );
}
