CREATE TABLE "branches" (
	"id" text NOT NULL,
	"table_id" text NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"position" integer NOT NULL,
	"base_version" bigint NOT NULL,
	"base_uid" text NOT NULL,
	"columns" jsonb NOT NULL,
	"row_count" bigint NOT NULL,
	"format" text NOT NULL,
	"filename" text NOT NULL,
	"actor" text NOT NULL,
	"user_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_merged_at" timestamp (3) with time zone,
	CONSTRAINT "branches_id_table_id_pk" PRIMARY KEY("id","table_id")
);
--> statement-breakpoint
ALTER TABLE "branches" ADD CONSTRAINT "branches_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "branches" ADD CONSTRAINT "branches_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "branches_workbook" ON "branches" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE INDEX "branches_version" ON "branches" USING btree ("table_id","base_version");--> statement-breakpoint
CALL svc_wall_off('branches', 'svc_may_touch(account_id)');
