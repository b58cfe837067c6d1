DROP INDEX "tables_name";--> statement-breakpoint
ALTER TABLE "tables" ADD COLUMN "name_key" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "tables_name_key" ON "tables" USING btree ("workbook_id","name_key");--> statement-breakpoint
CREATE UNIQUE INDEX "tables_name" ON "tables" USING btree ("workbook_id","name_key") WHERE state = 'active' AND deleted_at IS NULL;