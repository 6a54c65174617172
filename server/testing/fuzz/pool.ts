// Tracks the ids of existing objects while requests create and delete them: seeded objects stay, later ones may be deleted.
import type { Described } from "./description.ts";
import { kindOf, type ResourceKind } from "../resources.ts";

/** Operations that create an object, and its kind. */
const makes: Record<string, ResourceKind> = {
  createBackupConfiguration: "backup-configuration",
  createWebhook: "site-webhook",
  createToken: "token",
  createWorker: "worker",
  runBackup: "backup",
  pingWebhook: "webhook-delivery",
  redeliver: "webhook-delivery",
};

/** More objects of a kind would make lists long and slow without finding more bugs. */
const maxPerKind = 4;

export function createPool(seeded: Record<ResourceKind, number>) {
  const ids = new Map(Object.entries(seeded).map(([kind, id]): [string, number[]] => [kind, [id]]));
  let turn = 0;
  const of = (kind: ResourceKind) => ids.get(kind) ?? [];

  return {
    /** Returns an id for an operation. For a deletion never a seeded one, which the other operations need. */
    idFor({ method, path }: Pick<Described, "method" | "path">): number {
      const kind = kindOf(path) ?? "server";
      const isDeletion = method === "DELETE" && path.endsWith("}");
      const [first = 1, ...spare] = of(kind);
      if (isDeletion) return spare.at(-1) ?? 999_999;
      turn += 1;
      return [first, ...spare][turn % (spare.length + 1)] ?? first;
    },

    /** @returns the path of a deletion that keeps the number of objects small; null = none is needed */
    made(operation: string, id: number): string | null {
      const kind = makes[operation];
      if (kind === undefined) return null;
      const known = of(kind);
      known.push(id);
      // Fewer workers, because each runs processes.
      const max = kind === "worker" ? 2 : maxPerKind;
      const surplus = known.length > max ? known.splice(1, 1)[0] : undefined;
      const isDeletable = kind !== "backup" && kind !== "webhook-delivery";
      return surplus !== undefined && isDeletable ? `/api/${kind}/${surplus}` : null;
    },

    gone(kind: ResourceKind, id: number): void {
      const known = of(kind);
      const place = known.indexOf(id);
      if (place > 0) known.splice(place, 1);
    },
  };
}
