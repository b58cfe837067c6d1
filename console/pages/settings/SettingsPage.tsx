import { lazy } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { NoSuchPage } from '../../shell/NoSuchPage.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { BillingSection } from './BillingSection.tsx';
import { KeysSection } from './KeysSection.tsx';
import { MembersSection } from './MembersSection.tsx';
import { ServiceSection } from './ServiceSection.tsx';
import { TokensSection } from './TokensSection.tsx';
import { WebhooksSection } from './WebhooksSection.tsx';
import { settingsWords } from './words.ts';

const UsageSection = lazy(() => import('./UsageSection.tsx'));

const sections = {
  tokens: TokensSection,
  keys: KeysSection,
  members: MembersSection,
  webhooks: WebhooksSection,
  usage: UsageSection,
  billing: BillingSection,
  service: ServiceSection,
};

export default function SettingsPage({ section = 'tokens' }: { section: string | undefined }) {
  const t = useWords(settingsWords);
  const Section = Object.hasOwn(sections, section) ? sections[section as keyof typeof sections] : NoSuchPage;
  return (
    <div className="page">
      <div className="row">
        <h1>{t.title}</h1>
        <nav className="tabs" aria-label={t.title}>
          {Object.keys(sections).map((name) => (
            <Link key={name} to={addressOf('settings', name)} current={section === name}>
              {t.sections[name]}
            </Link>
          ))}
        </nav>
      </div>
      <Section />
    </div>
  );
}
