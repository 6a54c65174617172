// Receives PostgreSQL's notices on a connection of its own. A lost notice does no harm, because every listener also polls.
import type { Logger } from "pino";
import pg from "pg";
import type { Clock } from "../clock.ts";
import { toError } from "../to-error.ts";

const retryMs = 1000;

type ListenerOptions = {
  connection: pg.PoolConfig;
  /** Names in lower case. */
  channels: readonly string[];
  clock: Clock;
  log: Logger;
};

export type Listener = {
  /** @param onNotice called with the notice's text; null = notices of the channel may have been missed */
  on(channel: string, onNotice: (text: string | null) => void): void;
  stop(): Promise<void>;
};

/** Connects, and reconnects whenever the connection is lost. */
export function createListener({ connection, channels, clock, log }: ListenerOptions): Listener {
  const heard = new Map<string, (text: string | null) => void>();
  let client: pg.Client | null = null;
  let isOver = false;
  let cancel: () => void = () => undefined;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      connectionTimeoutMillis: 5000,
      // No notice may come for days, so keepalive probes detect a lost connection.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
    });
    const lose = (error?: Error) => {
      if (client === fresh) client = null;
      if (isOver) return;
      if (error !== undefined)
        log.warn({ reason: error.message }, "the connection that hears of events was lost");
      cancel();
      cancel = clock.after(retryMs, () => void connect());
    };
    try {
      // Both events may report one loss; the second only sets the timer again.
      fresh.on("error", lose);
      await fresh.connect();
      fresh.on("end", () => lose());
      fresh.on("notification", ({ channel, payload }) => heard.get(channel)?.(payload ?? ""));
      for (const channel of channels) await fresh.query(`listen ${channel}`);
      if (isOver) return await fresh.end();
      client = fresh;
      // Notices may have been lost while it was not connected.
      for (const onNotice of heard.values()) onNotice(null);
    } catch (error) {
      lose(toError(error));
      await fresh.end().catch(() => undefined);
    }
  }

  void connect();
  return {
    on: (channel, onNotice) => void heard.set(channel, onNotice),
    async stop() {
      isOver = true;
      cancel();
      await client?.end();
    },
  };
}
