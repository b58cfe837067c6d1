import './style/base.css';
import './style/parts.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/queries.ts';
import { LanguageProvider } from './i18n/language.tsx';
import { SessionProvider } from './session/session.tsx';
import { App } from './shell/App.tsx';
import { loadPartsOf } from './shell/parts.ts';
import { Router } from './shell/router.tsx';
import { applyTheme } from './shell/theme.ts';

applyTheme();
loadPartsOf(location.pathname);
createRoot(document.getElementById('console') as HTMLElement).render(
  <StrictMode>
    <LanguageProvider>
      <QueryClientProvider client={queries}>
        <Router>
          <SessionProvider>
            <App />
          </SessionProvider>
        </Router>
      </QueryClientProvider>
    </LanguageProvider>
  </StrictMode>,
);
