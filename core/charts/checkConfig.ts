import type { ProblemItem } from '../errors.ts';

const mostBytes = 64 * 1024;
const mostDepth = 40;

/** What would bring other data in, or lead the reader of the picture elsewhere. */
const refusedKeys: Record<string, string> = {
  data: 'is not taken: a chart shows the rows of its table',
  datasets: 'is not taken: a chart shows the rows of its table',
  url: 'is not taken: a chart loads nothing',
  href: 'is not taken: a chart has no links',
  usermeta: 'is not taken',
};

/** What is wrong with a Vega-Lite config at first sight. Whether it can be drawn is found out by drawing it. */
export function checkConfig(config: Record<string, unknown>): ProblemItem[] {
  if (JSON.stringify(config).length > mostBytes) return [{ pointer: '/config', detail: `is longer than ${mostBytes / 1024} KiB` }];
  const faults: ProblemItem[] = [];
  const visit = (node: unknown, pointer: string, depth: number): void => {
    if (node === null || typeof node !== 'object') return;
    if (depth > mostDepth) {
      faults.push({ pointer, detail: `is nested more than ${mostDepth} levels deep` });
      return;
    }
    for (const [key, value] of Object.entries(node)) {
      const place = `${pointer}/${key}`;
      const refused = Array.isArray(node) || !Object.hasOwn(refusedKeys, key) ? undefined : refusedKeys[key];
      if (refused !== undefined) faults.push({ pointer: place, detail: refused });
      else if (isImageMark(key, value)) faults.push({ pointer: place, detail: 'image is not taken: a chart loads nothing' });
      else visit(value, place, depth + 1);
    }
  };
  visit(config, '/config', 0);
  return faults.slice(0, 50);
}

function isImageMark(key: string, value: unknown): boolean {
  return key === 'mark' && (value === 'image' || (value as { type?: unknown } | null)?.type === 'image');
}
