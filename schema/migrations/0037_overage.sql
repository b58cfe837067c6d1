CREATE TABLE "charges" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"cause" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"credits" integer NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"declines" integer DEFAULT 0 NOT NULL,
	"declined_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "charges_amount" CHECK (amount > 0 AND credits >= 0)
);
--> statement-breakpoint
-- The rows there are met narrower rules, so the new ones need not read them.
ALTER TABLE "credit_entries" DROP CONSTRAINT "credit_entries_source";--> statement-breakpoint
ALTER TABLE "credit_entries" DROP CONSTRAINT "credit_entries_bucket";--> statement-breakpoint
ALTER TABLE "credit_movements" DROP CONSTRAINT "credit_movements_kind";--> statement-breakpoint
ALTER TABLE "charges" ADD CONSTRAINT "charges_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "charges_cause" ON "charges" USING btree ("account_id","cause");--> statement-breakpoint
CREATE UNIQUE INDEX "charges_open" ON "charges" USING btree ("account_id","kind") WHERE status = 'open';--> statement-breakpoint
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_source" CHECK (source in ('included', 'purchased', 'overage')) NOT VALID;--> statement-breakpoint
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_bucket" CHECK (bucket in ('issued', 'available', 'reserved', 'spent', 'settled', 'expired')) NOT VALID;--> statement-breakpoint
ALTER TABLE "credit_movements" ADD CONSTRAINT "credit_movements_kind" CHECK (kind in ('grant', 'purchase', 'reserve', 'settle', 'release', 'expire', 'cover', 'bill')) NOT VALID;--> statement-breakpoint
CALL svc_wall_off('charges', 'svc_may_touch(account_id)');
