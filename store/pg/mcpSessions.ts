import type pg from 'pg';

export interface McpEvent {
  number: number;
  message: Buffer;
  isLast: boolean;
}

/** Begins a session. Of those of the credential the ones that were used last stay, `most` in all. */
export async function insertMcpSession(
  pool: pg.Pool,
  session: { idHash: Buffer; accountId: string; credentialId: string },
  most: number,
): Promise<void> {
  await pool.query(
    `WITH surplus AS (
       DELETE FROM mcp_sessions WHERE id_hash IN (
         SELECT id_hash FROM mcp_sessions WHERE credential_id = $3 ORDER BY used_at DESC, id_hash OFFSET $4))
     INSERT INTO mcp_sessions (id_hash, account_id, credential_id)
     SELECT $1, id, $3 FROM (SELECT id FROM accounts WHERE id = $2 AND deleted_at IS NULL FOR KEY SHARE) AS live`,
    [session.idHash, session.accountId, session.credentialId, most - 1],
  );
}

/** Whether the credential has the session, used since `idleMs`. That it is used now is written down once in a while. */
export async function touchMcpSession(
  pool: pg.Pool,
  { idHash, credentialId }: { idHash: Buffer; credentialId: string },
  { idleMs, noteEveryMs }: { idleMs: number; noteEveryMs: number },
): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>({
    name: 'find_mcp_session',
    text: `SELECT used_at < now() - make_interval(secs => $4) AS due FROM mcp_sessions
           WHERE id_hash = $1 AND credential_id = $2 AND used_at > now() - make_interval(secs => $3)`,
    values: [idHash, credentialId, idleMs / 1000, noteEveryMs / 1000],
  });
  const [found] = rows;
  if (found?.due) await pool.query('UPDATE mcp_sessions SET used_at = now() WHERE id_hash = $1', [idHash]);
  return found !== undefined;
}

/** False: the credential has no such session. */
export async function deleteMcpSession(
  pool: pg.Pool,
  { idHash, credentialId }: { idHash: Buffer; credentialId: string },
): Promise<boolean> {
  const { rowCount } = await pool.query('DELETE FROM mcp_sessions WHERE id_hash = $1 AND credential_id = $2', [idHash, credentialId]);
  return rowCount === 1;
}

/** Keeps an event of a session, and of those before it the newest `most - 1`. */
export async function insertMcpEvent(
  pool: pg.Pool,
  event: McpEvent & { sessionHash: Buffer; accountId: string; streamId: string },
  most: number,
): Promise<void> {
  await pool.query({
    name: 'insert_mcp_event',
    text: `WITH surplus AS (
             DELETE FROM mcp_events WHERE (session_hash, stream_id, number) IN (
               SELECT session_hash, stream_id, number FROM mcp_events WHERE session_hash = $1 ORDER BY created_at DESC OFFSET $7))
           INSERT INTO mcp_events (session_hash, account_id, stream_id, number, message, is_last)
           SELECT id_hash, $2, $3, $4, $5, $6 FROM mcp_sessions WHERE id_hash = $1`,
    values: [event.sessionHash, event.accountId, event.streamId, event.number, event.message, event.isLast, most - 1],
  });
}

export async function listMcpEvents(
  pool: pg.Pool,
  { sessionHash, streamId, after }: { sessionHash: Buffer; streamId: string; after: number },
): Promise<McpEvent[]> {
  const { rows } = await pool.query<McpEvent>(
    `SELECT number, message, is_last AS "isLast" FROM mcp_events
     WHERE session_hash = $1 AND stream_id = $2 AND number > $3 ORDER BY number`,
    [sessionHash, streamId, after],
  );
  return rows;
}
