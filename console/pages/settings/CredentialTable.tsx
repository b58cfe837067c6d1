import { useSpeech, useWords } from '../../i18n/language.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { settingsWords } from './words.ts';

interface Shown {
  id: string;
  name: string | null;
  prefix: string;
  scopes: string[];
  resource: string;
  created_at: string;
  last_used_at: string | null;
  expires_at?: string | null;
  revoked_at: string | null;
}

/** Tokens or keys, without their secrets. */
export function CredentialTable({ credentials, onRevoke }: { credentials: Shown[]; onRevoke: (id: string) => void }) {
  const t = useWords(settingsWords);
  const { formatTime } = useSpeech();
  if (credentials.length === 0) return <p className="dim">{t.none}</p>;
  return (
    <ListTable heads={[t.name, t.scopes, t.reach, t.created, t.lastUsed, t.expires, t.revoke]}>
      {credentials.map(({ id, name, prefix, scopes, resource, created_at, last_used_at, expires_at, revoked_at }) => (
        <tr key={id}>
          <td>
            {name} <code className="dim">{prefix}</code>
          </td>
          <td className="dim">{scopes.join(', ')}</td>
          <td className="nowrap">{resource === 'account' ? t.wholeAccount : resource}</td>
          <td>{formatTime(created_at)}</td>
          <td>{last_used_at ? formatTime(last_used_at) : t.never}</td>
          <td>{expires_at ? formatTime(expires_at) : t.never}</td>
          <td>
            {revoked_at ? (
              <span className="mark">{t.revoked}</span>
            ) : (
              <button type="button" className="danger" onClick={() => confirm(t.revokeSure(name ?? prefix)) && onRevoke(id)}>
                {t.revoke}
              </button>
            )}
          </td>
        </tr>
      ))}
    </ListTable>
  );
}
