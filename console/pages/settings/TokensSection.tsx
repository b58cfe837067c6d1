import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { useMe } from '../../session/session.tsx';
import { CredentialTable } from './CredentialTable.tsx';
import { ScopeChoice } from './ScopeChoice.tsx';
import { Secret } from './Secret.tsx';
import { settingsWords } from './words.ts';

export function TokensSection() {
  const t = useWords(settingsWords);
  const me = useMe();
  const queries = useQueryClient();
  const { fail } = useNotices();
  const [made, setMade] = useState<string | null>(null);
  const [scopes, setScopes] = useState<typeof me.scopes>(['workbooks:read']);
  const tokens = useQuery({
    queryKey: ['tokens'],
    queryFn: () => ask(api.GET('/api/v1/me/tokens', { params: { query: { limit: 200 } } })),
  });
  const refresh = () => queries.invalidateQueries({ queryKey: ['tokens'] });
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    try {
      const body = { name: String(fields.get('name')).trim(), expires_in_days: Number(fields.get('days')), scopes };
      setMade((await ask(api.POST('/api/v1/me/tokens', { body }))).token);
    } catch (error) {
      fail(error);
    }
    void refresh();
  };
  const revoke = async (id: string) => {
    try {
      await tell(api.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: id } } }));
    } catch (error) {
      fail(error);
    }
    void refresh();
  };
  return (
    <section className="fields">
      <p className="dim">{t.tokensHint}</p>
      <form className="row" onSubmit={(event) => void create(event)}>
        <input name="name" aria-label={t.name} placeholder={t.name} required maxLength={100} />
        <label className="row tight">
          {t.days}
          <input name="days" type="number" min={1} max={365} defaultValue={90} required />
        </label>
        <button type="submit" className="main" disabled={scopes.length === 0}>
          {t.newToken}
        </button>
      </form>
      <ScopeChoice offered={me.scopes} chosen={scopes} onChoose={setScopes} />
      <Answer of={tokens}>{({ tokens }) => <CredentialTable credentials={tokens} onRevoke={(id) => void revoke(id)} />}</Answer>
      {made && <Secret title={t.newToken} text={made} onClose={() => setMade(null)} />}
    </section>
  );
}
