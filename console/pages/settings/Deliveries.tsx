import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useChange } from '../../parts/useChange.ts';
import { settingsWords } from './words.ts';

/** What was sent to a webhook, and what came of it. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const t = useWords(settingsWords);
  const { formatTime } = useSpeech();
  const deliveries = useQuery({
    queryKey: ['deliveries', webhookId],
    queryFn: () =>
      ask(api.GET('/api/v1/me/webhooks/{webhook_id}/deliveries', { params: { path: { webhook_id: webhookId }, query: { limit: 50 } } })),
    refetchInterval: ({ state }) => (state.data?.deliveries.some(({ status }) => status === 'pending') ? 2_000 : false),
  });
  const change = useChange(['deliveries', webhookId]);
  const redeliver = (id: string) =>
    change(() =>
      ask(
        api.POST('/api/v1/me/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
          params: { path: { webhook_id: webhookId, delivery_id: id } },
        }),
      ),
    );
  const marks = { delivered: 'succeeded', failed: 'failed', pending: 'running' };
  return (
    <Answer of={deliveries}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <p className="dim">{t.noDeliveries}</p>
        ) : (
          <table className="list">
            <tbody>
              {deliveries.map(({ id, type, status, attempts, last_status: code, last_error: error, created_at: at }) => (
                <tr key={id}>
                  <td>
                    <span className={`mark ${marks[status]}`}>{t.deliveryStates[status]}</span>
                  </td>
                  <td>{type}</td>
                  <td>
                    {t.attempts}: {attempts} {code ?? ''} <span className="bad">{error}</span>
                  </td>
                  <td>{formatTime(at)}</td>
                  <td>
                    <button type="button" className="plain" onClick={() => void redeliver(id)}>
                      {t.redeliver}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Answer>
  );
}
