import type { FinishedAuthorization } from '../../activities/drives/finishAuthorization.ts';
import { html } from './html.ts';
import { makePage, type Page } from './layout.ts';

const names = { google_drive: 'Google Drive', onedrive: 'OneDrive' };

/** What a user sees who comes back from the provider. It names both sides, so that a connection to somebody else is noticed. */
export function makeAuthorizationPage(finished: FinishedAuthorization): Page {
  const name = names[finished.provider];
  if (finished.outcome === 'refused') {
    return makePage(
      `${name} not connected`,
      html`<h1 class="bad">${name} is not connected</h1>
<p>You did not allow the service to read your drive. Nothing has changed.</p>
<p>You can close this page, and begin again whenever you like.</p>`,
    );
  }
  const { driveEmail, userEmail, workbookId } = finished;
  return makePage(
    `${name} connected`,
    html`<h1 class="good">${name} is connected</h1>
<p>The user <strong>${userEmail}</strong> of this service can now read the files of ${driveEmail === null ? 'this drive' : html`<strong>${driveEmail}</strong>`}.</p>
<p>If that is not you, take the permission back in the settings of ${name}.</p>
${workbookId === null ? '' : html`<p class="dim">Go on in workbook <code>${workbookId}</code>.</p>`}
<p>You can close this page.</p>`,
  );
}
