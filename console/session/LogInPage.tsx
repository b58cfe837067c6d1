import { useWords } from '../i18n/language.tsx';
import { Preferences } from '../shell/Preferences.tsx';
import { useHome } from './home.ts';
import { LogInForm } from './LogInForm.tsx';
import { sessionWords } from './words.ts';

/** The first page for whoever is not logged in: what this is, whether it works, how to get in. */
export function LogInPage() {
  const t = useWords(sessionWords);
  const { data: home } = useHome();
  return (
    <main className="log-in">
      <h1>Workbook Data Service</h1>
      <p>{t.pitch}</p>
      <LogInForm canSignUp={home?.log_in.sign_up ?? false} hasProvider={home?.log_in.oidc ?? false} />
      <footer className="dim">
        {home && (
          <p id="health">
            {home.away.length === 0 ? t.healthy : t.health(home.away.join(', '))} {home.version}
          </p>
        )}
        <nav className="row">
          <a href="/docs">{t.reference}</a>
          <a href="/guide">{t.guide}</a>
          <a href="/openapi.json">{t.contract}</a>
          {home?.links.temporal && <a href={home.links.temporal}>Temporal</a>}
        </nav>
        <Preferences />
      </footer>
    </main>
  );
}
