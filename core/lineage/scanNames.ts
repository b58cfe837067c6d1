/** Tables and columns are named by place where a query is planned, so that no name of a user has to be told from another. */
export const scanTable = (place: number) => `svc_input_${place}`;
export const scanColumn = (place: number) => `c${place}`;

/** The place in such a name; -1 for any other name. */
export function readPlace(naming: (place: number) => string, name: string): number {
  const place = Number(/\d+$/.exec(name)?.[0] ?? -1);
  return naming(place) === name ? place : -1;
}
