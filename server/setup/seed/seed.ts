// `npm start -- --seed large` and `npm run dev -- --seed large`: a data folder with realistic content to try the dashboard.
import { randomBytes } from "node:crypto";
import { ConfigError, readConfig, readSecretFiles } from "../../config.ts";
import type { Environment } from "../../environment/handover.ts";
import { hostInUrl } from "../../http/allowed-hosts.ts";
import { toError } from "../../to-error.ts";
import { createSeedClient } from "./client.ts";
import { fill } from "./fill.ts";
import { startReceiver } from "./receiver.ts";
import { prepareFiles, writeSlackUrl, writeState } from "./write-files.ts";

type Seed = {
  /** Called once the service responds. */
  fill(): Promise<void>;
};

type Program = Pick<NodeJS.Process, "argv" | "getuid" | "exit" | "stdout" | "stderr">;

/** Starts the service, with the seed that the command line requests prepared before and filled afterwards. */
export async function startWithSeed(
  program: Program,
  environment: Environment,
  start: () => Promise<unknown>,
): Promise<void> {
  const say = (line: string) => program.stdout.write(`  ${line}\n`);
  let seed: Seed | null = null;
  try {
    seed = await prepareSeed(program.argv, environment, program.getuid?.() === 0, say);
  } catch (error) {
    program.stderr.write(`\n${toError(error).message}\n\n`);
    program.exit(1);
  }
  await start();
  try {
    await seed?.fill();
  } catch (error) {
    // The service continues, and the next start with the seed continues where this one ended.
    program.stderr.write(`\nThe seed is incomplete: ${toError(error).message}\n\n`);
  }
}

/** Length of a token that is generated for this start, unless the operator chose one. */
const tokenBytes = 24;

/**
 * Prepares the requested seed before the service starts.
 * @param environment of the service, to which the seed's variables are added
 * @returns null where no seed was requested
 * @throws ConfigError
 */
async function prepareSeed(
  args: readonly string[],
  environment: Environment,
  isRoot: boolean,
  say: (line: string) => void,
): Promise<Seed | null> {
  const place = args.indexOf("--seed");
  if (place === -1) return null;
  const size = args[place + 1];
  if (size !== "large")
    throw new ConfigError(`--seed must be “large”, not “${size ?? ""}”. There is one seed.`);
  for (const name of ["DATABASE_URL", "QUARTERDECK_INVENTORY", "QUARTERDECK_UPSTREAM"])
    if (environment[name])
      throw new ConfigError(
        `Couldn't seed: ${name} is set, and a seed fills a data folder of its own. Unset ${name}.`,
      );
  const { dataFolder, port, host } = readConfig(readSecretFiles(environment), isRoot);
  if (port === 0) throw new ConfigError("Couldn't seed: set PORT to the port of the service.");

  const state = await prepareFiles(dataFolder);
  const receiverPort = await startReceiver(state.receiverPort);
  const receiver = `http://127.0.0.1:${receiverPort}`;
  await writeSlackUrl(dataFolder, `${receiver}/slack`);
  await writeState(dataFolder, { ...state, receiverPort });
  environment["QUARTERDECK_ALLOW"] ??= "127.0.0.0/8";
  const isOwnToken = !environment["QUARTERDECK_TOKEN"];
  if (isOwnToken) environment["QUARTERDECK_TOKEN"] = randomBytes(tokenBytes).toString("hex");
  const token = readConfig(readSecretFiles(environment), isRoot).token ?? "";

  return {
    async fill() {
      const isEveryAddress = host === "0.0.0.0" || host === "::";
      const url = `http://${isEveryAddress ? "127.0.0.1" : hostInUrl(host)}:${port}`;
      if (isOwnToken)
        say(
          `Sign in with this link until the service ends:\n\n  ${environment["QUARTERDECK_PUBLIC_URL"] ?? `http://localhost:${port}`}/#token=${token}\n`,
        );
      if (state.isDone) return;
      await fill({ client: createSeedClient(url, token), dataFolder, receiver, say });
      await writeState(dataFolder, { ...state, receiverPort, isDone: true });
      say("The large seed is ready.");
    },
  };
}
