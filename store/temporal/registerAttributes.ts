import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type Connection, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type pino from 'pino';
import { searchAttributeNames } from './searchAttributes.ts';

const keyword = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
const alreadyExists = 6;
const maxWaitMs = 30_000;
const deadlineMs = 5_000;

/** The part of a connection that is used here. */
export type Operator = Pick<Connection, 'operatorService' | 'withDeadline'>;

/**
 * Registers the search attributes that the server does not know yet. Safe to run in several processes at once. Without the
 * permission it logs what to do and continues: an operator may have registered them, and if not, the server will say so.
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

/** New attributes take some seconds to reach all of a server; until then it refuses workflows that carry them. */
export async function waitForAttributes(client: Client): Promise<void> {
  const query = searchAttributeNames.map((name) => `${name} = 'nothing'`).join(' AND ');
  for (const until = Date.now() + maxWaitMs; ; await delay(200)) {
    try {
      await client.workflow.count(query);
      return;
    } catch {
      // Whoever uses the attributes will get a clear error.
      if (Date.now() > until) return;
    }
  }
}
