import { lazy } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { NoSuchPage } from '../../shell/NoSuchPage.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { DropZone } from '../workbooks/DropZone.tsx';
import { UploadList } from '../workbooks/UploadList.tsx';
import { ActivityPage } from './ActivityPage.tsx';
import { useWorkbook } from './asks.ts';
import { OverviewPage } from './OverviewPage.tsx';
import { SideBar } from './SideBar.tsx';
import { workbookWords } from './words.ts';

const AskPage = lazy(() => import('../ask/AskPage.tsx'));
const RoundTripPage = lazy(() => import('../roundTrip/RoundTripPage.tsx'));
const GovernancePage = lazy(() => import('../governance/GovernancePage.tsx'));
const SourcePage = lazy(() => import('../source/SourcePage.tsx'));
const TablePage = lazy(() => import('../table/TablePage.tsx'));

/** One workbook: its tables and files at the side, and what can be done with them. */
export default function WorkbookPages({ workbookId, rest }: { workbookId: string; rest: string[] }) {
  const t = useWords(workbookWords);
  const workbook = useWorkbook(workbookId);
  const [section, name] = rest;
  const tabs = [
    ['', t.overview],
    ['ask', t.ask],
    ['round-trip', t.roundTrip],
    ['governance', t.governance],
    ['activity', t.activity],
  ] as const;
  return (
    <Answer of={workbook}>
      {({ title }) => (
        <DropZone workbookId={workbookId}>
          <div className="workbook">
            <SideBar workbookId={workbookId} section={section} name={name} />
            <div className="content">
              <div className="row head">
                <h1>{title}</h1>
                <nav className="tabs" aria-label={title}>
                  {tabs.map(([path, label]) => (
                    <Link key={path} to={addressOf('workbooks', workbookId, ...(path ? [path] : []))} current={(section ?? '') === path}>
                      {label}
                    </Link>
                  ))}
                </nav>
              </div>
              <UploadList isBrief />
              <Section workbookId={workbookId} title={title} section={section} name={name} />
            </div>
          </div>
        </DropZone>
      )}
    </Answer>
  );
}

interface SectionProps {
  workbookId: string;
  title: string;
  section: string | undefined;
  name: string | undefined;
}

function Section({ workbookId, title, section, name }: SectionProps) {
  if (section === undefined) return <OverviewPage workbookId={workbookId} title={title} />;
  if (section === 'ask') return <AskPage workbookId={workbookId} />;
  if (section === 'round-trip') return <RoundTripPage workbookId={workbookId} />;
  if (section === 'governance') return <GovernancePage workbookId={workbookId} />;
  if (section === 'activity') return <ActivityPage workbookId={workbookId} />;
  if (section === 'tables' && name !== undefined) return <TablePage key={name} workbookId={workbookId} name={name} />;
  if (section === 'sources' && name !== undefined) return <SourcePage key={name} workbookId={workbookId} name={name} />;
  return <NoSuchPage />;
}
