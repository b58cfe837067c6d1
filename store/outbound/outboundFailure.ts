/** Why there is no answer, in words for whoever asked; nothing of what the other side said. */
export class OutboundFailure extends Error {
  override readonly name = 'OutboundFailure';

  constructor(
    readonly reason: 'unreachable' | 'timeout' | 'too-large' | 'broken',
    message: string,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

const timeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const brokenAnswers = /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_|UND_ERR_SOCKET|Z_|ERR_BROTLI)/;

export function toOutboundFailure(error: unknown): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  const { code, name } = error as { code?: unknown; name?: string };
  if (name === 'TimeoutError' || timeouts.has(String(code))) return new OutboundFailure('timeout', 'the other side took too long', error);
  if (name === 'HTTPParserError' || brokenAnswers.test(String(code)))
    return new OutboundFailure('broken', 'the answer broke off or cannot be read', error);
  if (/CERT|TLS|SSL/.test(String(code))) return new OutboundFailure('unreachable', 'its certificate is not valid', error);
  return new OutboundFailure('unreachable', 'the other side could not be reached', error);
}
