import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

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

/** For clients and workers alike. */
export const dataConverter: DataConverter = { payloadCodecs: [refuseLarge] };
