import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useHome } from '../../session/home.ts';
import { useMe } from '../../session/session.tsx';
import { settingsWords } from './words.ts';

/** Who you are here, whether all works, and where else to look. */
export function ServiceSection() {
  const t = useWords(settingsWords);
  const me = useMe();
  const home = useHome();
  return (
    <>
      <dl className="facts">
        <dt>{t.you}</dt>
        <dd>
          {me.user.name} <span className="dim">{me.user.email}</span>
        </dd>
        <dt>{t.account}</dt>
        <dd>{me.account_name}</dd>
      </dl>
      <Answer of={home}>
        {({ version, away, links }) => (
          <>
            <dl className="facts">
              <dt>{t.version}</dt>
              <dd>{version}</dd>
              <dt>{t.state}</dt>
              <dd className={away.length === 0 ? 'good' : 'bad'}>{away.length === 0 ? t.works : t.away(away.join(', '))}</dd>
            </dl>
            <ul className="plain-list">
              <li>
                <a href={links.reference}>{t.reference}</a>
              </li>
              <li>
                <a href={links.contract}>{t.contract}</a>
              </li>
              <li>
                <a href={links.guide}>{t.guide}</a>
              </li>
              {links.temporal && (
                <li>
                  <a href={links.temporal}>{t.temporal}</a>
                </li>
              )}
            </ul>
          </>
        )}
      </Answer>
    </>
  );
}
