CREATE TABLE "transforms" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"name_key" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"language" text NOT NULL,
	"template" text NOT NULL,
	"args" jsonb NOT NULL,
	"output" text NOT NULL,
	"output_id" text,
	"key" jsonb,
	"materialize" text NOT NULL,
	"revision" integer NOT NULL,
	"run_revision" integer,
	"actor" text NOT NULL,
	"user_id" text,
	"last_run_at" timestamp (3) with time zone,
	"last_error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "table_inputs" ADD COLUMN "input_version" bigint;--> statement-breakpoint
ALTER TABLE "table_inputs" ADD COLUMN "flows" jsonb;--> statement-breakpoint
ALTER TABLE "table_inputs" ADD COLUMN "stale_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "table_inputs" ADD COLUMN "stale_columns" integer[];--> statement-breakpoint
ALTER TABLE "transforms" ADD CONSTRAINT "transforms_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "transforms" ADD CONSTRAINT "transforms_output_id_tables_id_fk" FOREIGN KEY ("output_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "transforms_name" ON "transforms" USING btree ("workbook_id","name_key") WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX "transforms_output" ON "transforms" USING btree ("output_id");--> statement-breakpoint
CALL svc_wall_off('transforms', 'svc_may_touch(account_id)');
