import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, type Schemas, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useChange } from '../../parts/useChange.ts';
import { commonWords } from '../../parts/words.ts';
import { Deliveries } from './Deliveries.tsx';
import { Secret } from './Secret.tsx';
import { settingsWords } from './words.ts';

export function WebhooksSection() {
  const t = useWords(settingsWords);
  const [secret, setSecret] = useState<string | null>(null);
  const webhooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: () => ask(api.GET('/api/v1/me/webhooks', { params: { query: { limit: 200 } } })),
  });
  const change = useChange(['webhooks']);
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const url = String(new FormData(event.currentTarget).get('url')).trim();
    void change(async () => setSecret((await ask(api.POST('/api/v1/me/webhooks', { body: { url } }))).secret));
  };
  return (
    <section className="fields">
      <form className="row" onSubmit={create}>
        <input name="url" type="url" aria-label={t.address} placeholder="https://…" required />
        <button type="submit" className="main">
          {t.newWebhook}
        </button>
      </form>
      <Answer of={webhooks}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <p className="dim">{t.noWebhooks}</p>
          ) : (
            <ul className="plain-list">
              {webhooks.map((webhook) => (
                <WebhookItem key={webhook.id} webhook={webhook} onChange={change} onSecret={setSecret} />
              ))}
            </ul>
          )
        }
      </Answer>
      {secret && <Secret title={t.newWebhook} text={secret} onClose={() => setSecret(null)} />}
    </section>
  );
}

interface WebhookItemProps {
  webhook: Schemas['Webhook'];
  onChange: (work: () => Promise<unknown>) => Promise<void>;
  onSecret: (secret: string) => void;
}

function WebhookItem({ webhook, onChange, onSecret }: WebhookItemProps) {
  const t = useWords(settingsWords);
  const common = useWords(commonWords);
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const params = { path: { webhook_id: webhook.id } };
  const test = async () => {
    await ask(api.POST('/api/v1/me/webhooks/{webhook_id}/test', { params }));
    setOpen(true);
    void queries.invalidateQueries({ queryKey: ['deliveries', webhook.id] });
  };
  const rotate = async () => onSecret((await ask(api.POST('/api/v1/me/webhooks/{webhook_id}/rotate', { params }))).secret);
  const remove = () => tell(api.DELETE('/api/v1/me/webhooks/{webhook_id}', { params }));
  return (
    <li>
      <div className="row">
        <strong>{webhook.url}</strong>
        <span className={`mark ${webhook.status === 'active' ? 'succeeded' : 'failed'}`}>{t.webhookStates[webhook.status]}</span>
        <small className="dim">{webhook.events.length === 0 ? t.all : webhook.events.join(', ')}</small>
        <span className="row tight end">
          <button type="button" aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
            {t.deliveries}
          </button>
          <button type="button" onClick={() => void onChange(test)}>
            {t.test}
          </button>
          <button type="button" onClick={() => void onChange(rotate)}>
            {t.rotate}
          </button>
          <button type="button" className="danger" onClick={() => confirm(t.deleteSure(webhook.url)) && void onChange(remove)}>
            {common.delete}
          </button>
        </span>
      </div>
      {isOpen && <Deliveries webhookId={webhook.id} />}
    </li>
  );
}
