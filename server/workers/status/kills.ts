// Reports processes that had to be killed: on the timeline at once, and as the reason of the state that their stop leads to.
import { theSupervisor } from "../../activity/actor.ts";
import { recordActivity } from "../../activity/store.ts";
import { isInTransit } from "../../../contract/states.ts";
import type { InventoryStore } from "../../inventory/store.ts";
import type { Connection } from "../../store/database.ts";
import { askedEntry } from "../event-data.ts";
import type { Kill } from "../processes/process-manager.ts";
import type { WorkerRow, WorkerStore } from "../store.ts";

/** A worker may have 64 processes, each with a reason of its own. */
const maxReasonCharacters = 800;

const listed = new Intl.ListFormat("en");

/** Formats each reason once, with the processes that it concerns. */
function killText(kills: readonly Kill[]): string {
  const byReason = Map.groupBy(kills, ({ reason }) => reason);
  return [...byReason]
    .map(([reason, ofIt]) => {
      const numbers = ofIt.map(({ number }) => number).sort((a, b) => a - b);
      const who = numbers.length === 1 ? "Process" : "Processes";
      return `${who} ${listed.format(numbers.map(String))}: ${reason}`;
    })
    .join(" ");
}

export function createKillNotes(store: WorkerStore, inventory: InventoryStore) {
  const pending = new Map<number, readonly Kill[]>();
  /** Kills that are in a worker's reason already, while its stop or restart is under way. */
  const recorded = new Map<number, readonly Kill[]>();

  function take(id: number): readonly Kill[] {
    const kills = pending.get(id) ?? [];
    pending.delete(id);
    return kills;
  }

  async function write(tx: Connection, row: WorkerRow, kills: readonly Kill[]): Promise<void> {
    const site = await inventory.findSite(row.site_id, tx);
    if (site === null) return;
    const detail = killText(kills);
    if (isInTransit(row.status)) {
      const before = row.kill_reason === null ? [] : recorded.get(row.id);
      // The kills that an earlier run of the service recorded are only known as text.
      const reason =
        before === undefined ? `${row.kill_reason} ${detail}` : killText([...before, ...kills]);
      await store.noteKill(tx, row.id, reason.slice(0, maxReasonCharacters));
      if (before !== undefined) recorded.set(row.id, [...before, ...kills]);
    } else recorded.delete(row.id);
    const entry = askedEntry(row, site, "killed");
    await recordActivity(tx, { ...entry, outcome: "bad", detail, actor: theSupervisor });
  }

  return {
    /** Keeps a kill until `record` has stored it. */
    add(id: number, kill: Kill) {
      pending.set(id, [...(pending.get(id) ?? []), kill]);
    },

    /** Stores the pending kills of one worker; if that fails, the next call stores them. */
    async record(id: number): Promise<void> {
      while (pending.has(id)) {
        let taken: readonly Kill[] = [];
        try {
          await store.transaction(async (tx) => {
            const row = await store.lock(tx, id);
            // Processes are killed shortly after one another: all kills so far are reported together.
            taken = take(id);
            // Empty if another call took the kills while this one waited for the row.
            if (row !== null && taken.length > 0) await write(tx, row, taken);
          });
        } catch (error) {
          recorded.delete(id);
          pending.set(id, [...taken, ...take(id)]);
          throw error;
        }
      }
    },

    waiting: (): number[] => [...pending.keys()],
  };
}
