/** Every number that decides something in structuring, in one place, with the reason. */

/** A header of more rows than this is not a header but a form above the table. */
export const MAX_HEADER_ROWS = 12;

/** Header rows may stand this far apart: tall headers are often laid out over unmerged rows. */
export const HEADER_GAP_ROWS = 6;

/** A header line that names this share of the columns is complete. */
export const FULL_HEADER_SHARE = 0.8;

/** Texts longer than this are prose: they explain, they do not label. */
export const PROSE_LENGTH = 60;

/** A column belongs to a class when this share of its filled cells does: room for a few odd cells, not for a mixture. */
export const COLUMN_CLASS_SHARE = 0.6;

/** Rows looked at to learn what a column holds; a sample keeps wide tables cheap and the answer the same. */
export const COLUMN_SAMPLE_ROWS = 400;

/** The same text on this many rows of figures is a value: headers that come again do so on rows without figures. */
export const MIN_FILLER_ROWS = 3;

/** Fewer numbers that count up may do so by chance. */
export const MIN_COUNTING = 4;

/** Lines below a gap that are read to see whether a table starts there. */
export const LOOK_AHEAD_LINES = 12;

/** This many blank rows end a table: nobody leaves a screen of nothing inside one. */
export const WIDE_GAP_ROWS = 7;

/** Lines above a gap that show how wide the table is there. */
export const LAYOUT_SAMPLE_LINES = 40;

/** Lines that fill at most this share of the cells of the lines above do not continue them. */
export const NARROW_SHARE = 0.5;

/** A narrow part must stand this far below, because sections of one report differ in width too. */
export const NARROW_GAP_ROWS = 3;

/** A header that comes again with names of its own in it keeps this share of them; rows of a list agree in fewer cells. */
export const RETURNING_SHARE = 0.6;

/** Fewer names may be the same by chance. */
export const MIN_RETURNING = 3;

/** Titles between a gap and the header they belong to. */
export const MAX_TITLE_LINES = 8;

/** Rows from a title down to what it is the title of. */
export const TITLE_GAP_ROWS = 3;

/** Two columns that share fewer of their rows than this were not written side by side as one table. */
export const SHARED_ROWS = 0.5;

/** Totals are compared within half a unit of the last shown digit per addend; this is the relative part. */
export const SUM_TOLERANCE = 1e-6;

/** A report is made of figures: this share of its columns beside the labels. */
export const FIGURE_SHARE = 0.6;

/** Reports have one label column for each level; more are the attributes of a list. */
export const MAX_LABEL_COLUMNS = 5;

/** Key columns that may stand before the names of a table. */
export const MAX_KEY_COLUMNS = 4;

/** Column groups that are looked at one by one; more are spacer columns. */
export const MAX_COLUMN_GROUPS = 64;

/** Settings above a table take at most this many lines; a header further down belongs to a list of tables. */
export const STRONG_HEADER_LINES = 40;

/** Lines of the head and of the end of a table that are read at each gap below it, so that many gaps stay cheap. */
export const UPPER_LINES = 60;

/**
 * Digits that must agree, beyond those that chance explains for the combinations tried, before a sum or a difference is believed
 * that nothing but the numbers suggests. A table of 20 rows and 4 columns of counts below 30 shows a "difference" on every
 * third row by chance with fewer than 5; statements of real amounts reach 12.
 */
export const STRONG_DIGITS = 6;

/** The same where the label says that the row is a result. */
export const RESULT_DIGITS = 1;

/** Fewer rows are read as they are: looking for what to leave out would take longer than it saves. */
export const LONG_LIST_ROWS = 1_000;

/** Rows that stay at the top and at the bottom of a long list: more than any sample takes (see COLUMN_SAMPLE_ROWS). */
export const LONG_LIST_HEAD = 500;
export const LONG_LIST_TAIL = 100;

/** A cell is usual in its column if it looks like this share of all rows: a column may hold blanks and a few formats. */
export const USUAL_CELL_SHARE = 0.01;

/** Rows much narrower than most may be headings inside a list. */
export const USUAL_WIDTH_SHARE = 0.5;

/** Cells that a finding lists; its count says how many there are. */
export const LISTED_CELLS = 10;

/** Columns of figures beside the periods of a long table: one is often the number or code of a row; several are measures of their own. */
export const MAX_UNEXPLAINED = 1;

/** Years in a header are at most this far apart; amounts such as 2000 and 2050 that look like years are further. */
export const MAX_YEAR_STEP = 25;

/** Lines of several cells above the pairs of a form: its name beside a number or a date. */
export const MAX_FORM_TITLES = 3;

/** Cells of a line that closes a form below its table: two pairs. */
export const MAX_TAIL_CELLS = 4;

/** Keys that must be seen before the blanks below them are taken for rows of their groups. */
export const MIN_GROUPS = 3;

/** Keys of groups differ, but for a slip or a note; marks and categories come again and again. */
export const DISTINCT_KEYS = 0.9;

/** More periods than this with few values in them are the days of a calendar, and stay columns. */
export const MAX_SPARSE_PERIODS = 14;
export const MARKED_SHARE = 0.3;

/** Columns of a table that one line makes text before it is taken for a header that was not read as one. */
export const MAX_FORCED_COLUMNS = 3;

/** A table of some columns most of which have no name was cut from its header. */
export const MIN_NAMED_COLUMNS = 5;
export const MAX_UNNAMED_SHARE = 0.7;

/** Groups of a list with a figure under `Total` alone before that figure is taken for their sum: a charge or two stand so as well. */
export const MIN_HEADED_GROUPS = 3;

/**
 * How much each piece of evidence moves the odds that a reading is right, and what it usually is (findings/evidence.ts). Fitted to the
 * 1,028 tables found in 835 labelled sheets, five rounds by workbook: decision 0093 has the figures.
 */
export const REGION_WEIGHTS: Record<string, [weight: number, usual: number]> = {
  bias: [0.75, 1],
  change: [-0.8, 0.1],
  gaps: [-0.79, 0.06],
  density: [1.34, 0.87],
  narrow: [-0.93, 0.17],
  many: [-1.19, 0.53],
  header: [1.13, 0.55],
  typed: [0.28, 0.65],
  named: [1.12, 0.83],
  above: [-1.19, 0.02],
  style: [-0.93, 0.3],
  headless: [-0.5, 0.05],
};
export const HEADER_WEIGHTS: Record<string, [weight: number, usual: number]> = {
  bias: [1.67, 1],
  header: [0.73, 0.6],
  data: [0.94, 0.65],
  above: [-0.51, 0.03],
  style: [0.44, 0.17],
  named: [1.81, 0.89],
  typed: [-1.86, 0.68],
  headless: [-0.57, 0],
};

/** Of the totals of labelled sheets that were found so, these shares were right: by word and figures, by word alone, by figures alone, else. */
export const TOTAL_SHARES = { both: 0.88, word: 0.8, figures: 0.87, neither: 0.84 };

/** The same of the levels of reports: what sums bear out, and what only indents, bold type and words say. Estimated from the analyst's cases. */
export const LEVEL_SHARES = { sums: 0.95, layout: 0.8 };

/** Below this the next best reading is told, too: one of five such readings was wrong. */
export const CLOSE_CONFIDENCE = 0.85;

/** Columns of a table that settings may belong to. */
export const MIN_WIDE = 4;

/** More pairs than this are a list worth a table of its own. */
export const MAX_SETTINGS = 12;

/** Longer runs of pairs are lists, whatever their style. */
export const MAX_FORM_LINES = 60;

/** Columns and rows are cut in turn; layouts that go deeper than this are taken as they are. */
export const MAX_DEPTH = 12;

/** How many rows back the parts of a difference are searched: reports state results close to their parts. */
export const MAX_DIFFERENCE_TERMS = 5;

/** Rows a sum without a formula may reach over. */
export const MAX_SUM_ROWS = 2000;

/** Totals that are tried against all rows before them; more of them would make the search quadratic. */
export const MAX_GRAND_TOTALS = 60;

/** In longer tables a difference is looked for only where a name or bold type suggests one. */
export const MAX_UNNAMED_ROWS = 150;

/** Unmarked parents are looked for in reports, which are not longer than this, among at most so many parts. */
export const MAX_UNMARKED_ROWS = 1500;

export const MAX_UNMARKED_PARTS = 60;

/** Longer tables are lists: their numbers count rows. */
export const MAX_NUMBERED_ROWS = 1500;

/** Vertical lines that must run on for rows to be of one frame: two may be a box around a whole page. */
export const MIN_VERTICALS = 3;

/** A sheet whose largest table is less sure than this is called doubtful. Of 835 labelled sheets 4.7 % are then wrong and not called so, and 7.1 % of the right ones are (`npm run rotation`, decision 0097). */
export const DOUBTFUL_CONFIDENCE = 0.6;

/** Lines that name parts of a list: one alone may be a remark. */
export const MIN_SECTIONS = 2;

/** Cells of the rows that such lines stand above: a row of two may be a name and its remark. */
export const MIN_SECTION_CELLS = 2;

/** Fewer columns that count up from 1 may be grades, rooms or questions. */
export const MIN_DAYS = 7;

/** Lines above a table that may name its month: a title, and a form of a few lines. */
export const MONTH_LINES = 12;

/**
 * Digits of a quotient that must agree beyond chance where a name or a percent sign already says that the row is one: three figures of
 * three digits among twenty rows leave five.
 */
export const QUOTIENT_DIGITS = 3;

/** Longer tables are lists; every row by every other would take too long there. */
export const MAX_QUOTIENT_ROWS = 120;

/** A column of labels that is filled on fewer rows than this share of those of the next one names groups: a group has two rows or more. */
export const GROUP_NAMED_SHARE = 0.6;

/** Rows that a mean without a name is taken of: halfway between two others stands many a figure. */
export const MIN_MEAN_PARTS = 3;

/** Totals above a balance that it may come from; statements have few, and pairs of them are tried. */
export const MAX_BALANCE_TOTALS = 12;
