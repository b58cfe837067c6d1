import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { takePlace } from '../../activities/jobs/followJob.ts';
import { beginSession } from '../../activities/mcp/beginSession.ts';
import { endSession } from '../../activities/mcp/endSession.ts';
import { parseEventId } from '../../activities/mcp/eventId.ts';
import { followEvents } from '../../activities/mcp/followEvents.ts';
import { keepEvents } from '../../activities/mcp/keepEvents.ts';
import { requireSession } from '../../activities/mcp/requireSession.ts';
import { DomainError } from '../../core/errors.ts';
import type { Services } from '../../store/services.ts';
import type { Call, Handlers, Reply } from '../http/call.ts';
import { eventHeaders, streamEvents } from '../http/eventStream.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { makeAsk } from '../mcp/askOperation.ts';
import { findTool } from '../mcp/callTool.ts';
import { makeServer } from '../mcp/makeServer.ts';

const streamType = 'text/event-stream';
const sessionHeader = 'Mcp-Session-Id';
const versionHeader = 'MCP-Protocol-Version';
/** How soon a client takes up a stream that broke. */
const retryMs = 1000;

type Message = Call<'postMcp'>['body'];

/** `others` are all handlers, whose operations the tools stand for. */
export function makeMcpHandlers(parts: ApiParts, others: () => Handlers): Handlers<'postMcp' | 'openMcpStream' | 'closeMcpSession'> {
  const { services, contract } = parts;
  return {
    async postMcp(call) {
      const { principal, body: message, requestId, address } = call;
      requireKnownOrigin(services, call.header);
      const version = requireKnownVersion(call.header(versionHeader));
      const begun = message.method === 'initialize' ? await beginSession(services, principal) : null;
      const session = await requireSession(services, principal, begun ?? call.header(sessionHeader));
      const ask = makeAsk(parts, others(), { principal, requestId, address });
      const server = makeServer(contract.version, { services, principal, actor: call.actor(), ask });
      const isStream = wantsStream(call, message);
      const transport = new WebStandardStreamableHTTPServerTransport({
        enableJsonResponse: !isStream,
        retryInterval: retryMs,
        ...(isStream ? { eventStore: keepEvents(services, session) } : {}),
      });
      await server.connect(transport);
      const response = await transport.handleRequest(describeRequest(version), { parsedBody: message });
      return presentResponse(response, begun === null ? {} : { [sessionHeader]: begun });
    },

    async openMcpStream({ principal, header }) {
      requireKnownOrigin(services, header);
      if (!header('Accept')?.includes(streamType)) throw noStream('A stream of events is all that GET has here.');
      requireKnownVersion(header(versionHeader));
      const session = await requireSession(services, principal, header(sessionHeader));
      const after = header('Last-Event-ID');
      if (after === null) throw noStream('The service sends nothing that was not asked for.');
      parseEventId(after);
      const leave = takePlace(services, principal);
      const events = streamEvents((signal) => followEvents(services, session, after, signal), leave);
      return { status: 200, headers: eventHeaders, raw: { type: streamType, data: events } };
    },

    async closeMcpSession({ principal, header }) {
      requireKnownOrigin(services, header);
      await endSession(services, principal, header(sessionHeader));
      return { status: 204 };
    },
  };
}

/**
 * What only reads is answered as JSON: asking again costs little. What changes something is answered by a stream, which can be
 * taken up again when the connection breaks, so that the client learns what was done.
 */
function wantsStream({ header, type }: Call<'postMcp'>, { method, params }: Message): boolean {
  if (!header('Accept')?.includes(streamType)) return false;
  if (type === streamType) return true;
  return method === 'tools/call' && findTool(String(params?.name))?.annotations.readOnlyHint === false;
}

/** Only browsers send an origin. Pages from elsewhere are kept out, as the protocol wants it, unless the installation lets them in. */
function requireKnownOrigin({ config: { corsOrigins } }: Services, header: (name: string) => string | null): void {
  const origin = header('Origin');
  if (origin === null || corsOrigins.includes('*') || corsOrigins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === header('Host')) return;
  throw new DomainError(
    'outside-reach',
    'Pages of this origin may not use MCP here.',
    'Add the origin to SVC_CORS_ORIGINS, or connect from a program instead of a page.',
  );
}

function requireKnownVersion(version: string | null): string | null {
  if (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return version;
  throw new DomainError(
    'malformed-request',
    `The protocol version ${version} is not known here.`,
    `Use one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
  );
}

/** The contract has checked the request already; what is left of it is what the protocol needs. */
function describeRequest(version: string | null): Request {
  const headers = { accept: `application/json, ${streamType}`, 'content-type': 'application/json' };
  return new Request('http://localhost/mcp', { method: 'POST', headers: { ...headers, ...(version ? { [versionHeader]: version } : {}) } });
}

async function presentResponse(response: Response, headers: Record<string, string>): Promise<Reply<'postMcp'>> {
  if (response.status === 202) return { status: 202, headers };
  if (response.status !== 200) {
    const { error } = (await response.json()) as { error: { message: string } };
    throw new DomainError('malformed-request', `${error.message}.`, 'Send a JSON-RPC message as the Model Context Protocol describes it.');
  }
  if (response.headers.get('content-type') === streamType) {
    const data = Readable.fromWeb(response.body as ReadableStream);
    return { status: 200, headers: { ...headers, ...eventHeaders }, raw: { type: streamType, data } };
  }
  return { status: 200, headers, raw: { type: 'application/json', data: await response.text() } };
}

function noStream(detail: string): DomainError {
  const allow = ['POST', 'DELETE', 'OPTIONS'];
  return new DomainError(
    'method-not-allowed',
    detail,
    'Send messages by POST. With Last-Event-ID and Accept: text/event-stream, GET takes up a stream that broke.',
    { headers: { Allow: allow.join(', ') }, members: { allow } },
  );
}
