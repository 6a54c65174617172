// Records with triggers which instance wrote what about which server, and which instance looked after that server then. Instances
// are distinguished by the role that each connects as, which is its name.

/** A write about a server. */
export type Noted = {
  id: number;
  at: Date;
  /** The instance that wrote. */
  who: string;
  what: string;
  server_id: number;
  /** The instance that looked after the server; null = no live one. */
  holder: string | null;
  /** The changed columns with their new values. */
  changed: Record<string, unknown>;
};

const serverOf = {
  server_leases: "(row ->> 'server_id')::int",
  backup_configurations: "(row ->> 'server_id')::int",
  backups:
    "(select server_id from backup_configurations where id = (row ->> 'configuration_id')::int)",
  workers: "(select server_id from sites where id = (row ->> 'site_id')::int)",
  worker_records:
    "(select server_id from sites join workers on workers.site_id = sites.id where workers.id = (row ->> 'worker_id')::int)",
  server_contacts: "(row ->> 'server_id')::int",
};

/** Creates the table `audit`, and the triggers that fill it. */
export const auditStatements = `
create table audit (
  id bigint generated always as identity primary key, at timestamptz not null default clock_timestamp(), who text not null,
  what text not null, server_id int, holder text, changed jsonb not null
);
create function note_write() returns trigger language plpgsql as $$
declare
  row jsonb := coalesce(to_jsonb(new), to_jsonb(old));
  before jsonb := coalesce(to_jsonb(old), '{}');
  server int;
begin
  server := case tg_table_name
${Object.entries(serverOf)
  .map(([table, expression]) => `    when '${table}' then ${expression}`)
  .join("\n")}
  end;
  insert into audit (who, what, server_id, holder, changed) values (
    session_user, tg_op || ' ' || tg_table_name || ' ' || coalesce(row ->> 'id', ''), server,
    (select instances.name from server_leases lease join instances on instances.id = lease.instance_id
     where lease.server_id = server and instances.until > clock_timestamp()),
    (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(row) where before -> key is distinct from value)
  );
  return null;
end $$;
${Object.keys(serverOf)
  .map(
    (table) =>
      `create trigger audit after insert or update or delete on ${table} for each row execute function note_write();`,
  )
  .join("\n")}
create table lease_theft (at timestamptz not null default clock_timestamp(), who text not null, server_id int, old_name text, new_name text);
create function note_theft() returns trigger language plpgsql as $$
begin
  if old.instance_id is distinct from new.instance_id and old.instance_name <> session_user
    and exists (select from instances where id = old.instance_id and until > clock_timestamp())
    or new.epoch <> old.epoch + (new.instance_id is not null and new.instance_id is distinct from old.instance_id)::int then
    insert into lease_theft (who, server_id, old_name, new_name)
    values (session_user, old.server_id, old.instance_name, new.instance_name);
  end if;
  return null;
end $$;
create trigger theft after update on server_leases for each row execute function note_theft();
`;
