import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { compileCacheEnvironment } from "../compile-cache.ts";
import { findAccount, ownAccount, type Account } from "./account.ts";
import type { LocalHost } from "./host.ts";
import { createLocalHost } from "./local.ts";
import {
  countInput,
  passOn,
  readText,
  tellIdentity,
  tryOtherAccount,
  waitForAbort,
} from "./testing/tasks.ts";
import { openTrustedParent } from "./trusted-parent.ts";
import { mountFolder } from "../testing/mount.ts";
import { soon } from "../testing/soon.ts";

const isRoot = userInfo().uid === 0;
const host = createLocalHost({ PATH: process.env["PATH"] ?? "", HOME: "/nowhere" });

async function find(name: string): Promise<Account> {
  const account = await findAccount(name);
  if (account === null) throw new Error(`this machine has no account ${name}`);
  return account;
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-account-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  return folder;
}

test("finds an account by its name and by its number, and returns none for an unknown one", async () => {
  const own = ownAccount();
  expect(await findAccount(own.name)).toEqual(own);
  expect(await findAccount(own.uid)).toEqual(own);
  expect(await findAccount("no-such-account")).toBeNull();
  expect(await findAccount("--help")).toBeNull();
  expect(await findAccount(4_001_234)).toBeNull();
});

test("a service of an ordinary user runs nothing as another account", async () => {
  const ordinary = isRoot ? host.as(await find("nobody")) : host;
  expect(await ordinary.perform(tryOtherAccount, 1)).toContain("cannot run anything as user 1");
});

describe.runIf(isRoot)("a command that runs as an account", () => {
  test("has its uid, its groups and its home, and none of root's", async () => {
    const nobody = await find("nobody");
    const { stdout } = await host
      .as(nobody)
      .run({ argv: ["sh", "-c", 'id -u; id -ru; id -G; echo "$HOME $USER"'] });
    expect(stdout).toBe(`65534\n65534\n${nobody.gid}\n${nobody.home} nobody\n`);
  });

  test("may be one without a name", async () => {
    const account = { uid: 4_001_234, gid: 4_001_235, name: "", home: "/" };
    const { stdout } = await host.as(account).run({ argv: ["sh", "-c", "id -u; id -G"] });
    expect(stdout).toBe("4001234\n4001235\n");
  });

  test("enters its folder as that account, and reports a folder that it may not enter", async () => {
    const nobody = host.as(await find("nobody"));
    const folder = await makeFolder();
    await mkdir(join(folder, "closed/open"), { recursive: true });
    await chmod(join(folder, "closed"), 0o700);
    const inside = { argv: ["pwd"], folder: join(folder, "closed/open") } as const;
    await expect(nobody.run(inside)).rejects.toMatchObject({
      name: "CommandMissing",
      message: expect.stringContaining("Permission denied"),
    });
    await chmod(join(folder, "closed"), 0o711);
    expect((await nobody.run(inside)).stdout).toBe(`${folder}/closed/open\n`);
  });

  test("that is missing is reported by its name", async () => {
    const nobody = host.as(await find("nobody"));
    await expect(nobody.run({ argv: ["no-such-program"] })).rejects.toMatchObject({
      name: "CommandMissing",
      message: expect.stringContaining("no-such-program"),
    });
    expect((await nobody.run({ argv: ["sh", "-c", "exit 127"] })).exitCode).toBe(127);
  });
});

test.skipIf(process.platform !== "linux")(
  "the service performs a task of its own account itself, or in another process on request",
  async () => {
    const pidOf = async (one: LocalHost) =>
      Number.parseInt(await one.perform(readText, "/proc/self/stat"), 10);
    expect(await pidOf(host)).toBe(process.pid);
    expect(await pidOf(host.apart())).not.toBe(process.pid);
    expect((await host.apart().run({ argv: ["id", "-u"] })).stdout).toBe(`${process.getuid?.()}\n`);
  },
);

test("looking up a folder on a hanging mount blocks no thread of the service", async (context) => {
  const { disk, path, hang, goOn } = await mountFolder(context);
  await mkdir(join(disk, "public"));
  await hang();
  // More lookups than the pool has threads.
  const found = Promise.all(Array.from({ length: 5 }, () => host.folderInside(path, "public")));
  // Each read may run before the next step of the lookup.
  for (let count = 0; count < 20; count += 1) expect(await readdir(disk)).toEqual(["public"]);
  goOn();
  expect(await found).toEqual(Array.from({ length: 5 }, () => join(path, "public")));
});

describe.runIf(isRoot)("a task that is performed as an account", () => {
  const asNobody = async (): Promise<LocalHost> => host.as(await find("nobody"));

  test("has dropped root permanently, and sees nothing of the service's environment", async () => {
    vi.stubEnv("A_SECRET", "hunter2");
    onTestFinished(() => void vi.unstubAllEnvs());
    const nobody = await asNobody();
    expect(await nobody.perform(tellIdentity, undefined)).toEqual({
      uids: [65_534, 65_534],
      groups: [nobody.account.gid],
      canReturn: false,
      environment: [
        "PATH",
        "HOME",
        // Variables of the compile cache, if there is one.
        ...Object.keys(compileCacheEnvironment()),
        "LC_ALL",
        "UV_USE_IO_URING",
      ],
    });
  });

  test("reads what the account may read, and nothing else", async () => {
    const nobody = await asNobody();
    const folder = await makeFolder();
    const file = join(folder, "secret");
    await writeFile(file, "text", { mode: 0o600 });
    await expect(nobody.perform(readText, file)).rejects.toMatchObject({ code: "EACCES" });
    await chown(file, nobody.account.uid, 0);
    expect(await nobody.perform(readText, file)).toBe("text");
    expect(await host.perform(readText, file)).toBe("text");
  });

  test("receives an input and returns an output byte for byte", async () => {
    const bytes = Buffer.alloc(5_000_000, "0123456789abcdefg");
    const output = new PassThrough();
    const said: string[] = [];
    const collecting = buffer(output);
    const nobody = await asNobody();
    const result = await nobody.perform(passOn, "hello", {
      input: Readable.from([bytes]),
      output,
      say: (line) => void said.push(line),
    });
    output.end();
    expect(result).toBe("passed on");
    expect(said).toEqual(["hello"]);
    expect((await collecting).equals(bytes)).toBe(true);
  });

  test("does not mistake an input that breaks off for one that ended", async () => {
    const input = new PassThrough().on("error", () => undefined);
    input.write("half");
    const counting = (await asNobody()).perform(countInput, null, { input });
    setTimeout(() => input.destroy(new Error("storage is gone")), 20);
    await expect(counting).rejects.toThrow("storage is gone");
  });

  test("cleans up and exits when it is aborted", async () => {
    const aborting = new AbortController();
    let pid = "";
    const waiting = (await asNobody()).perform(waitForAbort, null, {
      signal: aborting.signal,
      say(line) {
        pid = line;
        aborting.abort(new Error("enough"));
      },
    });
    await expect(waiting).rejects.toThrow("enough");
    await soon(async () =>
      expect(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).toBe(""),
    );
  });
});

describe.runIf(isRoot)("the parent folder of a site", () => {
  async function makeTrusted(): Promise<string> {
    const folder = await mkdtemp("/srv/quarterdeck-trusted-");
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    return folder;
  }

  test("is opened if only root can change the path to it, whatever is put there later", async () => {
    const folder = await makeTrusted();
    await mkdir(join(folder, "sites"));
    const parent = await openTrustedParent(join(folder, "sites/shop"));
    expect(parent).toMatchObject({ path: join(folder, "sites"), name: "shop" });
    await rm(join(folder, "sites"), { recursive: true });
    await symlink("/etc", join(folder, "sites"));
    await expect(readFile(join(parent?.held ?? "", "passwd"))).rejects.toThrow("ENOENT");
    await parent?.close();
  });

  test("is found through a link of root, and not through another account's", async () => {
    const folder = await makeTrusted();
    await mkdir(join(folder, "sites/1"), { recursive: true });
    await symlink("sites/1", join(folder, "shop"));
    const parent = await openTrustedParent(join(folder, "shop"));
    expect(parent).toMatchObject({ path: join(folder, "sites"), name: "1" });
    await parent?.close();
    await chown(join(folder, "sites"), 65_534, 65_534);
    expect(await openTrustedParent(join(folder, "shop"))).toBeNull();
    expect(await openTrustedParent(join(folder, "sites/1"))).toBeNull();
    await chown(join(folder, "sites"), 0, 0);
    await chmod(join(folder, "sites"), 0o775);
    expect(await openTrustedParent(join(folder, "sites/1"))).toBeNull();
    await chmod(join(folder, "sites"), 0o1777);
    expect(await openTrustedParent(join(folder, "sites/1"))).toBeNull();
  });
});
