CREATE TABLE "credit_entries" (
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"source" text NOT NULL,
	"ends" integer NOT NULL,
	"bucket" text NOT NULL,
	"amount" integer NOT NULL,
	"seq" integer NOT NULL,
	"balance" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "credit_entries_account_id_key_source_ends_bucket_pk" PRIMARY KEY("account_id","key","source","ends","bucket"),
	CONSTRAINT "credit_entries_source" CHECK (source in ('included', 'purchased')),
	CONSTRAINT "credit_entries_bucket" CHECK (bucket in ('issued', 'available', 'reserved', 'spent', 'expired')),
	CONSTRAINT "credit_entries_month" CHECK (ends between 200001 and 999912 and ends % 100 between 1 and 12),
	CONSTRAINT "credit_entries_amount" CHECK (amount <> 0),
	CONSTRAINT "credit_entries_not_overdrawn" CHECK (case bucket when 'issued' then balance <= 0 else balance >= 0 end)
);
--> statement-breakpoint
CREATE TABLE "credit_movements" (
	"account_id" text NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"ref" text,
	"workbook_id" text,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "credit_movements_account_id_key_pk" PRIMARY KEY("account_id","key"),
	CONSTRAINT "credit_movements_kind" CHECK (kind in ('grant', 'purchase', 'reserve', 'settle', 'release', 'expire'))
);
--> statement-breakpoint
CREATE TABLE "job_drafts" (
	"job_id" text NOT NULL,
	"stage" text NOT NULL,
	"draft" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "job_drafts_job_id_stage_pk" PRIMARY KEY("job_id","stage")
);
--> statement-breakpoint
CREATE TABLE "landings" (
	"table_id" text NOT NULL,
	"built_name" text NOT NULL,
	"edit_version" bigint NOT NULL,
	"source_id" text NOT NULL,
	"revision" integer NOT NULL,
	"role" text NOT NULL,
	"position" integer NOT NULL,
	"sheet" text NOT NULL,
	"region_id" text,
	"range" text,
	"min_row" bigint NOT NULL,
	"max_row" bigint NOT NULL,
	"row_base" bigint NOT NULL,
	"provenance_key" text,
	"kept_key" text,
	"kept_formulas" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "landings_table_id_edit_version_position_pk" PRIMARY KEY("table_id","edit_version","position")
);
--> statement-breakpoint
CREATE TABLE "sources" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"user_id" text,
	"name" text NOT NULL,
	"filename" text NOT NULL,
	"mode" text NOT NULL,
	"status" text NOT NULL,
	"format" text NOT NULL,
	"content_type" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"blob_key" text NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"provenance" jsonb NOT NULL,
	"structuring" text,
	"structuring_reason" text,
	"error" text,
	"job_id" text,
	"spec_version" integer DEFAULT 0 NOT NULL,
	"spec" jsonb,
	"extents" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "structurings" (
	"account_id" text NOT NULL,
	"content_hash" text NOT NULL,
	"state" text NOT NULL,
	"job_id" text NOT NULL,
	"filename" text NOT NULL,
	"spec" jsonb,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "structurings_account_id_content_hash_pk" PRIMARY KEY("account_id","content_hash")
);
--> statement-breakpoint
CREATE TABLE "table_inputs" (
	"table_id" text NOT NULL,
	"input_id" text NOT NULL,
	"kind" text NOT NULL,
	CONSTRAINT "table_inputs_table_id_input_id_pk" PRIMARY KEY("table_id","input_id")
);
--> statement-breakpoint
CREATE TABLE "uploads" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"user_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"credential" text NOT NULL,
	"filename" text NOT NULL,
	"content_type" text,
	"mode" text NOT NULL,
	"structuring" text NOT NULL,
	"sha256" text,
	"job_id" text,
	"source_id" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "idempotency" ADD COLUMN "job_id" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "input" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "actor" jsonb;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "problem" jsonb;--> statement-breakpoint
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_movement" FOREIGN KEY ("account_id","key") REFERENCES "public"."credit_movements"("account_id","key") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "landings" ADD CONSTRAINT "landings_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "landings" ADD CONSTRAINT "landings_source_id_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "table_inputs" ADD CONSTRAINT "table_inputs_table_id_tables_id_fk" FOREIGN KEY ("table_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "table_inputs" ADD CONSTRAINT "table_inputs_input_id_tables_id_fk" FOREIGN KEY ("input_id") REFERENCES "public"."tables"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uploads" ADD CONSTRAINT "uploads_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "credit_entries_balance" ON "credit_entries" USING btree ("account_id","bucket","source","ends","seq");--> statement-breakpoint
CREATE INDEX "credit_entries_spent" ON "credit_entries" USING btree ("account_id","source","ends","at","seq") WHERE bucket = 'spent';--> statement-breakpoint
CREATE INDEX "landings_source" ON "landings" USING btree ("source_id","revision");--> statement-breakpoint
CREATE UNIQUE INDEX "sources_name" ON "sources" USING btree ("workbook_id","name");--> statement-breakpoint
CREATE INDEX "sources_content" ON "sources" USING btree ("workbook_id","sha256");--> statement-breakpoint
CREATE INDEX "table_inputs_input" ON "table_inputs" USING btree ("input_id");--> statement-breakpoint
CREATE INDEX "uploads_workbook" ON "uploads" USING btree ("workbook_id","id");--> statement-breakpoint
CREATE INDEX "uploads_expiry" ON "uploads" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "jobs_unfinished" ON "jobs" USING btree ("created_at") WHERE finished_at IS NULL;