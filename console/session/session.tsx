import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { api, ask, countLogIn, hasToken, type Schemas, setToken, tell, whenLoggedOut } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { usePlace } from '../shell/router.tsx';

type State =
  | { kind: 'asking' }
  | { kind: 'out' }
  | { kind: 'in'; me: Schemas['Me'] }
  /** The session ended while a page was open: the page stays as it is behind the log-in. */
  | { kind: 'ended'; me: Schemas['Me'] }
  | { kind: 'failed'; error: unknown };

interface Session {
  state: State;
  logIn(email: string, password: string): Promise<void>;
  signUp(email: string, password: string, name: string): Promise<void>;
  pasteToken(token: string): Promise<void>;
  /** Leaves the page for the identity provider. */
  goToProvider(): Promise<void>;
  logOut(): Promise<void>;
  retry(): void;
}

/** Whether somebody is logged in here, as far as this browser remembers. The cookie itself cannot be read. */
const kept = 'console.session';
/** Where the person was before they were sent to the identity provider. */
const returnTo = 'console.return';

const SessionContext = createContext<Session | null>(null);

export function SessionProvider({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>({ kind: 'asking' });
  const queries = useQueryClient();
  const { go } = usePlace();

  const read = useCallback(async () => {
    try {
      const me = await ask(api.GET('/api/v1/me'));
      setState((before) => {
        if (before.kind === 'ended' && before.me.user.id !== me.user.id) queries.clear();
        return { kind: 'in', me };
      });
    } catch (error) {
      const isOut = error instanceof Problem && error.status === 401;
      if (isOut) localStorage.removeItem(kept);
      setState((before) => (isOut ? (before.kind === 'ended' ? before : { kind: 'out' }) : { kind: 'failed', error }));
    }
  }, [queries]);

  const finish = useCallback(
    async (code: string, state: string) => {
      // The code is good for once, so it does not stay in the address.
      history.replaceState(null, '', '/log-in');
      try {
        await ask(api.POST('/api/auth/console/oidc/code', { body: { code, state } }));
        localStorage.setItem(kept, 'yes');
        go(sessionStorage.getItem(returnTo) ?? '/workbooks', { replace: true });
        await read();
      } catch (error) {
        setState({ kind: 'failed', error });
      }
    },
    [read, go],
  );

  useEffect(() => {
    whenLoggedOut(() => setState((before) => (before.kind === 'in' ? { kind: 'ended', me: before.me } : before)));
    const back = new URLSearchParams(location.pathname === '/log-in' ? location.search : '');
    const [code, state] = [back.get('code'), back.get('state')];
    if (code !== null && state !== null) void finish(code, state);
    // Who was never logged in is not asked for.
    else if (localStorage.getItem(kept) === null) setState({ kind: 'out' });
    else void read();
  }, [read, finish]);

  const session = useMemo<Session>(() => {
    const logIn = async (email: string, password: string) => {
      setToken(null);
      await ask(api.POST('/api/auth/console', { body: { email, password } }));
      countLogIn();
      localStorage.setItem(kept, 'yes');
      await read();
      void queries.invalidateQueries();
    };
    return {
      state,
      logIn,
      async signUp(email, password, name) {
        await ask(api.POST('/api/auth/signup', { body: { email, password, name } }));
        await logIn(email, password);
      },
      async pasteToken(token) {
        setToken(token);
        try {
          const me = await ask(api.GET('/api/v1/me'));
          countLogIn();
          setState({ kind: 'in', me });
          void queries.invalidateQueries();
        } catch (error) {
          setToken(null);
          throw error;
        }
      },
      async goToProvider() {
        sessionStorage.setItem(returnTo, `${location.pathname}${location.search}`);
        const { authorize_url: address } = await ask(api.POST('/api/auth/console/oidc'));
        location.assign(address);
      },
      async logOut() {
        if (!hasToken()) {
          await tell(api.DELETE('/api/auth/console'));
          localStorage.removeItem(kept);
        }
        setToken(null);
        queries.clear();
        setState({ kind: 'out' });
      },
      retry: () => {
        setState({ kind: 'asking' });
        void read();
      },
    };
  }, [state, read, queries]);
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('outside of the session');
  return session;
}

/** Who is logged in; only for pages, which are shown to nobody else. */
export function useMe(): Schemas['Me'] {
  const { state } = useSession();
  if (state.kind !== 'in' && state.kind !== 'ended') throw new Error('nobody is logged in');
  return state.me;
}
