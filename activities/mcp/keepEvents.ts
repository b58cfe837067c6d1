import { describeErrorForLog } from '../../store/log.ts';
import { insertMcpEvent } from '../../store/pg/mcpSessions.ts';
import { seal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { formatEventId } from './eventId.ts';
import type { McpSession } from './session.ts';

/** How many events a session keeps. They also go after some minutes. */
const mostEvents = 100;

/** Keeps what is sent on the stream of one request, so that a client whose connection broke can ask for it again. */
export function keepEvents(services: Services, session: McpSession) {
  let sent = -1;
  return {
    /** The first event of a stream is empty, and says where it begins; an empty one is not kept. */
    async storeEvent(streamId: string, message: object): Promise<string> {
      sent += 1;
      const number = sent;
      if (Object.keys(message).length > 0) {
        const sealed = seal(session.key, Buffer.from(JSON.stringify(message)));
        const isLast = 'result' in message || 'error' in message;
        const { idHash: sessionHash, accountId } = session;
        const event = { sessionHash, accountId, streamId, number, message: sealed, isLast };
        await insertMcpEvent(services.db.pool, event, mostEvents).catch((error: unknown) => {
          // Whoever is still connected gets it all the same.
          services.log.warn(describeErrorForLog(error), 'an answer was not kept');
        });
      }
      return formatEventId(streamId, number);
    },
    /** Streams are taken up again by whichever process is asked, see followEvents. */
    replayEventsAfter: (): Promise<never> => Promise.reject(new Error('streams are taken up again elsewhere')),
  };
}
