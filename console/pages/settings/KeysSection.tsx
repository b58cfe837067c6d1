import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, type Schemas, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField } from '../../parts/FormDialog.tsx';
import { useChange } from '../../parts/useChange.ts';
import { useMe } from '../../session/session.tsx';
import { CredentialTable } from './CredentialTable.tsx';
import { ScopeChoice } from './ScopeChoice.tsx';
import { Secret } from './Secret.tsx';
import { settingsWords } from './words.ts';

export function KeysSection() {
  const t = useWords(settingsWords);
  const me = useMe();
  const [made, setMade] = useState<string | null>(null);
  const [scopes, setScopes] = useState<Schemas['Scope'][]>(['workbooks:read']);
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: () => ask(api.GET('/api/control/account/keys', { params: { query: { limit: 200 } } })),
  });
  const change = useChange(['keys']);
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const body = { name: readField(new FormData(event.currentTarget), 'name'), scopes };
    void change(async () => setMade((await ask(api.POST('/api/control/account/keys', { body }))).key));
  };
  const revoke = (id: string) => change(() => tell(api.DELETE('/api/control/account/keys/{key_id}', { params: { path: { key_id: id } } })));
  return (
    <section className="fields">
      <p className="dim">{t.keysHint}</p>
      <form className="row" onSubmit={create}>
        <input name="name" aria-label={t.name} placeholder={t.name} required maxLength={100} />
        <button type="submit" className="main" disabled={scopes.length === 0}>
          {t.newKey}
        </button>
      </form>
      <ScopeChoice offered={me.scopes} chosen={scopes} onChoose={setScopes} />
      <Answer of={keys}>{({ keys }) => <CredentialTable credentials={keys} onRevoke={(id) => void revoke(id)} />}</Answer>
      {made && <Secret title={t.newKey} text={made} onClose={() => setMade(null)} />}
    </section>
  );
}
