import { type ReactNode, useEffect } from 'react';
import { useWords } from '../i18n/language.tsx';
import { useMe, useSession } from '../session/session.tsx';
import { Preferences } from './Preferences.tsx';
import { fetchPartsWhenIdle } from './parts.ts';
import { Link, usePlace } from './router.tsx';
import { SearchBox } from './SearchBox.tsx';
import { shellWords } from './words.ts';

/** What stands around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const t = useWords(shellWords);
  useEffect(fetchPartsWhenIdle, []);
  const me = useMe();
  const { logOut } = useSession();
  const {
    path: [first],
  } = usePlace();
  return (
    <>
      <a className="skip" href="#content">
        {t.skip}
      </a>
      <header className="bar">
        <nav className="row">
          <Link to="/workbooks" current={first !== 'settings'}>
            {t.workbooks}
          </Link>
          <Link to="/settings" current={first === 'settings'}>
            {t.settings}
          </Link>
        </nav>
        <SearchBox />
        <span className="row tight end">
          <Preferences />
          <span className="who" title={me.user.email}>
            {me.user.name ?? me.user.email}
          </span>
          <button type="button" className="plain" onClick={() => void logOut()}>
            {t.logOut}
          </button>
        </span>
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  );
}
