import { createHash, randomBytes, randomFillSync } from "node:crypto";
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { makeFolder } from "../testing/machine.ts";
import { createPieceMemory, giveBackPiece } from "../piece-memory.ts";
import { streamOf } from "../storage/stream-of.ts";
import { heldFile } from "./host.ts";
import { createRunner } from "./run.ts";
import { mountFolder } from "../testing/mount.ts";
import { isAlive, sendSignal } from "../testing/signals.ts";
import { soon } from "../testing/soon.ts";

const run = createRunner({ PATH: process.env["PATH"] ?? "", HOME: "/" });

test("a command reads its input, and returns its exit code and both outputs", async () => {
  const lines: string[] = [];
  const end = await run({
    argv: ["sh", "-c", "cat; echo oh >&2; exit 3"],
    input: Readable.from(["hello"]),
    onErrorLine: (line) => lines.push(line),
  });
  expect(end).toEqual({ exitCode: 3, signal: null, stdout: "hello", stderr: "oh\n" });
  expect(lines).toEqual(["oh"]);
});

test("a command sees nothing of the service's environment except what is passed to it", async () => {
  const { stdout } = await run({ argv: ["env"], environment: { PGPASSWORD: "secret" } });
  const names = stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  expect(names.toSorted((a = "", b = "") => a.localeCompare(b))).toEqual([
    "HOME",
    "LC_ALL",
    "PATH",
    "PGPASSWORD",
  ]);
});

test("a command reads open files from their beginning, including one without a name", async () => {
  const folder = await makeFolder();
  const file = await open(join(folder, "base"), "wx+");
  await rm(join(folder, "base"));
  await file.write("held");
  const { stdout } = await run({ argv: ["cat", heldFile(0)], files: [file.fd] });
  await file.close();
  expect(stdout).toBe("held");
});

test("no shell parses its arguments", async () => {
  const { stdout } = await run({ argv: ["printf", "%s", "$(id); `id` > /tmp/x"] });
  expect(stdout).toBe("$(id); `id` > /tmp/x");
});

describe.each([
  { how: "as it comes", more: {} },
  { how: "whose memory is used again", more: { release: () => undefined } },
])("an input $how", ({ more }) => {
  test("arrives complete and in order", async () => {
    const pieces = Array.from({ length: 20 }, () => randomBytes(300_000));
    const { stdout } = await run({ argv: ["sha256sum"], input: Readable.from(pieces), ...more });
    const sum = createHash("sha256").update(Buffer.concat(pieces)).digest("hex");
    expect(stdout).toBe(`${sum}  -\n`);
  });

  test("that is not read to its end is judged by the command's exit code", async () => {
    const endless = Readable.from(
      (function* () {
        for (;;) yield "x".repeat(65_536);
      })(),
    );
    expect(await run({ argv: ["head", "-c", "3"], input: endless, ...more })).toMatchObject({
      exitCode: 0,
      stdout: "xxx",
    });
  });

  test("does not hide the exit code of a command that ends early, however it ends", async () => {
    // Data that is still being written to the pipe then fails in varying ways.
    const input = () => Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(64 * 1024)));
    const runs = Array.from({ length: 40 }, async () =>
      run({
        argv: ["head", "--bytes=70000"],
        input: input(),
        take: async () => undefined,
        ...more,
      }),
    );
    const ends = await Promise.all(runs);
    expect(new Set(ends.map(({ exitCode }) => exitCode))).toEqual(new Set([0]));
  });

  test("whose next piece does not arrive does not keep a command from ending", async () => {
    const held = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.from("more\n");
      await held.promise;
    }
    const end = await run({ argv: ["head", "-n", "1"], input: Readable.from(slow()), ...more });
    expect(end).toMatchObject({ exitCode: 0, stdout: "more\n" });
    held.resolve();
  });

  test("that breaks off is not mistaken for one that ended", async () => {
    let reads = 0;
    const broken = new Readable({
      read() {
        reads += 1;
        if (reads < 5) this.push("line\n");
        else this.destroy(new Error("the disk is gone"));
      },
    });
    await expect(
      run({ argv: ["sh", "-c", "cat >/dev/null; sleep 5"], input: broken, ...more }),
    ).rejects.toThrow("the disk is gone");
  });

  test("an input that breaks off while the program reads none of it is named as the cause", async () => {
    const broken = new PassThrough();
    broken.write(Buffer.alloc(1_000_000));
    const running = run({
      argv: ["sh", "-c", "echo up >&2; exec sleep 60"],
      input: broken,
      onErrorLine: () => setImmediate(() => broken.destroy(new Error("the disk is gone"))),
      ...more,
    });
    await expect(running).rejects.toThrow("the disk is gone");
  });

  test("that was destroyed is not mistaken for one that ended", async () => {
    const gone = Readable.from(["line\n"]).destroy();
    const going = new Readable({
      read() {
        if (this.readableLength === 0) this.push("line\n");
        setImmediate(() => this.destroy());
      },
    });
    const cat = ["sh", "-c", "cat >/dev/null; sleep 5"] as const;
    await expect(run({ argv: cat, input: gone, ...more })).rejects.toThrow("Premature close");
    await expect(run({ argv: cat, input: going, ...more })).rejects.toThrow("Premature close");
  });
});

test("releases a piece of the input once it was read, and none before", async () => {
  const memory = createPieceMemory();
  const used = new Set<ArrayBufferLike>();
  const hash = createHash("sha256");
  async function* pieces() {
    for (let count = 0; count < 20; count += 1) {
      const piece = memory.take();
      randomFillSync(piece);
      hash.update(piece);
      used.add(piece.buffer);
      yield piece;
    }
  }
  const input = streamOf(pieces(), () => undefined, { isOneByOne: true });
  const { stdout } = await run({ argv: ["sha256sum"], input, release: giveBackPiece });
  expect(stdout).toBe(`${hash.digest("hex")}  -\n`);
  // One piece is written while another waits and a third is filled.
  expect(used.size).toBeLessThanOrEqual(4);
});

test("a failing output ends the command", async () => {
  const output = new PassThrough();
  setTimeout(() => output.destroy(new Error("no room left")), 30);
  await expect(run({ argv: ["yes"], output })).rejects.toThrow("no room left");
});

describe("an output with a consumer", () => {
  const megabytes = 40;
  const numbers = ["sh", "-c", `yes 0123456789abcde | head -c ${megabytes}000000`] as const;

  test("arrives complete and in order, however slowly, and in the same memory", async () => {
    const hash = createHash("sha256");
    const memories = new Set<ArrayBufferLike>();
    let pieces = 0;
    const end = await run({
      argv: numbers,
      async take(piece) {
        pieces += 1;
        if (pieces % 50 === 0) await wait(5);
        memories.add(piece.buffer);
        hash.update(piece);
      },
    });
    expect(end).toMatchObject({ exitCode: 0, stdout: "" });
    const whole = Buffer.alloc(megabytes * 1_000_000, "0123456789abcde\n");
    expect(hash.digest("hex")).toBe(createHash("sha256").update(whole).digest("hex"));
    expect(memories.size).toBe(1);
  });

  test("may be empty, and may come from a process that outlives the command", async () => {
    const taken: string[] = [];
    const take = async (piece: Buffer) => void taken.push(piece.toString());
    expect(await run({ argv: ["false"], take })).toMatchObject({ exitCode: 1 });
    await run({ argv: ["sh", "-c", "(sleep 0.2; echo late) & echo early"], take });
    expect(taken.join("")).toBe("early\nlate\n");
  });

  test("uses an ordinary pipe if there is no space for a pipe of our own", async () => {
    vi.stubEnv("TMPDIR", "/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    let bytes = 0;
    await run({ argv: numbers, take: async (piece) => void (bytes += piece.length) });
    expect(bytes).toBe(megabytes * 1_000_000);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("no room left");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no room left"))],
  ])("ends the command if consuming it %s", async (_, take) => {
    await expect(run({ argv: ["yes"], take })).rejects.toThrow("no room left");
  });

  test("does not delay an abort, even if nobody consumes it", async () => {
    const abort = new AbortController();
    const running = run({
      argv: ["yes"],
      take: () => new Promise<void>(() => abort.abort(new Error("enough"))),
      signal: abort.signal,
    });
    await expect(running).rejects.toThrow("enough");
  });

  test("does not hide a missing program", async () => {
    const running = run({ argv: ["no-such-program"], take: async () => undefined });
    await expect(running).rejects.toMatchObject({ name: "CommandMissing" });
  });
});

test("an endless error line does not fill the memory", async () => {
  const lengths: number[] = [];
  const end = await run({
    argv: ["sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x >&2; printf '\\r\\nlast' >&2"],
    onErrorLine: (line) => lengths.push(line.length),
  });
  expect(Math.max(...lengths)).toBeLessThanOrEqual(128 * 1024);
  expect(lengths.reduce((sum, length) => sum + length)).toBe(5_000_000 + "last".length);
  expect(end.stderr.endsWith("x\nlast\n")).toBe(true);
});

test("an abort does not wait for a process that left the group and holds the output open", async () => {
  const abort = new AbortController();
  let pid = 0;
  const running = run({
    argv: ["sh", "-c", "setsid sh -c 'echo $$ >&2; exec sleep 60' & wait"],
    signal: abort.signal,
    onErrorLine: (line) => {
      pid = Number(line);
      abort.abort(new Error("enough"));
    },
  });
  await expect(running).rejects.toThrow("enough");
  sendSignal(pid, "SIGKILL");
});

test("an abort ends a process that holds the error output open after the command has ended", async () => {
  let pid = 0;
  const running = run({
    argv: ["sh", "-c", "sleep 600 >/dev/null & echo $!; exec true"],
    take: async (piece) => void (pid = Number(piece.toString())),
    signal: AbortSignal.timeout(500),
  });
  const limit = new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error("The abort did nothing.")), 10_000);
    onTestFinished(() => clearTimeout(timer));
  });
  onTestFinished(() => void (isAlive(pid) && sendSignal(pid, "SIGKILL")));
  await expect(Promise.race([running, limit])).rejects.toThrow(/timeout/);
  await soon(async () =>
    expect(await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).toBe(""),
  );
});

test("an abort ends all processes that the command started", async () => {
  const abort = new AbortController();
  const pids: number[] = [];
  const running = run({
    argv: ["sh", "-c", "sleep 60 & echo $! >&2; sleep 60"],
    signal: abort.signal,
    onErrorLine: (line) => {
      pids.push(Number(line));
      abort.abort(new Error("enough"));
    },
  });
  await expect(running).rejects.toThrow("enough");
  // The process is gone, or a zombie that its new parent has not reaped yet.
  await soon(async () =>
    expect(await readFile(`/proc/${pids[0]}/cmdline`, "utf8").catch(() => "")).toBe(""),
  );
});

test("reports a missing program by its name", async () => {
  await expect(run({ argv: ["no-such-program"] })).rejects.toMatchObject({
    name: "CommandMissing",
    message: expect.stringContaining("no-such-program"),
  });
});

test("a hanging folder blocks the command that enters it, and not its caller", async (context) => {
  const { path, hang } = await mountFolder(context);
  expect((await run({ argv: ["pwd"], folder: path })).stdout).toBe(`${path}\n`);
  await hang();
  const over = new AbortController();
  const running = run({ argv: ["pwd"], folder: path, signal: over.signal });
  expect((await run({ argv: ["echo", "on"] })).stdout).toBe("on\n");
  over.abort();
  await expect(running).rejects.toThrow("aborted");
});
