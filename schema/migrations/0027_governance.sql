CREATE TABLE "column_tags" (
	"table_id" text NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"column_id" integer NOT NULL,
	"tag" text NOT NULL,
	"origin" text NOT NULL,
	"from_table" text,
	"from_column" integer,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "column_tags_table_id_column_id_tag_pk" PRIMARY KEY("table_id","column_id","tag")
);
--> statement-breakpoint
CREATE TABLE "policies" (
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"tag" text NOT NULL,
	"role" text NOT NULL,
	"effect" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "policies_workbook_id_tag_role_pk" PRIMARY KEY("workbook_id","tag","role")
);
--> statement-breakpoint
CREATE TABLE "sync_bindings" (
	"id" text PRIMARY KEY NOT NULL,
	"table_id" text NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"external_kind" text NOT NULL,
	"external_ref" text NOT NULL,
	"direction" text NOT NULL,
	"ownership_map" jsonb,
	"actor" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "workbooks" ADD COLUMN "policy_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "column_tags" ADD CONSTRAINT "column_tags_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "column_tags" ADD CONSTRAINT "column_tags_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "policies" ADD CONSTRAINT "policies_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_bindings" ADD CONSTRAINT "sync_bindings_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_bindings" ADD CONSTRAINT "sync_bindings_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "column_tags_workbook" ON "column_tags" USING btree ("workbook_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sync_bindings_sheet" ON "sync_bindings" USING btree ("workbook_id","external_kind","external_ref");--> statement-breakpoint
CREATE INDEX "sync_bindings_table" ON "sync_bindings" USING btree ("table_id","id");--> statement-breakpoint
CALL svc_wall_off('column_tags', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('policies', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('sync_bindings', 'svc_may_touch(account_id)');
