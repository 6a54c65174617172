// Hears what PostgreSQL announces, on a connection of its own. A notice that is missed is no harm: whoever listens
// looks by himself now and then.
import type { Logger } from "pino";
import pg from "pg";
import type { Clock } from "../clock.ts";

const retryMs = 1000;

export type ListenOptions = {
  connection: pg.PoolConfig;
  /** A plain lower-case name. */
  channel: string;
  onNotice(): void;
  clock: Clock;
  log: Logger;
};

/** Connects again whenever the connection is lost. @returns what ends it */
export function listen({
  connection,
  channel,
  onNotice,
  clock,
  log,
}: ListenOptions): () => Promise<void> {
  let client: pg.Client | null = null;
  let isOver = false;
  let cancel: () => void = () => undefined;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({ ...connection, connectionTimeoutMillis: 5000 });
    const lose = (error?: Error) => {
      if (client === fresh) client = null;
      if (isOver) return;
      if (error !== undefined)
        log.warn({ reason: error.message }, "the connection that hears of events was lost");
      cancel();
      cancel = clock.after(retryMs, () => void connect());
    };
    try {
      // Both may come for one loss; the second one only sets the same timer anew.
      fresh.on("error", lose);
      await fresh.connect();
      fresh.on("end", () => lose());
      fresh.on("notification", onNotice);
      await fresh.query(`listen ${channel}`);
      if (isOver) return await fresh.end();
      client = fresh;
      // Something may have been announced while nobody heard.
      onNotice();
    } catch (error) {
      lose(error as Error);
      await fresh.end().catch(() => undefined);
    }
  }

  void connect();
  return async () => {
    isOver = true;
    cancel();
    await client?.end();
  };
}
