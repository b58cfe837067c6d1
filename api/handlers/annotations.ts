import { listTableAnnotations, prepareAnnotations, removeAnnotations, setAnnotations } from '../../activities/annotations/annotateTable.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentAnnotation } from '../presenters/annotations.ts';

export function makeAnnotationHandlers({ services }: ApiParts): Handlers<'listAnnotations' | 'annotateTable' | 'deleteAnnotations'> {
  const open = async (principal: Principal, params: { workbook_id: string; name: string }, needed: 'viewer' | 'editor') => {
    return openVisibleTable(services, principal, await requireNamedTable(services, principal, params, needed));
  };

  return {
    async listAnnotations({ principal, params, query }) {
      const visible = await open(principal, params, 'viewer');
      const page = await listTableAnnotations(services, visible, { cursor: query.cursor, limit: query.limit ?? 500 });
      return { status: 200, body: { annotations: page.annotations.map(presentAnnotation), next_cursor: page.nextCursor } };
    },

    async annotateTable(call) {
      const visible = await open(call.principal, call.params, 'editor');
      const prepared = await prepareAnnotations(services, visible, call.body.annotations);
      return call.writeAs(call.actor(call.body.actor))(
        (tx) => setAnnotations(tx, prepared),
        (annotations) => ({ status: 200, body: { annotations: annotations.map(presentAnnotation) } }),
      );
    },

    async deleteAnnotations(call) {
      const visible = await open(call.principal, call.params, 'editor');
      return call.write(
        (tx) => removeAnnotations(tx, visible, call.body.targets),
        (deleted) => ({ status: 200, body: { deleted } }),
      );
    },
  };
}
