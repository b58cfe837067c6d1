import pg from 'pg';

export interface Statement {
  name?: string;
  text: string;
  values: unknown[];
}

/** The statements that go out, from this process, while something is done. */
export async function watchStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function watched(this: pg.Client, ...args: unknown[]) {
    const [first, second] = args as [string | Statement, unknown];
    const { name, text, values } = typeof first === 'string' ? { text: first, values: undefined, name: undefined } : first;
    sent.push({ name, text, values: values ?? (Array.isArray(second) ? second : []) });
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}
