import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import {
  isRunning,
  makeFolder,
  makeSupervisor,
  programOf,
  shell,
  soon,
  statusOf,
} from "./testing/supervisor.ts";
import { sendSignal } from "../../testing/signals.ts";

const isRoot = process.geteuid?.() === 0;

describe.concurrent("An impossible start is reported:", () => {
  const never = { startretries: 0 };
  test.for([
    [{ args: ["no-such-program"] }, "Couldn't start: no-such-program was not found."],
    [{ args: ["/etc/passwd"] }, "Couldn't start: no permission to execute /etc/passwd."],
    [{ directory: "/no/such" }, "Couldn't start: the folder /no/such does not exist."],
    [{ args: [] }, "Couldn't start: no command is configured."],
    [{ args: shell("exit 3"), startsecs: 30 }, "Exited with code 3 within 30 seconds."],
    [{ args: shell("kill -11 $$"), startsecs: 30 }, "Killed by SIGSEGV within 30 seconds."],
  ] as const)("%o", async ([given, reason], { expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    supervisor.start(programOf(1, { ...never, ...given }));
    await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)).toMatchObject([{ pid: null, reason }]);
    expect(supervisor.history(1)).toEqual(["STARTING", "BACKOFF", "FATAL"]);
  });

  test("a missing program, also beyond a folder that may not be entered", async ({
    expect,
    onTestFinished,
  }) => {
    const directory = makeFolder({ onTestFinished });
    mkdirSync(join(directory, "closed"), { mode: 0o600 });
    // Root can enter every folder; as the owner of the worker's folder it is an ordinary user, too.
    const site = join(directory, "site");
    mkdirSync(site);
    chmodSync(directory, 0o711);
    if (isRoot) chownSync(site, 65_534, 65_534);
    const environment = { PATH: `${join(directory, "closed")}:/usr/bin:/bin` };
    const supervisor = makeSupervisor({ onTestFinished }, { environment });
    supervisor.start(programOf(1, { ...never, directory: site, args: ["no-such-program"] }));
    await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)[0]?.reason).toContain("no-such-program was not found");
  });

  test("a folder that links to itself, and a program that does", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const link = join(supervisor.folder, "link");
    symlinkSync(link, link);
    supervisor.start(programOf(1, { ...never, root: link }));
    supervisor.start(programOf(2, { ...never, args: [link] }));
    const states = () => [supervisor.state(1), supervisor.state(2)];
    await expect.poll(states, soon).toEqual(["FATAL", "FATAL"]);
    const reasons = [1, 2].map((id) => supervisor.processes(id)[0]?.reason);
    expect(reasons).toEqual([
      `Couldn't start: the folder ${link} is a link that leads nowhere.`,
      `Couldn't start: ${link} is a link that leads nowhere.`,
    ]);
  });

  test("a script whose interpreter is missing", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const script = join(supervisor.folder, "artisan");
    writeFileSync(script, "#!/no/such/php\n", { mode: 0o755 });
    supervisor.start(programOf(1, { ...never, args: [script] }));
    await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)[0]?.reason).toContain("the interpreter in the first line of");
  });

  test("a program that is gone, without the exit code of the run before", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    const script = join(supervisor.folder, "artisan");
    writeFileSync(script, '#!/bin/sh\nrm "$0"\n', { mode: 0o755 });
    supervisor.start(programOf(1, { ...never, startsecs: 0, args: [script] }));
    await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)).toMatchObject([
      {
        reason: `Couldn't start: ${script} was not found.`,
        lastEnd: expect.any(String),
        exitCode: null,
      },
    ]);
  });

  test("an unusable folder for the workers, without a crash", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    writeFileSync(join(supervisor.folder, "workers/1"), "in the way");
    supervisor.start(programOf(1, never));
    await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
    expect(supervisor.processes(1)[0]?.reason).toContain("couldn't write the process state");
    // Periodic work with the folder fails, too, and is reported once each.
    const told = supervisor.problems.filter((problem) => problem.startsWith("writing the state"));
    expect(told).toHaveLength(1);
  });
});

describe.concurrent("A process", () => {
  test("gets the given environment, a PATH and its mark, and nothing else", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor(
      { onTestFinished },
      {
        environment: { PATH: "/usr/bin:/bin", APP_ENV: "testing" },
      },
    );
    supervisor.start(programOf(4, { args: ["sleep", "300"], directory: supervisor.folder }));
    const pid = supervisor.processes(4)[0]?.pid ?? 0;
    const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
    const account = isRoot ? ["HOME=/root", "LOGNAME=root", "USER=root"] : [];
    expect(variables.sort()).toEqual(
      [
        "APP_ENV=testing",
        "PATH=/usr/bin:/bin",
        expect.stringMatching(new RegExp(`^QUARTERDECK_WORKER=${supervisor.instance}/4/1/\\w+$`)),
        ...account,
      ].sort((a, b) => String(a).localeCompare(String(b))),
    );
    await supervisor.stop(4);
  });

  test("writes both outputs to a log that only the service may read", async ({
    expect,
    onTestFinished,
  }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    supervisor.start(programOf(1, { args: shell("echo out; echo err >&2; pwd; sleep 300") }));
    await expect
      .poll(async () => (await supervisor.readLog(1, { lines: 10 })).text, soon)
      .toBe("out\nerr\n/\n");
    const folder = join(supervisor.folder, "workers");
    const modes = ["", "1", "1/log", "1/log.start", "1/slot-1.json"].map((name) =>
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    );
    expect(modes).toEqual(["700", "700", "600", "600", "600"]);
  });

  test.runIf(isRoot)(
    "runs as its account, with its groups and none of root's, in a folder that it may enter",
    async ({ expect, onTestFinished }) => {
      const supervisor = makeSupervisor({ onTestFinished });
      const nobody = { uid: 65_534, gid: 65_534, name: "nobody", home: "/nonexistent" };
      const directory = makeFolder({ onTestFinished });
      chownSync(directory, nobody.uid, nobody.gid);
      supervisor.start(programOf(1, { directory, account: nobody }));
      const pid = supervisor.processes(1)[0]?.pid ?? 0;
      await expect.poll(() => statusOf(pid)["Name"], soon).toBe("sleep");
      expect(statusOf(pid)).toMatchObject({
        Uid: "65534\t65534\t65534\t65534",
        Gid: "65534\t65534\t65534\t65534",
        Groups: "65534 ",
      });
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toContain("HOME=/nonexistent\0");
      expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(directory);
      await supervisor.stop(1);
      expect(supervisor.state(1)).toBe("STOPPED");
    },
  );

  test.runIf(isRoot)(
    "of another account with a worker's mark does not prevent the removal of that worker",
    async ({ expect, onTestFinished }) => {
      const supervisor = makeSupervisor({ onTestFinished });
      const daemon = { uid: 1, gid: 1, name: "", home: "/" };
      supervisor.start(programOf(1, { directory: "/tmp", account: daemon }));
      await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
      const mark = `QUARTERDECK_WORKER=${supervisor.instance}/1/1/aaaa`;
      const argv = ["--reuid=65534", "--regid=65534", "--clear-groups", "--", "env", mark];
      const forged = spawn("setpriv", [...argv, "sleep", "300"], { stdio: "ignore" });
      onTestFinished(() => void forged.kill("SIGKILL"));
      await expect.poll(() => statusOf(forged.pid ?? 0)["Name"], soon).toBe("sleep");
      await supervisor.remove(1);
      expect(isRunning(forged.pid ?? 0)).toBe(true);
    },
  );

  test.runIf(isRoot)(
    "does not start in a folder that its account may not enter",
    async ({ expect, onTestFinished }) => {
      const supervisor = makeSupervisor({ onTestFinished });
      const nobody = { uid: 65_534, gid: 65_534, name: "", home: "/" };
      const directory = join(supervisor.folder, "closed/open");
      mkdirSync(directory, { recursive: true });
      chmodSync(join(supervisor.folder, "closed"), 0o700);
      supervisor.start(programOf(1, { directory, account: nobody, startretries: 0 }));
      await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
      expect(supervisor.processes(1)[0]?.reason).toBe(
        `Couldn't start: no permission to enter the folder ${directory}.`,
      );
      expect((await supervisor.readLog(1, { lines: 5 })).text).toContain("Permission denied");
    },
  );

  test.runIf(isRoot).for([
    [{ root: "/no/such" }, "Couldn't start: the folder /no/such does not exist."],
    [{ root: "/etc/passwd" }, "Couldn't start: the folder /etc/passwd does not exist."],
    [{ directory: "no-such" }, "Couldn't start: the folder /no-such does not exist."],
    [{ args: ["no-such-program"] }, "Couldn't start: no-such-program was not found."],
    [{ args: ["/etc/passwd"] }, "Couldn't start: no permission to execute /etc/passwd."],
    [
      { args: ["no-such-program"], directory: "tmp" },
      "Couldn't start: no-such-program was not found.",
    ],
    [
      { args: ["/etc/passwd"], directory: "tmp" },
      "Couldn't start: no permission to execute /etc/passwd.",
    ],
    [
      { args: shell("echo no; exit 127"), startsecs: 30 },
      "Exited with code 127 within 30 seconds.",
    ],
  ] as const)(
    "of another account reports why it could not start: %o",
    async ([given, reason], { expect, onTestFinished }) => {
      const supervisor = makeSupervisor({ onTestFinished });
      const account = { uid: 65_534, gid: 65_534, name: "nobody", home: "/nonexistent" };
      supervisor.start(programOf(1, { account, startretries: 0, startsecs: 30, ...given }));
      await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
      expect(supervisor.processes(1)).toMatchObject([{ pid: null, reason }]);
      expect(supervisor.history(1)).toEqual(["STARTING", "BACKOFF", "FATAL"]);
    },
  );

  test.runIf(isRoot)(
    "of another account whose folder disappears reports that when it is restarted",
    async ({ expect, onTestFinished }) => {
      const supervisor = makeSupervisor({ onTestFinished });
      const account = { uid: 65_534, gid: 65_534, name: "nobody", home: "/nonexistent" };
      const root = makeFolder({ onTestFinished });
      chownSync(root, account.uid, account.gid);
      supervisor.start(programOf(1, { account, root, startretries: 1 }));
      await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
      rmdirSync(root);
      sendSignal(supervisor.processes(1)[0]?.pid ?? 0, "SIGKILL");
      await expect.poll(() => supervisor.state(1), soon).toBe("FATAL");
      expect(supervisor.processes(1)[0]?.reason).toBe(
        `Couldn't start: the folder ${root} does not exist.`,
      );
    },
  );

  test("that exits is restarted, and counted", async ({ expect, onTestFinished }) => {
    const supervisor = makeSupervisor({ onTestFinished });
    supervisor.start(programOf(1, { startsecs: 1 }));
    await expect.poll(() => supervisor.state(1), soon).toBe("RUNNING");
    const pid = supervisor.processes(1)[0]?.pid ?? 0;
    sendSignal(pid, "SIGKILL");
    await expect
      .poll(() => supervisor.processes(1)[0], soon)
      .toMatchObject({ state: "RUNNING", restarts: 1, reason: null });
    expect(supervisor.processes(1)[0]?.pid).not.toBe(pid);
    expect(supervisor.history(1).slice(2)).toEqual(["EXITED", "STARTING", "RUNNING"]);
  });
});
