import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, type Schemas, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { useMe } from '../../session/session.tsx';
import { CredentialTable } from './CredentialTable.tsx';
import { ScopeChoice } from './ScopeChoice.tsx';
import { Secret } from './Secret.tsx';
import { settingsWords } from './words.ts';

export function KeysSection() {
  const t = useWords(settingsWords);
  const me = useMe();
  const queries = useQueryClient();
  const { fail } = useNotices();
  const [made, setMade] = useState<string | null>(null);
  const [scopes, setScopes] = useState<Schemas['Scope'][]>(['workbooks:read']);
  const keys = useQuery({
    queryKey: ['keys'],
    queryFn: () => ask(api.GET('/api/control/account/keys', { params: { query: { limit: 200 } } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['keys'] });
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    try {
      setMade((await ask(api.POST('/api/control/account/keys', { body: { name, scopes } }))).key);
    } catch (error) {
      fail(error);
    }
    void refresh();
  };
  const revoke = async (id: string) => {
    try {
      await tell(api.DELETE('/api/control/account/keys/{key_id}', { params: { path: { key_id: id } } }));
    } catch (error) {
      fail(error);
    }
    void refresh();
  };
  return (
    <section className="fields">
      <p className="dim">{t.keysHint}</p>
      <form className="row" onSubmit={(event) => void create(event)}>
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
