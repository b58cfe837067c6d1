CREATE TABLE "file_link_versions" (
	"link_id" text NOT NULL,
	"account_id" text NOT NULL,
	"n" integer NOT NULL,
	"kind" text NOT NULL,
	"filename" text NOT NULL,
	"format" text NOT NULL,
	"content_type" text NOT NULL,
	"size" bigint NOT NULL,
	"sha256" text NOT NULL,
	"blob_key" text NOT NULL,
	"modified_by" text,
	"modified_at" timestamp (3) with time zone,
	"synced_at" timestamp (3) with time zone NOT NULL,
	"snapshot_id" text NOT NULL,
	CONSTRAINT "file_link_versions_link_id_n_pk" PRIMARY KEY("link_id","n")
);
--> statement-breakpoint
CREATE TABLE "file_links" (
	"id" text PRIMARY KEY NOT NULL,
	"workbook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"source_id" text NOT NULL,
	"provider" text,
	"file_id" text,
	"origin" text,
	"every" text,
	"user_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "file_link_versions" ADD CONSTRAINT "file_link_versions_link_id_file_links_id_fk" FOREIGN KEY ("link_id") REFERENCES "public"."file_links"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_link_versions" ADD CONSTRAINT "file_link_versions_snapshot_id_snapshots_id_fk" FOREIGN KEY ("snapshot_id") REFERENCES "public"."snapshots"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_links" ADD CONSTRAINT "file_links_workbook_id_workbooks_id_fk" FOREIGN KEY ("workbook_id") REFERENCES "public"."workbooks"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "file_links" ADD CONSTRAINT "file_links_source_id_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."sources"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "file_links_name" ON "file_links" USING btree ("workbook_id","name");--> statement-breakpoint
CREATE INDEX "file_links_source" ON "file_links" USING btree ("source_id");--> statement-breakpoint
CALL svc_wall_off('file_links', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('file_link_versions', 'svc_may_touch(account_id)');
