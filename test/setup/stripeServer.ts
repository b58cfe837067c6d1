import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { StripeAccount, type StripeObject } from './stripeObjects.ts';

/*
 * A server that speaks Stripe's wire format, with state: forms in, JSON out, idempotency keys, errors as documented.
 */

interface Answer {
  status: number;
  body: object;
}

/** What happens to a request instead of its answer. `lost`: it is carried out, but nobody hears of it. */
type Fault = 'cut' | 'lost' | number;

export interface StripeServer {
  url: string;
  account: StripeAccount;
  /** Method and path of all requests so far. */
  asked: string[];
  /** For the next requests whose method and path match, one each. */
  faults: { matches: RegExp; fault: Fault }[];
  /** The next request that matches is carried out when the returned function is called; `arrived` says when it is there. */
  hold(matches: RegExp): { arrived: Promise<void>; release(): void };
  stop(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever was sent.
type Params = any;

/** `a[b][0]=c` as an object. */
function readForm(form: string): Params {
  const root: Params = {};
  for (const [name, value] of new URLSearchParams(form)) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '');
    let place = root;
    keys.forEach((key, i) => {
      const isLast = i === keys.length - 1;
      place[key] ??= isLast ? value : /^\d*$/.test(keys[i + 1] ?? 'x') ? [] : {};
      place = place[key];
    });
  }
  return root;
}

const refuse = (status: number, error: object): Answer => ({ status, body: { error: { type: 'invalid_request_error', ...error } } });
const missing = (what: string, param = 'id') => refuse(404, { code: 'resource_missing', message: `No such ${what}`, param });
const noCustomer = (id: string) => ({ ...missing(`customer: '${id}'`, 'customer'), status: 400 });
const list = (data: object[]): Answer => ({ status: 200, body: { object: 'list', has_more: false, data } });
const show = (body: object): Answer => ({ status: 200, body });

/** Puts objects in the place of their ids where the request wants that. */
function expand(account: StripeAccount, object: StripeObject, paths: string[] = []): StripeObject {
  const shown = structuredClone(object);
  for (const path of paths) {
    let place: Params = shown;
    const steps = path.split('.');
    steps.forEach((step, i) => {
      const value = place?.[step];
      if (typeof value === 'string') place[step] = structuredClone(account.get(value));
      place = i < steps.length - 1 ? place?.[step] : place;
    });
  }
  return shown;
}

function answer(account: StripeAccount, method: string, path: string, params: Params): Answer {
  const [, kind = '', id, verb] = /^\/v1\/((?:checkout|billing_portal)\/sessions|\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
  const found = id === undefined ? undefined : account.objects.get(id);
  if (id !== undefined && !found) return missing(`${kind}: ${id}`);
  if (found && verb === 'lines') return list(found.all_lines.slice(0, Number(params.limit ?? 10)));
  if (found && method === 'GET') return show(expand(account, found, params.expand));
  if (found && method === 'DELETE') {
    if (found.status === 'canceled') return missing(`subscription: ${id}`);
    account.end(found.id);
    return show(found);
  }
  if (found) return change(account, found, verb, params);
  const ofCustomer = (one: StripeObject) => one.customer === params.customer;
  const amount = Number(params.unit_amount ?? params.amount);
  switch (`${method} ${kind}`) {
    case 'POST customers':
      return show(account.make('cus', 'customer', { ...params, invoice_settings: { default_payment_method: null } }));
    case 'POST products':
      if (account.objects.has(params.id)) return refuse(400, { code: 'resource_already_exists', message: 'Product already exists.' });
      return show(account.make('prod', 'product', params));
    case 'GET prices':
      return list(account.list('price', ({ lookup_key }) => params.lookup_keys.includes(lookup_key)));
    case 'POST prices':
      for (const other of account.list('price', ({ lookup_key }) => lookup_key === params.lookup_key)) other.lookup_key = null;
      return show(account.make('price', 'price', { ...params, unit_amount: amount, active: true }));
    case 'POST checkout/sessions': {
      if (!account.objects.has(params.customer)) return noCustomer(params.customer);
      const session = { ...params, status: 'open', payment_status: 'unpaid', payment_intent: null, setup_intent: null };
      const made = account.make('cs_test', 'checkout.session', session);
      made.url = `https://checkout.stripe.example/c/pay/${made.id}`;
      return show(made);
    }
    case 'GET checkout/sessions':
      if (!account.objects.has(params.customer)) return noCustomer(params.customer);
      return list(account.list('checkout.session', (one) => ofCustomer(one) && one.status === params.status));
    case 'POST billing_portal/sessions':
      if (!account.objects.has(params.customer)) return noCustomer(params.customer);
      return show(account.make('bps', 'billing_portal.session', { ...params, url: 'https://billing.stripe.example/p/session/live' }));
    case 'GET payment_methods':
      return list(account.list('payment_method', ofCustomer).slice(0, Number(params.limit ?? 10)));
    case 'GET subscriptions':
      return list(account.list('subscription', (one) => ofCustomer(one) && one.status !== 'canceled'));
    case 'GET payment_intents':
      return list(account.list('payment_intent', ofCustomer));
    case 'POST payment_intents':
      if (!account.objects.has(params.customer)) return noCustomer(params.customer);
      if (amount < 50) return refuse(400, { code: 'amount_too_small', message: 'Amount must be at least ¥50 jpy' });
      return show(account.make('pi', 'payment_intent', { ...params, amount, status: 'requires_payment_method', last_payment_error: null }));
    default:
      return refuse(404, { message: `Unrecognized request URL (${method}: ${path}).` });
  }
}

function change(account: StripeAccount, found: StripeObject, verb: string | undefined, params: Params): Answer {
  const unexpected = () =>
    refuse(400, { code: 'payment_intent_unexpected_state', message: `It is ${found.status}.`, payment_intent: found });
  if (verb === 'expire') {
    if (found.status !== 'open') return refuse(400, { message: 'Only Checkout Sessions with a status in ["open"] can be expired.' });
    found.status = 'expired';
    return show(found);
  }
  if (found.status === 'succeeded' || found.status === 'canceled') return unexpected();
  if (verb === 'cancel') {
    found.status = 'canceled';
    return show(found);
  }
  const outcome = account.confirm(found, params.payment_method);
  if (outcome === 'paid') return show(found);
  const { code, decline_code } = found.last_payment_error;
  return { status: 402, body: { error: { type: 'card_error', code, decline_code, message: 'Your card was declined.' } } };
}

export async function startStripeServer(secretKey: string): Promise<StripeServer> {
  const account = new StripeAccount();
  const kept = new Map<string, { print: string; answer: Answer }>();
  const held: { matches: RegExp; arrive(): void; released: Promise<void> }[] = [];
  const asked: string[] = [];
  const faults: StripeServer['faults'] = [];

  const answerOnce = (key: string | undefined, print: string, make: () => Answer): Answer => {
    const before = key === undefined ? undefined : kept.get(key);
    if (before && before.print !== print) return refuse(400, { type: 'idempotency_error', message: 'Keys for idempotent requests…' });
    if (before) return before.answer;
    // What was answered is repeated as it was, whatever became of the object.
    const made = structuredClone(make());
    if (key !== undefined) kept.set(key, { print, answer: made });
    return made;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', 'http://stripe');
    const sent = await text(request);
    const name = `${method} ${url.pathname}`;
    asked.push(name);
    const gate = held.findIndex(({ matches }) => matches.test(name));
    if (gate >= 0) {
      const [stopped] = held.splice(gate, 1);
      stopped?.arrive();
      await stopped?.released;
    }
    const fault = faults.findIndex(({ matches }) => matches.test(name));
    const wrong = fault < 0 ? null : faults.splice(fault, 1)[0]?.fault;
    if (wrong === 'cut') return void request.socket.destroy();
    const send = ({ status, body }: Answer) => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': 'req_test' }).end(JSON.stringify(body));
    };
    if (typeof wrong === 'number') return send({ status: wrong, body: { error: { type: 'api_error', message: `sent ${secretKey}` } } });
    if (headers.authorization !== `Bearer ${secretKey}`) return send(refuse(401, { message: 'Invalid API Key provided: sk_test_****key' }));
    const params = readForm(method === 'GET' ? url.search : sent);
    const key = method === 'POST' ? (headers['idempotency-key'] as string | undefined) : undefined;
    const made = answerOnce(key, `${url.pathname}\n${sent}`, () => answer(account, method, url.pathname, params));
    if (wrong === 'lost') return void request.socket.destroy();
    send(made);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    account,
    asked,
    faults,
    hold(matches) {
      let release = () => {};
      const released = new Promise<void>((done) => {
        release = done;
      });
      const arrived = new Promise<void>((arrive) => held.push({ matches, arrive, released }));
      return { arrived, release };
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
