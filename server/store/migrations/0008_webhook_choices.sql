ALTER TABLE "webhook_attempts" ADD COLUMN "url" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "description" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "events" text[];--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "paused_at" timestamp (3) with time zone;