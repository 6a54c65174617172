CREATE TABLE "server_contacts" (
	"server_id" integer PRIMARY KEY NOT NULL,
	"reachable" boolean NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"reason" text,
	"is_reported" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE "server_contacts" ADD CONSTRAINT "server_contacts_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;