import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test, type TestContext } from "vitest";
import { logPath, maxLogBytes, openLog } from "./log-files.ts";
import { type LogPart, maxReadBytes, readLog } from "./log-reader.ts";
import { rotateLog } from "./log-rotation.ts";
import { makeFolder, makeSupervisor, programOf, shell, soon } from "./testing/supervisor.ts";

function makeLog(context: Pick<TestContext, "onTestFinished">, content: string | Buffer = "") {
  const folder = makeFolder(context);
  closeSync(openLog(folder));
  const write = (more: string | Buffer) => appendFileSync(logPath(folder), more);
  write(content);
  return { folder, write, read: (from: Parameters<typeof readLog>[1]) => readLog(folder, from) };
}

/** Returns numbered lines of the log, of 100 bytes each. */
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `${String(from + index).padEnd(99, ".")}\n`).join("");

/** Reads on from an offset to the end, like a page that follows the log. */
function follow(read: (from: { offset: number }) => LogPart, offset: number): LogPart[] {
  const parts: LogPart[] = [];
  for (let at = offset; ;) {
    const part = read({ offset: at });
    if (part.text === "") return parts;
    parts.push(part);
    at = part.end;
  }
}

describe("The last lines", () => {
  test.for([
    ["", 5, "", 0],
    ["one\n", 5, "one\n", 0],
    ["one\ntwo\nthree\n", 2, "two\nthree\n", 4],
    ["one\ntwo\nthree", 2, "two\nthree", 4],
    ["one\n\n\n", 2, "\n\n", 4],
    ["one\n", 1, "one\n", 0],
  ] as const)("of %j, %i of them", ([content, count, text, start], context) => {
    const { read } = makeLog(context, content);
    expect(read({ lines: count })).toEqual({ text, start, end: content.length, rotated: false });
  });

  test("are complete, and at most 64 KiB", (context) => {
    const { read } = makeLog(context, lines(0, 2000));
    const { text, start, end } = read({ lines: 1000 });
    expect(text).toBe(lines(2000 - 655, 655));
    expect([start, end]).toEqual([134_500, 200_000]);
  });

  test("are split between two characters if one line is longer than 64 KiB", (context) => {
    for (const padding of ["", "a", "aa", "aaa"]) {
      const { read } = makeLog(context, `${"🚢".repeat(40_000)}${padding}`);
      const { text, start, end } = read({ lines: 3 });
      expect(text).toMatch(/^(?:🚢)+a*$/u);
      expect(end - start).toBeGreaterThan(maxReadBytes - 4);
      expect(end - start).toBeLessThanOrEqual(maxReadBytes);
    }
  });
});

describe("The text after an offset", () => {
  test("comes in parts of complete lines that together are the log", (context) => {
    const content = lines(0, 3000);
    const { read } = makeLog(context, content);
    const parts = follow(read, 0);
    expect(parts.map(({ text }) => text).join("")).toBe(content);
    for (const { text, start, end, rotated } of parts) {
      expect(text.endsWith("\n")).toBe(true);
      expect(end - start).toBeLessThanOrEqual(maxReadBytes);
      expect(rotated).toBe(false);
    }
  });

  test("never splits a character, whatever its length and position", (context) => {
    for (const character of ["é", "船", "🚢"]) {
      for (let shift = 0; shift < 4; shift += 1) {
        const content = "-".repeat(shift) + character.repeat(50_000);
        const parts = follow(makeLog(context, content).read, 0);
        expect(parts.map(({ text }) => text).join("")).toBe(content);
        expect(parts.length).toBeGreaterThan(1);
      }
    }
  });

  test("leaves a partly written character to the next read", (context) => {
    const ship = Buffer.from("🚢");
    for (let written = 1; written < 4; written += 1) {
      const { read, write } = makeLog(
        context,
        Buffer.concat([Buffer.from("a "), ship.subarray(0, written)]),
      );
      expect(read({ offset: 0 })).toMatchObject({ text: "a ", end: 2 });
      write(ship.subarray(written));
      expect(read({ offset: 2 })).toMatchObject({ text: "🚢", start: 2, end: 6 });
    }
  });

  test("starts at the next character if the offset is inside of one", (context) => {
    const { read } = makeLog(context, "🚢é!");
    expect([1, 2, 3, 5].map((offset) => read({ offset }).text)).toEqual(["é!", "é!", "é!", "!"]);
  });

  test("has bytes that are not UTF-8 replaced, and continues after them", (context) => {
    const { read } = makeLog(context, Buffer.from([0x61, 0xff, 0xfe, 0x80, 0x62, 0x0a]));
    expect(read({ offset: 0 })).toMatchObject({ text: "a\uFFFD\uFFFD\uFFFDb\n", end: 6 });
  });

  test("is empty at the end, until more was written", (context) => {
    const { read, write } = makeLog(context, "one\n");
    expect(read({ offset: 4 })).toEqual({ text: "", start: 4, end: 4, rotated: false });
    write("two\n");
    expect(read({ offset: 4 })).toEqual({ text: "two\n", start: 4, end: 8, rotated: false });
  });
});

describe("A rotation", () => {
  const long = Math.ceil(maxLogBytes / 100);

  test("is due at 10 MB, not before", async (context) => {
    const { folder, write } = makeLog(context, Buffer.alloc(maxLogBytes - 1, "x"));
    expect(await rotateLog(folder)).toBe(false);
    write("x");
    expect(await rotateLog(folder)).toBe(true);
    expect(statSync(logPath(folder)).size).toBe(0);
    expect(statSync(logPath(folder, 1)).size).toBe(maxLogBytes);
    expect((statSync(logPath(folder, 1)).mode & 0o777).toString(8)).toBe("600");
  });

  test("keeps the three newest logs", async (context) => {
    const { folder, write } = makeLog(context);
    for (let round = 1; round <= 5; round += 1) {
      write(lines(round, long));
      expect(await rotateLog(folder)).toBe(true);
    }
    const first = (number: number) => readFileSync(logPath(folder, number), "utf8").slice(0, 2);
    expect([1, 2, 3].map(first)).toEqual(["5.", "4.", "3."]);
    expect(existsSync(logPath(folder, 4))).toBe(false);
  });

  test("is invisible to a reader whose offset is in the rotated part", async (context) => {
    const { folder, read, write } = makeLog(context, lines(0, long));
    const before = read({ lines: 5 });
    await rotateLog(folder);
    write("after\n");
    expect(read({ offset: before.end })).toMatchObject({ text: "after\n", rotated: false });
    expect(read({ lines: 2 }).text).toBe(`${lines(long - 1, 1)}after\n`);
    const parts = follow(read, before.start);
    expect(parts.map(({ text }) => text).join("")).toBe(`${before.text}after\n`);
  });

  test("is reported to a reader who comes too late, even if the log is longer again by then", async (context) => {
    const { folder, read, write } = makeLog(context, lines(0, long));
    const { end } = read({ offset: 5000 });
    for (let round = 1; round <= 2; round += 1) {
      await rotateLog(folder);
      write(lines(round * 1_000_000, long));
    }
    const part = read({ offset: end });
    expect(part).toMatchObject({ rotated: true, start: 2 * long * 100 });
    expect(part.text.startsWith("2000000.")).toBe(true);
    expect(read({ offset: part.end }).rotated).toBe(false);
  });

  test("is reported if someone else has truncated the log", (context) => {
    const { folder, read, write } = makeLog(context, lines(0, 10));
    truncateSync(logPath(folder));
    write("anew\n");
    expect(read({ offset: 1000 })).toEqual({ text: "anew\n", start: 0, end: 5, rotated: true });
  });

  test("that fails leaves the log and rotated logs unchanged", async (context) => {
    const { folder, write } = makeLog(context, lines(0, long));
    await rotateLog(folder);
    write(lines(0, long));
    mkdirSync(join(folder, "log.copy"));
    await expect(rotateLog(folder)).rejects.toThrow("EISDIR");
    expect(statSync(logPath(folder)).size).toBe(long * 100);
    expect(statSync(logPath(folder, 1)).size).toBe(long * 100);
    rmSync(join(folder, "log.copy"), { recursive: true });
    expect(await rotateLog(folder)).toBe(true);
  });

  test("loses no line of a process that writes continuously", async (context) => {
    const supervisor = makeSupervisor(context);
    const count = 400_000;
    const args = shell(`seq -f '%0.f ${"x".repeat(40)}' 1 ${count}; sleep 300`);
    supervisor.start(programOf(1, { args }));
    const folder = join(supervisor.folder, "workers/1");
    const all = () =>
      [3, 2, 1, 0].map((number) =>
        existsSync(logPath(folder, number)) ? readFileSync(logPath(folder, number), "utf8") : "",
      );
    await expect.poll(() => all().join("").includes(`\n${count} x`), soon).toBe(true);
    await expect.poll(() => statSync(logPath(folder)).size, soon).toBeLessThan(maxLogBytes);
    const numbers = all()
      .join("")
      .split("\n")
      .filter(Boolean)
      .map((line) => Number.parseInt(line, 10));
    expect(numbers.at(0)).toBe(1);
    // Copying and truncating may lose only what was written within microseconds.
    const lost = numbers.filter(
      (number, index) => index > 0 && number !== (numbers[index - 1] ?? 0) + 1,
    );
    expect(lost.length).toBeLessThanOrEqual(2);
    expect(supervisor.problems).toEqual([]);
    await supervisor.stop(1);
  });
});
