ALTER TABLE "instances" ADD COLUMN "secret_hash" text;--> statement-breakpoint
-- Of earlier versions: whoever could read it could pose as an instance.
DELETE FROM "settings" WHERE "key" = 'peer_secret';
