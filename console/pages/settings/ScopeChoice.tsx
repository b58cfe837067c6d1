import type { Schemas } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { settingsWords } from './words.ts';

type Scope = Schemas['Scope'];

/** What a credential may do; no more than who makes it. */
export function ScopeChoice({ offered, chosen, onChoose }: { offered: Scope[]; chosen: Scope[]; onChoose: (scopes: Scope[]) => void }) {
  const t = useWords(settingsWords);
  return (
    <fieldset className="row scopes">
      <legend className="dim">{t.scopes}</legend>
      {offered.map((scope) => (
        <label key={scope} className="row tight">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={(event) => onChoose(event.target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))}
          />
          {scope}
        </label>
      ))}
    </fieldset>
  );
}
