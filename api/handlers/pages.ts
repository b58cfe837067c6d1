import { checkReadiness } from '../../activities/system/checkReadiness.ts';
import { notFound } from '../../core/errors.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { openConsole } from '../pages/console.ts';
import { openGuide } from '../pages/guide.ts';
import { openReference, referencePage } from '../pages/reference.ts';

/** Anybody may ask for it, so it does not ask all parts each time. */
const checkAgainMs = 2_000;

/** What people open in a browser. */
export function makePageHandlers({
  services,
  contract,
}: ApiParts): Handlers<'getHome' | 'getConsoleAsset' | 'getReference' | 'getReferenceAsset' | 'getGuide' | 'getGuidePage'> {
  const { config } = services;
  const readReferenceFile = openReference(contract.published);
  const readGuidePage = openGuide();
  const app = openConsole();
  const checkSeldom = shareFor(checkAgainMs, () => checkReadiness(services));

  return {
    async getHome({ type }) {
      if (type === 'text/html') return { status: 200, ...(await app.page()) };
      const { away, isReady } = await checkSeldom();
      const { version } = contract;
      return {
        status: 200,
        body: {
          name: 'Workbook Data Service',
          version,
          status: isReady ? 'ready' : 'not_ready',
          away,
          log_in: { sign_up: config.signup, oidc: (config.oidc?.client ?? null) !== null },
          links: { reference: '/docs', contract: '/openapi.json', guide: '/guide', temporal: config.temporal.uiUrl },
        },
      };
    },

    async getConsoleAsset({ params }) {
      const file = await app.file(params.asset);
      if (!file) throw notFound('part of the console', 'Load the page again: it names its parts.');
      return { status: 200, ...file };
    },

    async getReference() {
      return { status: 200, ...referencePage };
    },

    async getReferenceAsset({ params }) {
      const file = await readReferenceFile(params.asset);
      if (!file) throw notFound('part of the reference page');
      return { status: 200, ...file };
    },

    async getGuide() {
      return { status: 200, ...(await findGuidePage('/guide')) };
    },

    async getGuidePage({ params }) {
      return { status: 200, ...(await findGuidePage(`/guide/${params.page}`)) };
    },
  };

  async function findGuidePage(address: string) {
    const page = await readGuidePage(address);
    if (!page) throw notFound('page of the guide', 'See /guide for the pages that there are.');
    return page;
  }
}

/** Calls within the time get the answer of the first one. */
function shareFor<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | null = null;
  let askedAt = 0;
  return () => {
    if (answer === null || Date.now() - askedAt > ms) {
      askedAt = Date.now();
      answer = ask();
    }
    return answer;
  };
}
