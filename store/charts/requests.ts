/** What a process that draws charts is asked for. */
export type ChartRequest =
  | ({ op: 'check' } & ChartInput)
  | ({ op: 'draw'; as: PictureFormat } & ChartInput)
  /** A PNG of a picture that was drawn elsewhere, by its path. */
  | { op: 'rasterize'; svgPath: string }
  /** It keeps nothing between two charts. */
  | { op: 'forget' };

export type PictureFormat = 'svg' | 'png';

export interface ChartInput {
  /** Vega-Lite, without data. */
  config: Record<string, unknown>;
  /** All columns that a field may name. */
  columns: string[];
  /** Those whose values are numbers; large ones come as texts. */
  numbers: string[];
  /** Lines of JSON, one for each row, as the process sees the file. */
  rowsPath: string;
}

/** The answer to `check`. */
export interface ChartCheck {
  /** What Vega-Lite has left out or changed, and why. */
  warnings: string[];
}
