import type { ReactNode } from 'react';

interface ListTableProps {
  heads: string[];
  /** Those of the heads over numbers. */
  numbers?: string[];
  children: ReactNode;
}

/** A short list with heads; what is long is in a grid. */
export function ListTable({ heads, numbers = [], children }: ListTableProps) {
  return (
    <table className="list">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col" className={numbers.includes(head) ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
