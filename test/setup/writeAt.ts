import { type Actor, commit, type Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';

const actor: Actor = { name: 'test', userId: null, credential: 'none', requestId: 'req_test' };

/** Carries out a change in a transaction, as if it were another time where one is told. */
export function writeAt<T>(services: Services, change: (tx: Tx) => Promise<T>, at?: Date): Promise<T> {
  return commit(
    services,
    actor,
    (tx) => change(at ? { ...tx, at } : tx),
    async (result) => result,
  );
}
