import { dirname } from "node:path";
import { workerEnvironment } from "../workers/environment.ts";
import type { CommandContext } from "./command.ts";

/** Returns the environment of programs that a command runs on this machine. */
export function hostEnvironment({
  environment,
  runtime,
}: Pick<CommandContext, "environment" | "runtime">) {
  const { PATH = "", HOME = "/" } = workerEnvironment(environment, dirname(runtime));
  return { PATH, HOME };
}
