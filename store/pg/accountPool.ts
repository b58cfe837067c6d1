import pg from 'pg';
import { accountsInForce } from './whoseRows.ts';

type Release = (error?: Error | boolean) => void;
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: Release) => void;

/** What each connection was last told. One that is not here was told nothing, and shows no row of any account. */
const told = new WeakMap<pg.PoolClient, string>();

/**
 * Connections that show the rows of whoever the work is for. A connection is told whom it works for when that is another than
 * the last time, so that one busy account pays for it once.
 */
export class AccountPool extends pg.Pool {
  /** Whose rows a statement would see that is sent now. */
  accounts(): string {
    return accountsInForce();
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    // Here, and not when a connection is free: that happens in the course of somebody else's work.
    const accounts = this.accounts();
    const connected = super.connect().then((client) => tell(client, accounts));
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  /** For a transaction that says itself whose rows it is about, together with its beginning. */
  connectForTransaction(): Promise<pg.PoolClient> {
    return super.connect();
  }
}

async function tell(client: pg.PoolClient, accounts: string): Promise<pg.PoolClient> {
  if ((told.get(client) ?? '') === accounts) return client;
  try {
    await client.query({ name: 'svc_accounts', text: "SELECT set_config('svc.accounts', $1, false)", values: [accounts] });
  } catch (error) {
    // Nobody knows whose rows it shows: it is not used again.
    client.release(error as Error);
    throw error;
  }
  told.set(client, accounts);
  return client;
}
