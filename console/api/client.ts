import createClient from 'openapi-fetch';
import type { components, paths } from '../../schema/contract.ts';
import { Problem, type ProblemDocument, Unreachable } from './problem.ts';

export type Schemas = components['schemas'];

/** Marks requests of this page: no form and no picture of another page can send it. */
const consoleHeader = { 'X-SVC-Console': '1' };

/** A token that somebody has pasted. It is nowhere but in memory, so a reload forgets it. */
let pastedToken: string | null = null;
export const setToken = (token: string | null): void => {
  pastedToken = token;
};
export const hasToken = (): boolean => pastedToken !== null;

const credentials = (): Record<string, string> => (pastedToken ? { Authorization: `Bearer ${pastedToken}` } : {});

/** Told when the service does not know us any more. */
let onLoggedOut: () => void = () => {};
export const whenLoggedOut = (callback: () => void): void => {
  onLoggedOut = callback;
};

/** Counts log-ins: what was sent before one says nothing about the session that it began. */
let logIns = 0;
export const countLogIn = (): void => {
  logIns += 1;
};

/** The one way out of the page: marked, with our credential, and with words for a lost connection. */
export async function send(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  for (const [name, value] of Object.entries({ ...consoleHeader, ...credentials() })) request.headers.set(name, value);
  const sentAfter = logIns;
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new Unreachable();
  }
  if (response.status === 401 && sentAfter === logIns && !request.url.endsWith('/api/auth/console')) onLoggedOut();
  return response;
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of an answer; a refusal is thrown as a problem. */
export async function ask<T>(answering: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await answering;
  if (error !== undefined || !response.ok) throw toProblem(error, response);
  return data as NonNullable<T>;
}

/** For answers without a body. */
export async function tell(answering: Promise<Answer<unknown>>): Promise<void> {
  const { error, response } = await answering;
  if (error !== undefined || !response.ok) throw toProblem(error, response);
}

export function toProblem(error: unknown, response: Pick<Response, 'status' | 'statusText' | 'headers'>): Problem {
  if (typeof error === 'object' && error !== null && 'detail' in error) return new Problem(error as ProblemDocument);
  return new Problem({
    type: 'about:blank',
    title: `HTTP ${response.status}`,
    status: response.status,
    detail: typeof error === 'string' && error.length < 200 && error !== '' ? error : `HTTP ${response.status} ${response.statusText}`,
    suggested_fix: '',
    instance: response.headers.get('X-Request-Id') ?? '',
  });
}

/** Sends a form with a file, and tells from 0 to 1 how much of it is gone, which only this way of asking can. */
export function upload(path: string, form: FormData, onProgress: (share: number) => void, signal: AbortSignal): Promise<unknown> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    const sentAfter = logIns;
    request.open('POST', path);
    for (const [name, value] of Object.entries({ ...consoleHeader, ...credentials() })) request.setRequestHeader(name, value);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onerror = () => fail(new Unreachable());
    request.onabort = () => fail(signal.reason);
    request.onload = () => {
      const { status, statusText } = request;
      if (status >= 200 && status < 300) return done(request.response);
      if (status === 401 && sentAfter === logIns) onLoggedOut();
      fail(toProblem(request.response, { status, statusText, headers: new Headers() }));
    };
    signal.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

/** A file, by an operation that answers with one. It is given to the browser as a download. */
export async function download(path: string, filename: string, init?: RequestInit): Promise<Response> {
  const response = await send(new URL(path, location.origin).href, init);
  if (!response.ok) throw toProblem(await response.json().catch(() => null), response);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = nameOf(response) ?? filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return response;
}

function nameOf(response: Response): string | null {
  const given = response.headers.get('Content-Disposition') ?? '';
  const [, encoded] = /filename\*=UTF-8''([^;]+)/i.exec(given) ?? [];
  const [, plain] = /filename="([^"]+)"/.exec(given) ?? [];
  return encoded ? decodeURIComponent(encoded) : (plain ?? null);
}
