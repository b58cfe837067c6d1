import { openChannel } from '../../duckdb/sandbox/child/channel.ts';
import { describeFault, type FileReply } from '../fileProcess.ts';
import { endWithParent } from './endWithParent.ts';

type Send = (header: unknown) => void;

/** Inside such a process: answers one request after the other. A value that is bytes is sent as such. `explain` may turn errors into refusals. */
export function serveRequests<Request>(
  open: (send: Send) => Promise<(request: Request) => Promise<unknown>>,
  explain: (error: unknown) => unknown = (error) => error,
): void {
  endWithParent();
  const channel = openChannel();
  const reply = (header: FileReply, body?: Buffer) => channel.send(header, body);
  void open(channel.send).then((handle) =>
    channel.serve(async (request) => {
      try {
        const value = await handle(request as Request);
        if (Buffer.isBuffer(value)) reply({ ok: true, value: null }, value);
        else reply({ ok: true, value });
      } catch (error) {
        reply(describeFault(explain(error)));
      }
    }),
  );
}
