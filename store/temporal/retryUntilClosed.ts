import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Start = Call['start'];
interface Listener {
  onReceiveMessage(message: null): void;
  onReceiveStatus(status: { code: number; details: string; metadata: unknown }): void;
}

const cancelled = 1;

/**
 * Calls are tried again as Temporal's client does by itself, and end where the connection was closed in the meantime: the next try
 * of a call that waited would otherwise throw out of its timer, which ends the process.
 */
export const retryUntilClosed: Interceptor[] = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endWhenClosed];

function endWhenClosed(options: Parameters<Interceptor>[0], nextCall: Parameters<Interceptor>[1]): Call {
  try {
    return nextCall(options) as Call;
  } catch (error) {
    return makeEndedCall((error as Error).message) as Call;
  }
}

/** What is asked of a call by those who begin one and by the interceptors before this one. */
type AskedOfCall = 'start' | 'sendMessage' | 'sendMessageWithContext' | 'halfClose' | 'cancelWithStatus' | 'startRead' | 'getPeer';

function makeEndedCall(details: string): Pick<Call, AskedOfCall> {
  const start = (metadata: unknown, listener: Listener) => {
    setImmediate(() => {
      // As a call that failed does: who tries again waits for a message before the status.
      listener.onReceiveMessage(null);
      listener.onReceiveStatus({ code: cancelled, details, metadata });
    });
  };
  const ignore = () => {};
  return {
    start: start as Start,
    sendMessage: ignore,
    sendMessageWithContext: ignore,
    halfClose: ignore,
    cancelWithStatus: ignore,
    startRead: ignore,
    getPeer: () => '',
  };
}
