import type pg from 'pg';

/**
 * SQL that waits until all earlier commits are on disk. Commits themselves do not wait, because they would hold their locks
 * meanwhile. It must be sent on the connection of the commit: if the server crashes in between, the connection breaks.
 */
export const flushSql = `SELECT pg_logical_emit_message(true, 'flush', '')`;

/** Sends the statements that `send` issues without waiting in one network packet. */
export function sendTogether<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
