import { DomainError } from '../../core/errors.ts';

export const formatEventId = (streamId: string, number: number) => `${streamId}.${number}`;

export function parseEventId(id: string): { streamId: string; after: number } {
  const [, streamId, number] = /^([0-9a-f-]{1,40})\.(\d{1,9})$/.exec(id) ?? [];
  if (streamId !== undefined) return { streamId, after: Number(number) };
  throw new DomainError(
    'malformed-request',
    'Last-Event-ID is not the id of an event of this service.',
    'Send the id of the last event that came.',
  );
}
