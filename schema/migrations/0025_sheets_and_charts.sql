CREATE TABLE "charts" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"name_key" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"chart_type" text,
	"table_id" text,
	"title" text,
	"config" jsonb NOT NULL,
	"recipe" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sheets" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"name_key" text GENERATED ALWAYS AS (lower(name)) STORED NOT NULL,
	"title" text,
	"blocks" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "charts" ADD CONSTRAINT "charts_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "charts" ADD CONSTRAINT "charts_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sheets" ADD CONSTRAINT "sheets_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "charts_name" ON "charts" USING btree ("workbook_id","name_key");--> statement-breakpoint
CREATE INDEX "charts_table" ON "charts" USING btree ("table_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sheets_name" ON "sheets" USING btree ("workbook_id","name_key");--> statement-breakpoint
CALL svc_wall_off('charts', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('sheets', 'svc_may_touch(account_id)');
