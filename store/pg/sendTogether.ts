import type pg from 'pg';

/**
 * Makes all that was committed before it durable. Commits that wait for the disk would hold their locks meanwhile: they do not
 * wait, and this goes behind them. On the same connection: one that lived through both was served by one run of the server,
 * so a crash in between cannot go unnoticed.
 */
export const flush = `SELECT pg_logical_emit_message(true, 'flush', '')`;

/** In one packet, as far as it is sent without waiting. */
export function sendTogether<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
