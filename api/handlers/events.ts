import { followEvents, takeStream } from '../../activities/events/followEvents.ts';
import { findStart, pageEvents } from '../../activities/events/pageEvents.ts';
import type { Handlers } from '../http/call.ts';
import { eventHeaders, type StreamedEvent, streamEvents } from '../http/eventStream.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentEvent } from '../presenters/webhooks.ts';

export function makeEventHandlers({ services }: ApiParts): Handlers<'listEvents'> {
  return {
    async listEvents({ principal, query, header, type }) {
      const { events: types, workbook_id: workbookId, cursor, limit } = query;
      const wanted = { types, workbookId, cursor, limit, lastEventId: header('Last-Event-ID') };
      const start = await findStart(services, wanted);
      const page = await pageEvents(services, principal, wanted, start);
      if (type !== 'text/event-stream')
        return { status: 200, body: { events: page.items.map(presentEvent), next_cursor: page.nextCursor } };
      const leave = takeStream(services, principal);
      const follow = async function* (signal: AbortSignal): AsyncGenerator<StreamedEvent | null> {
        for await (const event of followEvents(services, principal, wanted, { after: start, signal }))
          yield event && { id: event.id, name: event.type, data: presentEvent(event) };
      };
      return { status: 200, headers: eventHeaders, raw: { type, data: streamEvents(follow, leave) } };
    },
  };
}
