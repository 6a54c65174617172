// Tests that the directory of a worker is resolved at each start, and must be inside the site's folder, whatever its
// account.
import { chownSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ownAccount } from "../../hosts/account.ts";
import { mountFolder } from "../../testing/mount.ts";
import { makeFolder, makeSupervisor, programOf, soon } from "./testing/supervisor.ts";

const nobody = { uid: 65_534, gid: 65_534, name: "nobody", home: "/nonexistent" };
const accounts = [
  { whose: "the service's own account", account: ownAccount() },
  ...(userInfo().uid === 0 ? [{ whose: "another account", account: nobody }] : []),
];

describe.each(accounts)("A worker of $whose", ({ account }) => {
  const makeSite = (context: Parameters<typeof makeFolder>[0]) => {
    const root = makeFolder(context);
    for (const name of ["1/app", "2/app"]) mkdirSync(join(root, name), { recursive: true });
    symlinkSync("1", join(root, "current"));
    for (const name of ["", "1", "2", "1/app", "2/app"])
      chownSync(join(root, name), account.uid, account.gid);
    return root;
  };
  const point = (root: string, to: string) => {
    symlinkSync(to, join(root, "next"));
    renameSync(join(root, "next"), join(root, "current"));
  };

  test.for(["current/app", "./current/../current/app"])(
    "in %s starts where the link leads at that moment",
    async (directory, context) => {
      const root = makeSite(context);
      const supervisor = makeSupervisor(context);
      const program = programOf(1, { root, directory, account, startsecs: 0 });
      const folder = () => {
        const { pid } = supervisor.processes(1)[0] ?? {};
        try {
          return readlinkSync(`/proc/${pid}/cwd`);
        } catch {
          return null;
        }
      };
      supervisor.start(program);
      await expect.poll(folder, soon).toBe(join(root, "1/app"));
      point(root, "2");
      await supervisor.restart(program);
      await expect.poll(folder, soon).toBe(join(root, "2/app"));
    },
  );

  test("does not start if the path leads out of the site's folder, and shows where it leads", async (context) => {
    const root = makeSite(context);
    const supervisor = makeSupervisor(context);
    const outside = makeFolder(context);
    mkdirSync(join(outside, "app"));
    for (const name of ["", "app"]) chownSync(join(outside, name), account.uid, account.gid);
    point(root, outside);
    supervisor.start(programOf(1, { root, directory: "current/app", account, startretries: 0 }));
    await context.expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)[0]?.reason).toBe(
      `Couldn't start: the directory current/app leads out of the site's folder, to ${outside}/app.`,
    );
  });
});

test("A worker with a hanging folder blocks nothing else, and starts once the folder responds", async (context) => {
  const { path, hang, goOn } = await mountFolder(context);
  const supervisor = makeSupervisor(context);
  await hang();
  const account = ownAccount();
  supervisor.start(programOf(1, { root: path, account }));
  supervisor.start(programOf(2, { account }));
  await expect.poll(() => supervisor.state(2), soon).toBe("RUNNING");
  // Its start seconds are over, too, but they count only for a program that has started.
  expect(supervisor.state(1)).toBe("STARTING");
  expect(supervisor.processes(1)[0]?.reason).toBe(
    `The program has not begun yet: its folder, ${path}, or its account doesn't respond.`,
  );
  goOn();
  const folder = () => readlinkSync(`/proc/${supervisor.processes(1)[0]?.pid}/cwd`);
  await expect.poll(folder, soon).toBe(path);
  await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
  expect(supervisor.processes(1)[0]?.reason).toBe(null);

  supervisor.start(programOf(3, { root: join(path, "gone"), account, startretries: 0 }));
  await expect.poll(() => supervisor.state(3), soon).toBe("FATAL");
  expect(supervisor.processes(3)[0]?.reason).toBe(
    `Couldn't start: the folder ${join(path, "gone")} does not exist.`,
  );
});
