import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type Connection, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type pino from 'pino';
import { searchAttributeNames } from './searchAttributes.ts';

const keyword = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
const alreadyExists = 6;
const patienceMs = 30_000;
const deadlineMs = 5_000;

/** What of a connection is needed: a server's frontend. */
export type Operator = Pick<Connection, 'operatorService' | 'withDeadline'>;

/**
 * Registers what an operator filters by, where the server does not know it yet. Any number of processes may do it at once. One
 * that may not do it says what is to be done, and goes on: somebody may have done it, and the server tells when not.
 */
export async function registerAttributes(
  operator: Operator,
  namespace: string,
  log: Pick<pino.Logger, 'info' | 'warn'>,
): Promise<'known' | 'registered' | 'refused'> {
  const { operatorService } = operator;
  const ask = <T>(call: () => Promise<T>) => operator.withDeadline(Date.now() + deadlineMs, call);
  try {
    const { customAttributes } = await ask(() => operatorService.listSearchAttributes({ namespace }));
    const wrong = searchAttributeNames.filter((name) => name in (customAttributes ?? {}) && customAttributes?.[name] !== keyword);
    if (wrong.length > 0)
      log.warn(
        { namespace, attributes: wrong },
        'search attributes of the Temporal namespace are not of the type Keyword: register them anew',
      );
    const missing = searchAttributeNames.filter((name) => !(name in (customAttributes ?? {})));
    if (missing.length === 0) return 'known';
    const searchAttributes = Object.fromEntries(missing.map((name) => [name, keyword]));
    await ask(() => operatorService.addSearchAttributes({ namespace, searchAttributes }));
    log.info({ namespace, attributes: missing }, 'search attributes registered');
    return 'registered';
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    if (error.code === alreadyExists) return 'registered';
    log.warn(
      { namespace, attributes: searchAttributeNames, reason: error.details },
      'search attributes could not be registered: unless they are there, register them as Keyword in the Temporal namespace',
    );
    return 'refused';
  }
}

/** A server takes some seconds until it knows its new attributes everywhere; until then it refuses what carries them. */
export async function waitForAttributes(client: Client): Promise<void> {
  const query = searchAttributeNames.map((name) => `${name} = 'nothing'`).join(' AND ');
  for (const until = Date.now() + patienceMs; ; await delay(200)) {
    try {
      await client.workflow.count(query);
      return;
    } catch {
      // Whatever needs them will say what is wrong.
      if (Date.now() > until) return;
    }
  }
}
