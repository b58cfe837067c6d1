import { type FormEvent, useState } from 'react';
import { useWords } from '../i18n/language.tsx';
import { ProblemNote } from '../parts/ProblemNote.tsx';
import { useSession } from './session.tsx';
import { sessionWords } from './words.ts';

type Way = 'password' | 'signUp' | 'token';

/** By e-mail and password, or by a token that is pasted. */
export function LogInForm({ canSignUp, hasProvider }: { canSignUp: boolean; hasProvider: boolean }) {
  const t = useWords(sessionWords);
  const session = useSession();
  const [way, setWay] = useState<Way>('password');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const read = (name: string) => String(fields.get(name) ?? '').trim();
    setBusy(true);
    setError(null);
    try {
      if (way === 'token') await session.pasteToken(read('token'));
      else if (way === 'signUp') await session.signUp(read('email'), String(fields.get('password')), read('name'));
      else await session.logIn(read('email'), String(fields.get('password')));
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        {way === 'token' ? (
          <label>
            {t.token}
            <input name="token" type="password" autoComplete="off" required />
            <small className="dim">{t.tokenHint}</small>
          </label>
        ) : (
          <>
            {way === 'signUp' && (
              <label>
                {t.name}
                <input name="name" autoComplete="name" maxLength={120} required />
              </label>
            )}
            <label>
              {t.email}
              <input name="email" type="email" autoComplete="username" required />
            </label>
            <label>
              {t.password}
              <input
                name="password"
                type="password"
                autoComplete={way === 'signUp' ? 'new-password' : 'current-password'}
                minLength={way === 'signUp' ? 10 : 1}
                required
              />
            </label>
          </>
        )}
        {error !== null && <ProblemNote error={error} />}
        <button type="submit" className="main" disabled={isBusy}>
          {way === 'signUp' ? t.signUp : t.logIn}
        </button>
      </form>
      {hasProvider && (
        <button type="button" onClick={() => void session.goToProvider().catch(setError)}>
          {t.oidc}
        </button>
      )}
      <p className="row">
        <button type="button" className="plain" onClick={() => setWay(way === 'token' ? 'password' : 'token')}>
          {way === 'token' ? t.withPassword : t.withToken}
        </button>
        {canSignUp && (
          <button type="button" className="plain" onClick={() => setWay(way === 'signUp' ? 'password' : 'signUp')}>
            {way === 'signUp' ? t.known : t.newHere}
          </button>
        )}
      </p>
    </>
  );
}
