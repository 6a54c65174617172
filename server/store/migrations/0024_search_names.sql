CREATE TABLE "search_names" (
	"kind" text NOT NULL,
	"id" integer NOT NULL,
	"folded" text NOT NULL,
	CONSTRAINT "search_names_kind_id_pk" PRIMARY KEY("kind","id")
);
--> statement-breakpoint
CREATE INDEX "backup_configurations_of_site" ON "backup_configurations" USING btree ("site_id","status") WHERE "backup_configurations"."site_id" is not null;--> statement-breakpoint
CREATE INDEX "backup_configurations_of_database" ON "backup_configurations" USING btree ("database_id","status") WHERE "backup_configurations"."database_id" is not null;--> statement-breakpoint
CREATE INDEX "databases_of_server" ON "databases" USING btree ("server_id","id");--> statement-breakpoint
-- Without capitals and accents, as the search folds what it looks for.
create function fold_search_name() returns trigger language plpgsql as $$
begin
  new.folded := case when octet_length(new.folded) = length(new.folded) then lower(new.folded collate "C")
    else lower(regexp_replace(normalize(new.folded, NFKD), '[\u0300-\u036F]', '', 'g')) end;
  return new;
end
$$;
--> statement-breakpoint
create trigger search_names_fold before insert on search_names for each row execute function fold_search_name();
--> statement-breakpoint
-- Whoever changes a row of search_names has locked the row that it names, so nobody waits for it.
create function note_search_name() returns trigger language plpgsql as $$
declare
  kind_of_row text := tg_argv[0];
  name text;
begin
  delete from search_names where kind = kind_of_row and id = coalesce(new.id, old.id);
  if tg_op = 'DELETE' then
    return null;
  elsif kind_of_row = 'database' then
    name := new.name || ' ' || coalesce(new.entry ->> 'engine', '');
  elsif kind_of_row = 'worker' then
    name := new.queue || ' on ' || new.connection;
  elsif kind_of_row = 'webhook' then
    name := new.url || case when new.description = '' then '' else ' ' || new.description || ' ·' end;
  else
    name := new.name;
  end if;
  insert into search_names (kind, id, folded) values (kind_of_row, new.id, name);
  return null;
end
$$;
--> statement-breakpoint
create trigger site_came_or_went after insert or delete on sites
  for each row execute function note_search_name('site');
--> statement-breakpoint
create trigger site_renamed after update of name on sites
  for each row when (old.name <> new.name) execute function note_search_name('site');
--> statement-breakpoint
create trigger database_came_or_went after insert or delete on databases
  for each row execute function note_search_name('database');
--> statement-breakpoint
create trigger database_renamed after update of name, entry on databases
  for each row when (old.name <> new.name or old.entry ->> 'engine' is distinct from new.entry ->> 'engine')
  execute function note_search_name('database');
--> statement-breakpoint
create trigger configuration_came_or_went after insert or delete on backup_configurations
  for each row execute function note_search_name('configuration');
--> statement-breakpoint
create trigger configuration_renamed after update of name on backup_configurations
  for each row when (old.name <> new.name) execute function note_search_name('configuration');
--> statement-breakpoint
create trigger worker_came_or_went after insert or delete on workers
  for each row execute function note_search_name('worker');
--> statement-breakpoint
create trigger worker_renamed after update of queue, connection on workers
  for each row when (old.queue <> new.queue or old.connection <> new.connection)
  execute function note_search_name('worker');
--> statement-breakpoint
create trigger webhook_came_or_went after insert or delete on webhooks
  for each row execute function note_search_name('webhook');
--> statement-breakpoint
create trigger webhook_renamed after update of url, description on webhooks
  for each row when (old.url <> new.url or old.description <> new.description)
  execute function note_search_name('webhook');
--> statement-breakpoint
insert into search_names (kind, id, folded)
select 'site', id, name from sites
union all select 'database', id, name || ' ' || coalesce(entry ->> 'engine', '') from databases
union all select 'configuration', id, name from backup_configurations
union all select 'worker', id, queue || ' on ' || connection from workers
union all select 'webhook', id, url || case when description = '' then '' else ' ' || description || ' ·' end from webhooks;
