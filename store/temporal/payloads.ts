import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

const mostBytes = 64 * 1024;

/** Workflows pass ids, never content: a larger payload is a mistake, and it is found where it is made. */
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
