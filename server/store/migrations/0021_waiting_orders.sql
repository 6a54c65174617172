ALTER TABLE "workers" ADD COLUMN "waiting_order" integer;--> statement-breakpoint
UPDATE "workers" SET "waiting_order" = "transition" WHERE "last_status" <> "status";
