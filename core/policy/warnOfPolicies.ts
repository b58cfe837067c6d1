import type { Rules } from './decideEffect.ts';
import { unreviewed } from './decideEffect.ts';

/** What somebody should know before the columns of a table go to a place where no policy holds. Denied columns are not named. */
export function warnOfPolicies(columns: readonly { name: string; tags: readonly string[]; isDenied: boolean }[], rules: Rules): string[] {
  const hiddenFrom = (tags: readonly string[]) => {
    const effects = new Set(tags.flatMap((tag) => (tag === unreviewed ? ['deny'] : [...(rules.get(tag)?.values() ?? [])])));
    return effects.has('deny') ? 'denied to' : effects.has('mask') ? 'masked for' : null;
  };
  const denied = columns.filter(({ isDenied }) => isDenied).length;
  return [
    ...columns.flatMap(({ name, tags, isDenied }) => {
      const how = isDenied ? null : hiddenFrom(tags);
      return how ? [`${name} is ${how} some roles; outside the service no policy holds.`] : [];
    }),
    ...(denied > 0 ? [`${denied} ${denied > 1 ? 'columns are' : 'column is'} denied to you; outside the service no policy holds.`] : []),
  ];
}
