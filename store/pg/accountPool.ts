import pg from 'pg';
import { currentAccounts } from './accountScope.ts';

type Release = (error?: Error | boolean) => void;
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: Release) => void;

/** Last `svc.accounts` per connection; unset sees no rows. */
const lastAccounts = new WeakMap<pg.PoolClient, string>();

/**
 * A pool whose connections see only the rows of the current accounts. `svc.accounts` is sent only when it differs from the
 * connection's last value, so that a busy account does not pay for it with every statement.
 */
export class AccountPool extends pg.Pool {
  /** The accounts whose rows a statement sent now would see. */
  accounts(): string {
    return currentAccounts();
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    // Read now: when a connection becomes free, the code of another request is running.
    const accounts = this.accounts();
    this.putFirst(accounts);
    const connected = super.connect().then((client) => setAccounts(client, accounts));
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  /** Of the free connections one that shows the rows of these accounts already is taken next: it need not be told. */
  private putFirst(accounts: string): void {
    // The pool takes the last of this list, which it does not tell of.
    const { _idle: idle = [] } = this as unknown as { _idle?: { client: pg.PoolClient }[] };
    const found = idle.findLastIndex(({ client }) => (lastAccounts.get(client) ?? '') === accounts);
    if (found >= 0) idle.push(...idle.splice(found, 1));
  }

  /** For transactions, which set `svc.accounts` themselves together with BEGIN. */
  connectForTransaction(): Promise<pg.PoolClient> {
    return super.connect();
  }
}

async function setAccounts(client: pg.PoolClient, accounts: string): Promise<pg.PoolClient> {
  if ((lastAccounts.get(client) ?? '') === accounts) return client;
  try {
    await client.query({ name: 'svc_accounts', text: "SELECT set_config('svc.accounts', $1, false)", values: [accounts] });
  } catch (error) {
    // It is unknown whose rows the connection shows, so it is closed.
    client.release(error as Error);
    throw error;
  }
  lastAccounts.set(client, accounts);
  return client;
}
