// Encloses a slot's processes in a control group, which only root can leave: neither a changed environment nor `sudo` to another
// account does. See cgroups(7), "Cgroups version 2".
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownAccount } from "../../hosts/account.ts";

type SlotName = { worker: number; number: number };

export type ControlGroups = ReturnType<typeof createControlGroups>;

type Argv = readonly [string, ...string[]];

/** Enters the group before anything else runs, so that no child is outside; continues where the kernel refuses. */
const enterAndRun = 'echo $$ 2>/dev/null >"$1"; shift; exec "$@"';

/** @returns the mount point of the hierarchy of version 2; null where it is not mounted as a whole */
function mountPoint(): string | null {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  // See proc_pid_mountinfo(5): root and mount point are the fourth and fifth field, the type follows the dash.
  const found = lines.find((line) => / - cgroup2 /.test(line) && line.split(" ")[3] === "/");
  return found?.split(" ")[4] ?? null;
}

/**
 * @returns the group's path relative to the mount point; null for a process that is gone, or in no visible group of version 2
 */
function pathOf(pid: number | "self"): string | null {
  const path = /^0::(\/.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))?.[1];
  return path === undefined || path.startsWith("/..") ? null : path;
}

const orNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

/**
 * Creates control groups for the workers of one installation. There are none unless the service runs as root, because other
 * accounts could not keep processes from leaving a group, nor where the service cannot write below its own group.
 */
export function createControlGroups(instance: string) {
  const mount = ownAccount().uid === 0 ? orNull(mountPoint) : null;
  const own = mount === null ? null : orNull(() => pathOf("self"));
  const folder =
    mount === null || own === null ? null : join(mount, own, `quarterdeck-${instance}`);
  const ofInstance = new RegExp(
    `^(.*/quarterdeck-${RegExp.escape(instance)})/worker-([1-9]\\d*)-([1-9]\\d*)(?:/|$)`,
  );

  const nameOf = ({ worker, number }: SlotName) => `worker-${worker}-${number}`;
  const removeAll = (isMeant: (name: string) => boolean) => {
    if (folder === null) return;
    const names = orNull(() => readdirSync(folder)) ?? [];
    // The kernel refuses to remove a group that is not empty.
    for (const name of names.filter(isMeant)) orNull(() => rmdirSync(join(folder, name)));
    orNull(() => rmdirSync(folder));
  };

  return {
    /** @returns a command for root that enters the slot's group and becomes `argv`; `argv` where there are no groups */
    enclose(slot: SlotName, argv: Argv): Argv {
      if (folder === null) return argv;
      const group = join(folder, nameOf(slot));
      if (orNull(() => mkdirSync(group, { recursive: true }) ?? true) === null) return argv;
      return ["sh", "-c", enterAndRun, "sh", join(group, "cgroup.procs"), ...argv];
    },

    /**
     * Prepares one scan of many processes. An earlier service may have run in another group, so the groups may be anywhere;
     * but they must belong to root, because other accounts may own a subtree in which they can create groups of any name.
     * @returns a function that finds the slot that encloses a process; null for none
     */
    lookup(): (pid: number) => SlotName | null {
      if (mount === null) return () => null;
      const areRoots = new Map<string, boolean>();
      const isRoots = (path: string) => {
        const known = areRoots.get(path);
        if (known !== undefined) return known;
        const is = orNull(() => statSync(join(mount, path)).uid) === 0;
        areRoots.set(path, is);
        return is;
      };
      return (pid) => {
        const match = ofInstance.exec(orNull(() => pathOf(pid)) ?? "");
        const [, parent, worker, number] = match ?? [];
        if (parent === undefined || !isRoots(parent)) return null;
        return { worker: Number(worker), number: Number(number) };
      };
    },

    of(slot: SlotName) {
      const file = (name: string) => join(folder ?? "", nameOf(slot), name);
      return {
        /** True also where the group does not exist. Zombies do not count. */
        isEmpty: () =>
          folder === null ||
          !/^populated 1$/m.test(orNull(() => readFileSync(file("cgroup.events"), "utf8")) ?? ""),
        /** Kills all processes at once, however fast they fork; has no effect before Linux 5.14. */
        kill: () => {
          if (folder !== null) orNull(() => writeFileSync(file("cgroup.kill"), "1"));
        },
      };
    },

    /** Removes the empty groups of a worker, or of one slot. */
    remove(worker: number, number?: number) {
      const start = `worker-${worker}-`;
      removeAll((name) =>
        number === undefined ? name.startsWith(start) : name === `${start}${number}`,
      );
    },

    /** Removes all empty groups. */
    removeEmpty() {
      removeAll((name) => name.startsWith("worker-"));
    },
  };
}
