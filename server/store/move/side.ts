// One end of a move: a separate connection to a database that no one else uses meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { migrationLock } from "../database.ts";
import { explainMoveError, MoveError } from "./move-error.ts";

/** Where one end of a move is. */
export type SideOptions = {
  connection: pg.ClientConfig;
  /** The folder of an embedded database; null = any other PostgreSQL. */
  embeddedIn: string | null;
  /** The operation, for messages; default `move`. */
  verb?: "move" | "back up" | "restore";
};

export type Side = {
  client: pg.Client;
  /** Name for messages, without a secret. */
  place: string;
  isEmbedded: boolean;
  /** @throws MoveError */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** How long to wait for the sessions of a killed move to end; milliseconds. */
const patienceMs = 3000;
const pollMs = 100;

/** Makes both ends read and write all values alike, and disables limits of the role. */
const settings = {
  search_path: "public",
  client_encoding: "UTF8",
  datestyle: "ISO, YMD",
  intervalstyle: "postgres",
  timezone: "UTC",
  bytea_output: "hex",
  extra_float_digits: "1",
  default_transaction_read_only: "off",
  statement_timeout: "0",
  lock_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  // Only in newer versions of PostgreSQL.
  transaction_timeout: "0",
  // Ends a statement soon after its client was killed.
  client_connection_check_interval: "1000",
};

/**
 * Connects. The caller has already refused databases that Quarterdeck cannot use.
 * @throws MoveError
 */
export async function openSide(options: SideOptions): Promise<Side> {
  const side = await connectSide(options);
  try {
    await refusePooler(side);
    await side.query(applySettings, [JSON.stringify(settings), false]);
    return side;
  } catch (error) {
    await side.close();
    throw error;
  }
}

/**
 * Connects to a database that a service may be using, even through a pooler: everything that is read until `close` is from one
 * snapshot.
 * @throws MoveError
 */
export async function openSnapshot(options: SideOptions): Promise<Side> {
  const side = await connectSide(options);
  try {
    await side.query("begin isolation level repeatable read read only");
    await side.query(applySettings, [JSON.stringify(settings), true]);
    return side;
  } catch (error) {
    await side.close();
    throw error;
  }
}

const applySettings =
  "select set_config(name, $1::jsonb ->> name, $2) from pg_settings where name in (select jsonb_object_keys($1::jsonb))";

async function connectSide({ connection, embeddedIn, verb = "move" }: SideOptions): Promise<Side> {
  const client = new pg.Client({
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    ...connection,
    application_name: `quarterdeck ${verb}`,
  });
  const { host, port, database } = client;
  const place =
    embeddedIn === null
      ? `the database ${database} at ${host}:${port}`
      : `the embedded database in ${embeddedIn}`;
  // A connection that is lost; the running query fails anyway.
  client.on("error", () => undefined);
  const side: Side = {
    client,
    place,
    isEmbedded: embeddedIn !== null,
    async query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]) {
      try {
        return (await client.query<Row>(text, values)).rows;
      } catch (error) {
        throw explainMoveError(error, place, verb);
      }
    },
    close: () => client.end().catch(() => undefined),
  };
  try {
    await client.connect();
    return side;
  } catch (error) {
    await side.close();
    throw explainMoveError(error, place, verb);
  }
}

/**
 * Compares the session's pid with the one announced at its start, which a pooler replaces by its own.
 * @throws MoveError
 */
async function refusePooler({ client, query, place }: Side): Promise<void> {
  const [session] = await query<{ pid: number }>("select pg_backend_pid() as pid");
  // The types lack `processID`.
  const { processID } = client as pg.Client & { processID?: number };
  if (session?.pid !== processID)
    throw new MoveError(
      `A connection pooler such as PgBouncer stands in front of ${place}. Name PostgreSQL's own host and port for this.`,
    );
}

/**
 * Takes the lock that every start of Quarterdeck needs, for as long as the connection lasts: a service that starts meanwhile
 * waits for it, and then reads the result of the move. A service that is running already is found by its sessions.
 * @throws MoveError the database is in use
 */
export async function claimSide({ query, place }: Side): Promise<void> {
  const giveUpMs = performance.now() + patienceMs;
  let isLocked = false;
  for (;;) {
    if (!isLocked) {
      const [lock] = await query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [
        migrationLock,
      ]);
      isLocked = lock?.mine === true;
    }
    const others = await query<{ session: string }>(
      `select format('%s (%s, user %s%s)', pid, coalesce(nullif(application_name, ''), 'unnamed'), usename, ', from ' || host(client_addr)) as session
       from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and coalesce(backend_type, 'client backend') = 'client backend'
         and (usename = current_user or application_name in ('quarterdeck', 'pgboss'))
       order by pid`,
    );
    if (isLocked && others.length === 0) return;
    if (performance.now() > giveUpMs) {
      const sessions = others.map(({ session }) => session).join(", ");
      throw new MoveError(
        `Other programs are using ${place}: ${sessions || "a Quarterdeck that is starting"}. Stop Quarterdeck wherever it runs on this database, close those sessions, then run the same command again.`,
      );
    }
    await sleep(pollMs);
  }
}

/** Whether both connections lead to the same database. */
export async function isSameDatabase(one: Side, other: Side): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map(({ query }) =>
      query<{ name: string }>(
        "select concat_ws(' ', pg_postmaster_start_time(), oid) as name from pg_database where datname = current_database()",
      ),
    ),
  );
  return first?.[0]?.name === second?.[0]?.name;
}
