import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField } from '../../parts/FormDialog.tsx';
import { useChange } from '../../parts/useChange.ts';
import { useMe } from '../../session/session.tsx';
import { CredentialTable } from './CredentialTable.tsx';
import { ScopeChoice } from './ScopeChoice.tsx';
import { Secret } from './Secret.tsx';
import { settingsWords } from './words.ts';

export function TokensSection() {
  const t = useWords(settingsWords);
  const me = useMe();
  const [made, setMade] = useState<string | null>(null);
  const [scopes, setScopes] = useState<typeof me.scopes>(['workbooks:read']);
  const tokens = useQuery({
    queryKey: ['tokens'],
    queryFn: () => ask(api.GET('/api/v1/me/tokens', { params: { query: { limit: 200 } } })),
  });
  const change = useChange(['tokens']);
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const body = { name: readField(fields, 'name'), expires_in_days: Number(fields.get('days')), scopes };
    void change(async () => setMade((await ask(api.POST('/api/v1/me/tokens', { body }))).token));
  };
  const revoke = (id: string) => change(() => tell(api.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: id } } })));
  return (
    <section className="fields">
      <p className="dim">{t.tokensHint}</p>
      <form className="row" onSubmit={create}>
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
