CREATE TABLE "garbage_blobs" (
	"key" text PRIMARY KEY NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "snapshots" ADD COLUMN "opened_at" timestamp (3) with time zone NOT NULL;--> statement-breakpoint
ALTER TABLE "snapshots" ADD COLUMN "next_id" text NOT NULL;