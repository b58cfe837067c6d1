import { readFileSync } from 'node:fs';
import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import type pino from 'pino';
import { DomainError } from '../../core/errors.ts';
import type { TemporalConfig } from '../config.ts';
import { dataConverter } from './payloads.ts';
import { registerAttributes, waitForAttributes } from './registerAttributes.ts';

export interface Temporal {
  client: Client;
  describeNamespace(): Promise<void>;
  close(): Promise<void>;
}

/** Used by clients and workers. */
export function connectionOptions(config: TemporalConfig): ConnectionOptions {
  const read = (path: string | null) => (path === null ? undefined : readFileSync(path));
  const { tls } = config;
  return {
    address: config.address ?? undefined,
    apiKey: config.apiKey ?? undefined,
    tls: tls
      ? {
          serverNameOverride: tls.serverName ?? undefined,
          serverRootCACertificate: read(tls.caPath),
          clientCertPair: tls.certPath && tls.keyPath ? { crt: readFileSync(tls.certPath), key: readFileSync(tls.keyPath) } : undefined,
        }
      : undefined,
  };
}

export function temporalAway(cause: unknown): DomainError {
  return new DomainError('unavailable', 'The workflow server cannot be reached just now.', 'Try again in a few seconds.', {
    cause,
    headers: { 'Retry-After': '5' },
  });
}

export async function connectTemporal(config: TemporalConfig, log: pino.Logger): Promise<Temporal> {
  const connection = await Connection.connect({ ...connectionOptions(config), connectTimeout: '5s' });
  const client = new Client({ connection, namespace: config.namespace, dataConverter });
  try {
    if ((await registerAttributes(connection, config.namespace, log)) === 'registered') await waitForAttributes(client);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    client,
    async describeNamespace() {
      await connection.withDeadline(Date.now() + 3_000, () =>
        connection.workflowService.describeNamespace({ namespace: config.namespace }),
      );
    },
    close: () => connection.close(),
  };
}
