import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AskedOfModel {
  path: string;
  authorization: string | undefined;
  model: string;
  messages: { role: string; content: string }[];
}

type Answer = unknown | ((asked: AskedOfModel, response: ServerResponse) => void);

export interface ModelServer {
  url: string;
  asked: AskedOfModel[];
  /** What the next questions are answered with: the content of a message, or a way to answer otherwise. */
  answers: Answer[];
  stop(): Promise<void>;
}

/** A server that speaks the protocol of OpenAI's chat completions and says what it is told to. */
export async function startModelServer(): Promise<ModelServer> {
  const asked: AskedOfModel[] = [];
  const answers: Answer[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { model, messages } = JSON.parse(body) as AskedOfModel;
      const question = { path: request.url ?? '', authorization: request.headers.authorization, model, messages };
      asked.push(question);
      const answer = answers.shift() ?? { findings: [], verdicts: [] };
      if (typeof answer === 'function') return answer(question, response);
      const content = typeof answer === 'string' ? answer : JSON.stringify(answer);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    answers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
