import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { PayloadKey } from '../config.ts';
import { seal, unseal } from '../secrets.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** As Temporal's samples name them, so that others' tools recognise them. */
const encoding = 'binary/encrypted';
const keyIdName = 'encryption-key-id';

/**
 * Encrypts payloads (AES-256-GCM) with the first key, and decrypts them with whichever they name. Payloads of before there were keys
 * are passed on as they are.
 */
export function sealPayloads(keys: PayloadKey[]): PayloadCodec {
  const [first] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    async encode(payloads) {
      if (!first) return payloads;
      return payloads.map((payload) => ({
        metadata: { encoding: Buffer.from(encoding), [keyIdName]: Buffer.from(first.id) },
        data: seal(first.key, Buffer.from(PayloadMessage.encode(payload).finish())),
      }));
    },
    decode: async (payloads) => payloads.map((payload) => decode(payload, byId)),
  };
}

function decode(payload: Payload, byId: Map<string, Buffer>): Payload {
  const read = (name: string) => Buffer.from(payload.metadata?.[name] ?? []).toString();
  if (read('encoding') !== encoding) return payload;
  const key = byId.get(read(keyIdName));
  if (!key) throw new Error(`a payload is encrypted with the key ${read(keyIdName)}, which is not among SVC_TEMPORAL_KEYS`);
  return PayloadMessage.decode(unseal(key, Buffer.from(payload.data ?? [])));
}
