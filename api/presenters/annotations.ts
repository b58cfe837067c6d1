import type { ShownAnnotation } from '../../activities/annotations/annotateTable.ts';
import type { components } from '../../schema/contract.ts';

type Annotation = components['schemas']['Annotation'];

export function presentAnnotation({ target, style, note, actor, updatedAt }: ShownAnnotation): Annotation {
  return { target, style: style as Annotation['style'], note, actor, updated_at: updatedAt.toISOString() };
}
