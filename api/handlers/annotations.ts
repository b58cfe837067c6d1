import { requireWorkbook } from '../../activities/access.ts';
import {
  listTableAnnotations,
  prepareAnnotations,
  removeAnnotations,
  type ShownAnnotation,
  setAnnotations,
} from '../../activities/annotations/annotateTable.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { components } from '../../schema/contract.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';

type Annotation = components['schemas']['Annotation'];

function presentAnnotation({ target, style, note, actor, updatedAt }: ShownAnnotation): Annotation {
  return { target, style: style as Annotation['style'], note, actor, updated_at: updatedAt.toISOString() };
}

export function makeAnnotationHandlers({ services }: ApiParts): Handlers<'listAnnotations' | 'annotateTable' | 'deleteAnnotations'> {
  const open = async (principal: Principal, params: { workbook_id: string; name: string }, needed: 'viewer' | 'editor') => {
    const workbook = await requireWorkbook(services, principal, params.workbook_id, needed);
    return openVisibleTable(services, principal, await requireTable(services, workbook.id, params.name));
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
