CREATE TABLE "conflicts" (
	"id" text PRIMARY KEY NOT NULL,
	"table_id" text NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"row_id" bigint NOT NULL,
	"column_id" integer NOT NULL,
	"kind" text NOT NULL,
	"status" text NOT NULL,
	"base" text,
	"prior" text,
	"current" text,
	"branch_id" text,
	"edit_version" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"resolved_by" text
);
--> statement-breakpoint
ALTER TABLE "conflicts" ADD CONSTRAINT "conflicts_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "conflicts" ADD CONSTRAINT "conflicts_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "conflicts_workbook" ON "conflicts" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE INDEX "conflicts_status" ON "conflicts" USING btree ("workbook_id","status","id");--> statement-breakpoint
CALL svc_wall_off('conflicts', 'svc_may_touch(account_id)');
