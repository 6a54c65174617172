ALTER TABLE "backup_configurations" ADD COLUMN "failed_drill_id" integer;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "failed_drill_at" timestamp (3) with time zone;