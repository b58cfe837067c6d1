CREATE TABLE "billing_profiles" (
	"account_id" text PRIMARY KEY NOT NULL,
	"customer_id" text,
	"shares_with" text,
	"card" jsonb,
	"interval" text,
	"period_start" timestamp (3) with time zone,
	"period_end" timestamp (3) with time zone,
	"auto_topup" boolean DEFAULT false NOT NULL,
	"topup_amount" integer,
	"topup_threshold" integer,
	"arrears" integer DEFAULT 0 NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "billing_sessions" (
	"id_hash" "bytea" PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"plan" text,
	"interval" text,
	"pack" text,
	"success_url" text,
	"cancel_url" text,
	"status" text DEFAULT 'open' NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "billing_sessions_order" CHECK ((kind = 'subscription') = (plan IS NOT NULL AND "interval" IS NOT NULL) AND (kind = 'topup') = (pack IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"ref" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"amount" integer NOT NULL,
	"currency" text NOT NULL,
	"credits" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "payments_amount" CHECK (amount >= 0 AND credits >= 0)
);
--> statement-breakpoint
ALTER TABLE "billing_profiles" ADD CONSTRAINT "billing_profiles_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "billing_profiles" ADD CONSTRAINT "billing_profiles_shares_with_accounts_id_fk" FOREIGN KEY ("shares_with") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "billing_sessions" ADD CONSTRAINT "billing_sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "billing_sessions_expiry" ON "billing_sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "payments_account" ON "payments" USING btree ("account_id","at");--> statement-breakpoint
CALL svc_wall_off('billing_profiles', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('billing_sessions', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('payments', 'svc_may_touch(account_id)');
