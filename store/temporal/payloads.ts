import { join } from 'node:path';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import { projectDir, type TemporalConfig } from '../config.ts';
import { sealPayloads } from './sealPayloads.ts';

const mostBytes = 64 * 1024;

/** Workflows pass ids, never content. A larger payload is a bug, and this makes it fail where it is created. */
const refuseLarge: PayloadCodec = {
  async encode(payloads: Payload[]): Promise<Payload[]> {
    for (const payload of payloads) {
      const bytes = payload.data?.length ?? 0;
      if (bytes > mostBytes) throw new Error(`a workflow payload has ${bytes} bytes; pass an id instead of content`);
    }
    return payloads;
  },
  decode: async (payloads: Payload[]) => payloads,
};

/** In the sources, because it is loaded by its path. */
export const failureConverterPath = join(projectDir, 'store/temporal/sealedFailures.cjs');

/** For clients and workers alike. */
export function makeDataConverter({ keys }: Pick<TemporalConfig, 'keys'>): DataConverter {
  if (keys.length === 0) return { payloadCodecs: [refuseLarge] };
  return { payloadCodecs: [refuseLarge, sealPayloads(keys)], failureConverterPath };
}
