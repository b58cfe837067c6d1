ALTER TABLE "results" ADD COLUMN "bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "file_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "tail_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "sources_account" ON "sources" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "results_account" ON "results" USING btree ("account_id","expires_at");--> statement-breakpoint
CREATE INDEX "tables_account" ON "tables" USING btree ("account_id");--> statement-breakpoint
-- Results in files stay at 0: they are gone within a day.
UPDATE results SET bytes = octet_length(content) WHERE content IS NOT NULL;--> statement-breakpoint
UPDATE tables t SET file_bytes = coalesce((SELECT sum((entry->>'bytes')::bigint) FROM manifests m, jsonb_array_elements(m.layers) AS part(entry) WHERE m.id = t.manifest_id), 0);--> statement-breakpoint
UPDATE tables t SET tail_bytes = coalesce((
  SELECT sum(coalesce(pg_column_size(r.cells), 0) + coalesce(pg_column_size(r.before), 0))
  FROM manifests m, jsonb_array_elements(m.layers) AS part(l), row_log r
  WHERE m.id = t.manifest_id AND l->>'kind' = 'log' AND r.table_id = t.id
    AND r.edit_version > (l->>'after')::bigint AND r.edit_version <= coalesce((l->>'upTo')::bigint, r.edit_version)), 0)
WHERE t.tail_count > 0;
