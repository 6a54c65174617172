// Simulates an attacker: a process of an account that exchanges two file names as fast as it can.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Account } from "../hosts/account.ts";
import { asAccount } from "../hosts/as-account.ts";

/** renameat2(2): its syscall number by architecture, and RENAME_EXCHANGE, which exchanges two names atomically. */
const callNumbers: Record<string, number> = { x64: 316, arm64: 276 };
const exchangeFlag = 2;
const workingFolder = -100;

const script = `
  my ($call, $one, $other) = @ARGV;
  $| = 1;
  my ($done, $told) = (0, 0);
  while (1) {
    $done++ if syscall($call + 0, ${workingFolder}, $one, ${workingFolder}, $other, ${exchangeFlag}) == 0;
    if ($done >= $told + 100) { print "$done\\n"; $told = $done; }
  }
`;

type Swapper = {
  /** Returns how often the names were exchanged so far. */
  count(): number;
  stop(): Promise<void>;
};

/** Resolves once the first swaps are done. Uses Perl, because Node.js cannot call renameat2 with flags. */
export async function startSwapper(account: Account, one: string, other: string): Promise<Swapper> {
  const call = callNumbers[process.arch];
  if (call === undefined)
    throw new Error(`the number of renameat2 on ${process.arch} is not known`);
  const argv = ["perl", "-e", script, "--", String(call), one, other] as const;
  const [program, ...args] = asAccount(account, "/", argv);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  let count = 0;
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    count = Number(line);
  });
  await once(lines, "line");
  return {
    count: () => count,
    async stop() {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    },
  };
}
