CREATE TABLE "billing_events" (
	"event_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "billing_profiles" ADD COLUMN "pays_by_usage" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "billing_profiles" ADD COLUMN "provider_reads" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "billing_events" ADD CONSTRAINT "billing_events_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "billing_events_at" ON "billing_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "billing_profiles_customer" ON "billing_profiles" USING btree ("customer_id");--> statement-breakpoint
UPDATE "billing_profiles" SET "pays_by_usage" = true FROM "accounts" WHERE "accounts"."id" = "account_id" AND "accounts"."plan" = 'payg';--> statement-breakpoint
CALL svc_wall_off('billing_events', 'svc_may_touch(account_id)');
