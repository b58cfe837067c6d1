import type { Flows } from './flows.ts';

/** What a version of a derived table was made from. */
export interface Derivation {
  transformId: string;
  revision: number;
  inputs: DerivedFrom[];
}

export interface DerivedFrom {
  inputId: string;
  inputVersion: number;
  flows: Flows | null;
}

/**
 * Of derived tables at some versions, those that are what their transforms, as they are now, make of the other tables at their
 * versions. `versions`: of all tables by id. `derivations`: what these versions of derived tables were made from, as far as it is
 * known. `transforms`: by the id of their output.
 */
export function findConsistent(
  versions: ReadonlyMap<string, number>,
  derivations: ReadonlyMap<string, Derivation>,
  transforms: ReadonlyMap<string, { id: string; revision: number }>,
): Set<string> {
  const known = new Map<string, boolean>();
  const look = (tableId: string): boolean => {
    const transform = transforms.get(tableId);
    if (!transform) return true;
    const before = known.get(tableId);
    if (before !== undefined) return before;
    // A table that is made from itself is not consistent; there is none.
    known.set(tableId, false);
    const derivation = derivations.get(tableId);
    const isConsistent =
      derivation !== undefined &&
      derivation.transformId === transform.id &&
      derivation.revision === transform.revision &&
      derivation.inputs.every(({ inputId, inputVersion }) => versions.get(inputId) === inputVersion && look(inputId));
    known.set(tableId, isConsistent);
    return isConsistent;
  };
  return new Set([...transforms.keys()].filter((id) => versions.has(id) && look(id)));
}
