// Notifies the parts of the service when this instance gains or loses servers.
import type { Backups } from "./backups/backups.ts";
import { LeaseLost, type LeaseListener } from "./instances/leases.ts";
import type { LiveInventory } from "./inventory/inventory.ts";
import type { Reachability } from "./ssh/reachability.ts";
import type { Workers } from "./workers/workers.ts";

type Parts = {
  backups: Pick<Backups, "isBusyWith" | "wake">;
  workers: Pick<Workers, "take" | "leave" | "regain" | "setAbandoned">;
  inventory: Pick<LiveInventory, "catchUp">;
  reachability: Pick<Reachability, "noteTaken" | "noteAbandoned" | "wake">;
};

export function createLeaseListener({
  backups,
  workers,
  inventory,
  reachability,
}: Parts): LeaseListener {
  return {
    isBusy: backups.isBusyWith,
    async taken(ids) {
      // Decides the accounts that were undecided without the lease.
      await Promise.all(ids.map(inventory.catchUp));
      await reachability.noteTaken(ids);
      await workers.take(ids);
      reachability.wake();
      backups.wake();
    },
    lost: workers.leave,
    async regained(ids) {
      await reachability.noteTaken(ids);
      await workers.regain(ids);
      backups.wake();
    },
    async abandoned(abandoned) {
      for (const { id, instance } of abandoned) {
        const reason = `No instance of the service looks after it. “${instance}” did so last and no longer responds: start it.`;
        try {
          const contact = await reachability.noteAbandoned(id, reason);
          if (contact !== null) await workers.setAbandoned(id, { since: contact.since, reason });
        } catch (error) {
          if (!(error instanceof LeaseLost)) throw error; // another instance has the server again
        }
      }
    },
  };
}
