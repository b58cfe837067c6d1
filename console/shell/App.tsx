import { lazy, Suspense } from 'react';
import { useWords } from '../i18n/language.tsx';
import { DropZone } from '../pages/workbooks/DropZone.tsx';
import { UploadList } from '../pages/workbooks/UploadList.tsx';
import { UploadProvider } from '../pages/workbooks/uploads.tsx';
import { Dialog } from '../parts/Dialog.tsx';
import { NoticeProvider } from '../parts/notices.tsx';
import { ProblemNote } from '../parts/ProblemNote.tsx';
import { commonWords } from '../parts/words.ts';
import { useHome } from '../session/home.ts';
import { LogInForm } from '../session/LogInForm.tsx';
import { LogInPage } from '../session/LogInPage.tsx';
import { useSession } from '../session/session.tsx';
import { sessionWords } from '../session/words.ts';
import { ErrorBoundary } from './ErrorBoundary.tsx';
import { NoSuchPage } from './NoSuchPage.tsx';
import { usePlace } from './router.tsx';
import { Shell } from './Shell.tsx';

const WorkbooksPage = lazy(() => import('../pages/workbooks/WorkbooksPage.tsx'));
const WorkbookPages = lazy(() => import('../pages/workbook/WorkbookPages.tsx'));
const SettingsPage = lazy(() => import('../pages/settings/SettingsPage.tsx'));

export function App() {
  const { state, retry } = useSession();
  if (state.kind === 'asking') return <p role="status" />;
  if (state.kind === 'failed') return <ProblemNote error={state.error} onRetry={retry} />;
  if (state.kind === 'out') return <LogInPage />;
  return (
    <NoticeProvider>
      <UploadProvider>
        <Shell>
          <ErrorBoundary>
            <Suspense fallback={<Loading />}>
              <CurrentPage />
            </Suspense>
          </ErrorBoundary>
        </Shell>
      </UploadProvider>
      {state.kind === 'ended' && <LogInAgain />}
    </NoticeProvider>
  );
}

/** Over the page, which stays as it is. */
function LogInAgain() {
  const t = useWords(sessionWords);
  const { data: home } = useHome();
  return (
    <Dialog title={t.logIn} onClose={() => {}}>
      <p>{t.ended}</p>
      <LogInForm canSignUp={false} hasProvider={home?.log_in.oidc ?? false} />
    </Dialog>
  );
}

function CurrentPage() {
  const {
    path: [first, second, ...rest],
  } = usePlace();
  if (first === undefined || first === 'log-in' || (first === 'workbooks' && second === undefined)) return <WorkbooksPage />;
  if (first === 'workbooks' && second !== undefined) return <WorkbookPages key={second} workbookId={second} rest={rest} />;
  if (first === 'settings')
    return (
      <DropZone workbookId={null}>
        <UploadList isBrief />
        <SettingsPage section={second} />
      </DropZone>
    );
  return <NoSuchPage />;
}

function Loading() {
  const t = useWords(commonWords);
  return (
    <p className="dim" role="status">
      {t.loading}
    </p>
  );
}
