ALTER TABLE "file_links" ADD COLUMN "credential" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "file_links" ADD COLUMN "actor" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "file_links" ADD COLUMN "next_look_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "file_links_due" ON "file_links" USING btree ("next_look_at") WHERE next_look_at IS NOT NULL;