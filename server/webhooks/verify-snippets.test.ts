// Runs the example receivers of the dashboard unchanged, and sends them real requests.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type VerifySnippet, verifySnippets } from "../../contract/webhooks/verify-snippets.ts";
import { freePort } from "../testing/free-port.ts";
import { soon } from "../testing/soon.ts";

type Runner = { file: string; command: (file: string, port: number) => string[] };

const runners: Record<VerifySnippet["language"], Runner> = {
  node: { file: "receiver.mjs", command: (file) => [process.execPath, file] },
  php: { file: "receiver.php", command: (file, port) => ["php", "-S", `127.0.0.1:${port}`, file] },
  python: { file: "receiver.py", command: (file) => ["python3", "-B", file] },
};

const isThere = (command: string) =>
  spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0;

const makeSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const secret = makeSecret();
const body = JSON.stringify({ type: "webhook.ping", data: { site: "Größe.example.com" } });
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Returns the headers that the service sends. */
function headersOf(at: Date, secrets: readonly string[] = [secret]): Record<string, string> {
  const id = "msg_1";
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((one) => new Webhook(one).sign(id, at, body)).join(" "),
  };
}

/** Runs a receiver until the end of the test. Resolves once it accepts connections. */
async function runReceiver({ language, code }: VerifySnippet, environment: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), "quarterdeck-receiver-"));
  const { file, command } = runners[language];
  await writeFile(join(folder, file), code);
  const port = await freePort();
  const [program = "", ...args] = command(join(folder, file), port);
  const child = spawn(program, args, {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment, PORT: `${port}` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const gone = once(child, "exit");
  const url = `http://127.0.0.1:${port}/`;
  await soon(() => fetch(url, { method: "POST" }));
  return {
    errors: () => errors,
    async send(headers: Record<string, string>, sent: string = body) {
      const answer = await fetch(url, { method: "POST", headers, body: sent });
      return `${answer.status} ${await answer.text()}`.trim();
    },
    async stop() {
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

for (const snippet of verifySnippets()) {
  const [program = ""] = runners[snippet.language].command("", 0);
  describe.skipIf(!isThere(program))(`the receiver in ${snippet.label}`, () => {
    let receiver: Awaited<ReturnType<typeof runReceiver>>;
    beforeAll(async () => {
      receiver = await runReceiver(snippet, { WEBHOOK_SECRET: secret });
    });
    afterAll(() => receiver.stop());

    test("accepts a genuine request, and logs nothing but the event", async () => {
      expect(await receiver.send(headersOf(secondsAgo(0)))).toBe("204");
      expect(receiver.errors()).not.toMatch(/warning|deprecated|error:/i);
    });

    test("accepts a request signed by two secrets, whichever of them it has", async () => {
      const [now, other] = [secondsAgo(0), makeSecret()];
      expect(await receiver.send(headersOf(now, [secret, other]))).toBe("204");
      expect(await receiver.send(headersOf(now, [other, secret]))).toBe("204");
    });

    test("accepts a clock that is a little off, and refuses old and future requests", async () => {
      expect(await receiver.send(headersOf(secondsAgo(4 * 60)))).toBe("204");
      expect(await receiver.send(headersOf(secondsAgo(-4 * 60)))).toBe("204");
      expect(await receiver.send(headersOf(secondsAgo(6 * 60)))).toBe("400 too old or too new");
      expect(await receiver.send(headersOf(secondsAgo(-6 * 60)))).toBe("400 too old or too new");
    });

    test("refuses a body that was changed on the way", async () => {
      const changed = body.replace("ping", "pong");
      expect(await receiver.send(headersOf(secondsAgo(0)), changed)).toBe("400 no signature fits");
    });

    test("refuses a request signed by another secret, and an unsigned one", async () => {
      const now = secondsAgo(0);
      expect(await receiver.send(headersOf(now, [makeSecret()]))).toBe("400 no signature fits");
      const { "webhook-signature": _, ...unsigned } = headersOf(now);
      expect(await receiver.send(unsigned)).toBe("400 a header is missing");
      for (const signature of ["v1,", "v1", "v1a,AAAA", "nonsense", "v1,\u00e4\u00e4"])
        expect(await receiver.send({ ...headersOf(now), "webhook-signature": signature })).toBe(
          "400 no signature fits",
        );
    });

    test("refuses a timestamp that was inserted after signing, and an invalid one", async () => {
      const old = headersOf(secondsAgo(6 * 60));
      const { "webhook-timestamp": now = "" } = headersOf(secondsAgo(0));
      expect(await receiver.send({ ...old, "webhook-timestamp": now })).toMatch(/^400/);
      expect(await receiver.send({ ...old, "webhook-timestamp": "soon" })).toMatch(/^400/);
    });

    test("refuses everything without a secret, even what is signed with an empty one", async () => {
      const open = await runReceiver(snippet, {});
      try {
        // HMAC treats this key like an empty one.
        const forged = new Webhook("\0", { format: "raw" });
        const at = secondsAgo(0);
        const signature = forged.sign("msg_1", at, body);
        const answer = await open.send({ ...headersOf(at), "webhook-signature": signature });
        expect(answer).toBe("400 WEBHOOK_SECRET is not set");
      } finally {
        await open.stop();
      }
    });
  });
}
