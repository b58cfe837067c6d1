import type { ModelConfig } from '../config.ts';

export interface ModelMessage {
  role: 'system' | 'user';
  content: string;
}

/** Why there is no answer, in words for whoever asked; nothing of what the model or its server said. */
export class ModelUnavailable extends Error {}

const mostAnswerBytes = 1024 * 1024;

/** The JSON that a model answers with. It comes from outside: whoever uses it checks every part of it. */
export async function askModel(config: ModelConfig, messages: ModelMessage[], signal?: AbortSignal): Promise<unknown> {
  const timeout = AbortSignal.timeout(config.timeMs);
  try {
    const answer = await fetch(`${config.url}/chat/completions`, {
      method: 'POST',
      // An address that sends elsewhere is not the one that was configured.
      redirect: 'error',
      headers: { 'Content-Type': 'application/json', ...(config.key === null ? {} : { Authorization: `Bearer ${config.key}` }) },
      body: JSON.stringify({ model: config.name, messages, temperature: 0, response_format: { type: 'json_object' } }),
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new ModelUnavailable(`it answered with the status ${answer.status}`);
    }
    return readContent(await readLimited(answer));
  } catch (error) {
    if (error instanceof ModelUnavailable || signal?.aborted) throw error;
    throw new ModelUnavailable(timeout.aborted ? `it did not answer within ${config.timeMs / 1000} seconds` : 'it could not be reached');
  }
}

async function readLimited(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > mostAnswerBytes) throw new ModelUnavailable('its answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function readContent(text: string): unknown {
  try {
    const { choices } = JSON.parse(text) as { choices: { message: { content: string } }[] };
    const content = choices[0]?.message.content ?? '';
    // Some wrap JSON in a fence although they were asked for JSON alone.
    return JSON.parse(content.trim().replace(/^```(?:json)?\s*([\s\S]*?)\s*```$/, '$1'));
  } catch {
    throw new ModelUnavailable('its answer is not the JSON that was asked for');
  }
}
