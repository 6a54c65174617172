ALTER TABLE "workers" ADD COLUMN "take_over" jsonb;--> statement-breakpoint
CREATE INDEX "workers_take_over" ON "workers" USING btree ("id") WHERE "workers"."take_over" is not null;