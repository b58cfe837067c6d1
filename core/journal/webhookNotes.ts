import { audited, type Notes } from './notes.ts';

/** The address may hold a secret of the receiver, so only its host is noted. */
export function webhookCreated(webhook: { id: string; url: string; events: string[]; resource: string }): Notes {
  const { id, url, events, resource } = webhook;
  return audited('webhook.created', id, { host: new URL(url).host, events, resource });
}

export function webhookDeleted(id: string): Notes {
  return audited('webhook.deleted', id);
}

export function webhookRotated(id: string): Notes {
  return audited('webhook.rotated', id);
}

/** Its receiver wants no more. */
export function webhookDisabled(id: string): Notes {
  return audited('webhook.disabled', id);
}
