import { idempotencyKey, paramsOf, pick, readsOnly, shape, type Tool, text, whole, workbookId } from '../tool.ts';

const mode = {
  type: 'string',
  enum: ['auto', 'staged'],
  description: 'auto: the file becomes tables at once; staged: it is analyzed, and its regions are chosen first.',
};
const howToSend =
  'Send the bytes by HTTP PUT to upload_url (it is signed, no credential is needed); then get_upload tells when its tables are there.';

/** Tools that bring files in, look after work that takes long, and review. */
export const fileTools: Tool[] = [
  {
    name: 'create_workbook',
    title: 'Create a workbook',
    description: 'A new, empty workbook.',
    input: { title: text('Title.', { minLength: 1, maxLength: 200 }), idempotency_key: idempotencyKey },
    required: ['title'],
    output: shape({ id: text('Id.'), title: text('Title.') }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ ask }, { title, idempotency_key: key }) {
      const { body } = await ask('createWorkbook', { body: { title }, idempotencyKey: key as string | undefined });
      return pick(body, ['id', 'title', 'workspace_id', 'governed']);
    },
  },
  {
    name: 'upload_file',
    title: 'Upload a file',
    description: `Brings a file (xlsx, xlsm, csv, tsv, parquet, JSON, NDJSON, Arrow) into a workbook. With url the service fetches it. Without, the answer is an upload slot. ${howToSend}`,
    input: {
      workbook_id: workbookId,
      filename: text('File name with its extension; needed without url.', { minLength: 1 }),
      url: text('http or https address to fetch the file from.', { minLength: 1 }),
      mode,
      idempotency_key: idempotencyKey,
    },
    required: ['workbook_id'],
    output: shape(
      {
        upload_id: text('Of a slot: for get_upload.'),
        upload_url: text('Of a slot: where to PUT the bytes.'),
        expires_at: text('Of a slot: until when.'),
        next_step: text('What to do now.'),
        job_id: text('Of a fetch that goes on: for get_job.'),
      },
      ['next_step'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    async run({ ask }, { workbook_id, idempotency_key: key, ...body }) {
      const asked = { params: paramsOf({ workbook_id }), body, idempotencyKey: key as string | undefined };
      if (body.url !== undefined) {
        const { status, body: answer } = await ask('ingestUrl', asked);
        const next_step =
          status === 202 ? 'The file is being worked on: get_job tells when it is done.' : 'The tables are there: list_tables.';
        return { ...pick(answer, ['job_id', 'source', 'artifacts', 'structuring']), next_step };
      }
      const { body: slot } = await ask('createUpload', asked);
      return { ...pick(slot, ['upload_id', 'upload_url', 'filename', 'expires_at', 'status']), next_step: howToSend };
    },
  },
  {
    name: 'get_upload',
    title: 'Look at an upload',
    description: 'Whether the bytes of an upload slot have come, and which tables were made of them.',
    input: { upload_id: text('Id of the upload.', { minLength: 1 }) },
    required: ['upload_id'],
    output: shape({ upload_id: text('Id.'), status: text('pending, uploaded or ingested.') }),
    annotations: readsOnly,
    async run({ ask }, { upload_id }) {
      const { body } = await ask('getUpload', { params: { upload_id: String(upload_id) } });
      return pick(body, ['upload_id', 'workbook_id', 'filename', 'status', 'expires_at', 'job_id', 'error', 'artifacts']);
    },
  },
  {
    name: 'get_job',
    title: 'Look at a job',
    description: 'State and result of work that goes on after its answer. `wait` waits for its end, so many seconds at most.',
    input: { job_id: text('Id of the job.', { minLength: 1 }), wait: whole('Seconds to wait.', { minimum: 0, maximum: 45 }) },
    required: ['job_id'],
    output: shape({ job_id: text('Id.'), kind: text('Kind.'), status: text('queued, running, succeeded, failed or cancelled.') }),
    annotations: readsOnly,
    async run({ ask }, { job_id, ...query }) {
      return (await ask('getJob', { params: { job_id: String(job_id) }, query })).body as Record<string, unknown>;
    },
  },
  {
    name: 'review_workbook',
    title: 'Review',
    description:
      'Looks for errors in a table or in all of a workbook: totals that do not add up, mixed types, duplicates, outliers and more, with evidence.',
    input: {
      workbook_id: workbookId,
      table: text('The table; all if left out.', { minLength: 1 }),
      mode: {
        type: 'string',
        enum: ['lint', 'agent'],
        description: 'lint: rules; agent: a language model looks as well and spends credits.',
      },
      save: { type: 'boolean', description: 'Keep the review as a report of the workbook.' },
      idempotency_key: idempotencyKey,
    },
    required: ['workbook_id'],
    output: shape(
      {
        findings: { type: 'array', description: 'What was found.', items: { type: 'object' } },
        job_id: text('Of a review that goes on: for get_job.'),
      },
      [],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ ask }, { workbook_id, table: target, idempotency_key: key, ...body }) {
      const asked = { params: paramsOf({ workbook_id }), body: { ...body, ...(target === undefined ? {} : { target }) } };
      return (await ask('reviewWorkbook', { ...asked, idempotencyKey: key as string | undefined })).body as Record<string, unknown>;
    },
  },
];
