import { bindSheet, checkOwners, unbindSheet } from '../../activities/bindings/bindSheet.ts';
import { openBindings, pageBindings } from '../../activities/bindings/seeBindings.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentBinding } from '../presenters/bindings.ts';

export function makeBindingHandlers({ services }: ApiParts): Handlers<'listSyncBindings' | 'bindSheet' | 'unbindSheet'> {
  return {
    async listSyncBindings({ principal, params, query }) {
      const at = await requireNamedTable(services, principal, params, 'viewer');
      const page = await pageBindings(services, principal, at, query);
      return { status: 200, body: { sync_bindings: page.items.map(presentBinding), next_cursor: page.nextCursor } };
    },

    async bindSheet(call) {
      const { principal, params, body } = call;
      const at = await requireNamedTable(services, principal, params, 'editor');
      const wanted = {
        externalKind: body.external_kind,
        externalRef: body.external_ref,
        direction: body.direction ?? 'bidirectional',
        ownershipMap: body.ownership_map ?? null,
      };
      await checkOwners(services, principal, at, wanted);
      const see = await openBindings(services, principal, at);
      return call.writeAs(call.actor(body.actor))(
        (tx) => bindSheet(tx, at.table, wanted),
        (binding) => ({ status: 201, body: presentBinding(see(binding)) }),
      );
    },

    async unbindSheet(call) {
      const { principal, params, query } = call;
      const { table } = await requireNamedTable(services, principal, params, 'editor');
      return call.writeAs(call.actor(query.actor))(
        (tx) => unbindSheet(tx, table, params.binding_id),
        () => ({ status: 204 }),
      );
    },
  };
}
