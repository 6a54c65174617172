ALTER TABLE "backups" ADD COLUMN "restore_target" jsonb;--> statement-breakpoint
CREATE INDEX "backups_restored" ON "backups" USING btree ("restored_at") WHERE "backups"."restored_at" is not null;