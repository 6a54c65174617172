// Starts a real sshd for a test on a loopback port, with its own host keys and accounts, and simulates its faults.
import { execFile, spawn } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, onTestFinished } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { isRoot, makeFolder, type CleanUp } from "../../testing/machine.ts";
import { isAlive, sendSignal } from "../../testing/signals.ts";
import type { SshTarget } from "../target.ts";

const run = promisify(execFile);

/** Names as in `ssh-keygen -t`. */
type HostKeyKind = "ed25519" | "ecdsa" | "rsa";

type SshdOptions = {
  /** Login shell of the accounts. */
  shell?: "dash" | "bash";
  /** Root only: lines of sudoers for this server alone. */
  sudoers?: string;
  /** Lines of sshd_config. */
  config?: string;
  /** Types of the host keys. */
  hostKeys?: readonly HostKeyKind[];
  cleanUp?: CleanUp;
};

export type TestSshd = {
  port: number;
  /** Contains the keys and, if started by root, the homes of its accounts. */
  folder: string;
  keyFile: string;
  /** Fingerprint of the first host key, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
  fingerprints: string[];
  /** Accounts that can log in; if not started by root, only the account of the tests. */
  user: string;
  otherUser: string;
  target(more?: Partial<SshTarget>): SshTarget;
  start(): Promise<void>;
  /** Kills sshd with all its sessions. */
  stop(): Promise<void>;
  /** Pauses sshd and its sessions as if the machine hung. @returns a function that resumes them */
  hang(): Promise<() => Promise<void>>;
  /** Kills the sessions; sshd accepts new ones. */
  cut(): Promise<void>;
  /** Replaces the host keys and restarts sshd. */
  rekey(): Promise<void>;
  /** Returns pids of programs in its sessions whose command line contains the text. */
  findRunning(text: string): Promise<number[]>;
};

const firstUid = 64_100;

/** Starts sshd. For root, it runs in a mount namespace with its own account files, so that those of the machine do not change. */
export async function startSshd(options: SshdOptions = {}): Promise<TestSshd> {
  const { shell = "bash", cleanUp = onTestFinished, hostKeys = ["ed25519"] } = options;
  const folder = await makeFolder(cleanUp);
  await chmod(folder, 0o711);
  const port = await freePort();
  const hostKeyFile = (kind: HostKeyKind) => join(folder, `host_key_${kind}`);
  const keyFile = join(folder, "key");
  const accounts = isRoot ? ["deploy", "shop"] : [userInfo().username];
  const [user = "", otherUser = user] = accounts;
  const makeKey = async (path: string, kind: HostKeyKind = "ed25519") => {
    await rm(path, { force: true });
    // The default size of RSA, 3072 bits, takes several times as long to generate.
    const size = kind === "rsa" ? ["-b", "2048"] : [];
    await run("ssh-keygen", ["-q", "-t", kind, ...size, "-N", "", "-C", "test", "-f", path]);
  };
  const makeHostKeys = () => Promise.all(hostKeys.map((kind) => makeKey(hostKeyFile(kind), kind)));
  const readFingerprints = () =>
    Promise.all(
      hostKeys.map(async (kind) => {
        const { stdout } = await run("ssh-keygen", ["-l", "-f", `${hostKeyFile(kind)}.pub`]);
        return stdout.split(" ")[1] ?? "";
      }),
    );
  await Promise.all([makeHostKeys(), makeKey(keyFile)]);
  await writeFile(join(folder, "authorized"), await readFile(`${keyFile}.pub`));
  await writeFile(
    join(folder, "sshd_config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      ...hostKeys.map((kind) => `HostKey ${hostKeyFile(kind)}`),
      "PidFile none",
      // The default, which is post-quantum, takes twice the time of the rest of a login.
      "KexAlgorithms curve25519-sha256",
      `AuthorizedKeysFile ${folder}/authorized`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin yes",
      options.config ?? "",
      "",
    ].join("\n"),
  );
  if (isRoot) await writeAccounts();

  async function writeAccounts(): Promise<void> {
    const passwd: string[] = [];
    const group: string[] = [];
    for (const [index, name] of accounts.entries()) {
      const home = join(folder, name);
      const uid = firstUid + index;
      await mkdir(home, { mode: 0o750 });
      await chown(home, uid, uid);
      passwd.push(`${name}:x:${uid}:${uid}::${home}:/bin/${shell}\n`);
      group.push(`${name}:x:${uid}:\n`);
    }
    // Another home for root, whose shell startup files on this machine may take longer than most tests.
    const rootHome = join(folder, "root");
    await mkdir(rootHome, { mode: 0o700 });
    const known = (await readFile("/etc/passwd", "utf8")).replace(
      /^root:.*\n/m,
      `root:x:0:0::${rootHome}:/bin/${shell}\n`,
    );
    await writeFile(join(folder, "passwd"), `${known}${passwd.join("")}`);
    await writeFile(
      join(folder, "group"),
      `${await readFile("/etc/group", "utf8")}${group.join("")}`,
    );
    // `*`: the account has no password and is not locked.
    await writeFile(
      join(folder, "shadow"),
      `${await readFile("/etc/shadow", "utf8")}${accounts.map((name) => `${name}:*:19000::::::\n`).join("")}`,
      { mode: 0o600 },
    );
    const sudoers = join(folder, "sudoers");
    await writeFile(sudoers, `Defaults env_reset\nDefaults use_pty\n${options.sudoers ?? ""}\n`);
    await chmod(sudoers, 0o440);
  }

  let child: ReturnType<typeof spawn> | null = null;

  async function start(): Promise<void> {
    const sshd = ["/usr/sbin/sshd", "-D", "-e", "-f", join(folder, "sshd_config")];
    const mounts = [
      "set -e; mkdir -p /run/sshd; f=$1; shift",
      "for n in passwd group shadow; do mount --bind $f/$n /etc/$n; done",
      "if [ -e /etc/sudoers ]; then mount --bind $f/sudoers /etc/sudoers; fi",
      'exec "$@"',
    ].join("\n");
    const argv = isRoot ? ["unshare", "--mount", "sh", "-c", mounts, "sh", folder, ...sshd] : sshd;
    const [program = "", ...args] = argv;
    const started = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], cwd: "/" });
    child = started;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      started.stderr.on("data", (text: Buffer) => {
        said += text.toString();
        if (said.includes("Server listening")) resolve();
      });
      started.once("error", reject);
      started.once("exit", () => reject(new Error(`sshd did not start: ${said}`)));
    });
  }

  async function stop(): Promise<void> {
    if (child === null) return;
    const ended = child;
    child = null;
    const pids = await descendants(ended.pid);
    const exit = new Promise((resolve) => ended.once("exit", resolve));
    const own = ended.pid === undefined ? [] : [ended.pid];
    signalAll([...own, ...(await sshdsAmong(pids))], "SIGKILL");
    if (ended.exitCode === null && ended.signalCode === null) await exit;
  }

  await start();
  cleanUp(stop);

  const made: TestSshd = {
    port,
    folder,
    keyFile,
    get fingerprint() {
      return made.fingerprints[0] ?? "";
    },
    fingerprints: await readFingerprints(),
    user,
    otherUser,
    target: (more = {}) => ({
      host: "127.0.0.1",
      port,
      user,
      keyFile,
      hostKey: made.fingerprint,
      configFile: null,
      jump: null,
      ...more,
    }),
    start,
    stop,
    async hang() {
      const pids = [
        ...(child?.pid === undefined ? [] : [child.pid]),
        ...(await descendants(child?.pid)),
      ];
      signalAll(pids, "SIGSTOP");
      return async () => signalAll(pids, "SIGCONT");
    },
    async cut() {
      signalAll(await sshdsAmong(await descendants(child?.pid)), "SIGKILL");
    },
    async rekey() {
      await stop();
      await makeHostKeys();
      await start();
      made.fingerprints = await readFingerprints();
    },
    findRunning: (text) => findProcesses((line) => line.includes(text)),
  };
  return made;
}

/** Skips processes that have ended. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) if (isAlive(pid)) sendSignal(pid, signal);
}

async function readProcess(pid: string): Promise<{ parent: number; line: string } | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // A zombie has ended.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const line = (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\0", " ");
    return state === "Z" ? null : { parent: Number(parent), line };
  } catch {
    return null;
  }
}

const listPids = async (): Promise<string[]> =>
  (await readdir("/proc")).filter((name) => /^\d+$/.test(name));

async function findProcesses(matches: (line: string) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await listPids()) {
    const process = await readProcess(pid);
    if (process !== null && matches(process.line)) found.push(Number(pid));
  }
  return found;
}

async function descendants(root: number | undefined): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const pid of await listPids()) {
    const process = await readProcess(pid);
    if (process !== null) parents.set(Number(pid), process.parent);
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (parents.get(pid) === root || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

async function sshdsAmong(pids: readonly number[]): Promise<number[]> {
  const found: number[] = [];
  for (const pid of pids)
    if ((await readProcess(String(pid)))?.line.startsWith("sshd:") === true) found.push(pid);
  return found;
}

/** Call at the top of a test file: returns a server that tests can share if they do not change it. The first call starts it. */
export function createSharedSshd(): () => Promise<TestSshd> {
  const cleanUps: (() => unknown)[] = [];
  let starting: Promise<TestSshd> | null = null;
  afterAll(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });
  return () => (starting ??= startSshd({ cleanUp: (work) => void cleanUps.push(work) }));
}
