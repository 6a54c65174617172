// What is left to do on a server once a worker has taken the place of a program: its configuration is not Quarterdeck's to change.
import { toCommandLine } from "../../contract/workers/command.ts";
import type { TakenProgram } from "../store/tables.ts";

type Taken = Pick<TakenProgram, "program" | "file" | "config" | "is_alone">;

const quoted = (name: string) => name.replaceAll(/[[\]^$.*/\\]/g, String.raw`\$&`);

/**
 * Deletes a section, from its first line to the one before the next section. The file as it was stays beside it, under a
 * name of its own: another section may be taken out of it later.
 */
const deleteSection = ({ program, file }: Taken): string[] => {
  const first = String.raw`/^\[program:${quoted(program)}\]/`;
  const suffix = `.before-${program.replaceAll(/[^\w.-]/g, "-")}`;
  return ["sed", `-i${suffix}`, String.raw`${first},/^\[/{${first}d;/^\[/!d}`, file];
};

/** Each is one line for a shell of the server. */
export function takeOverCommands(taken: Taken): string[] {
  const { program, file, config, is_alone: isAlone } = taken;
  return [
    // Somebody may have added to the file since it was looked at.
    isAlone ? ["mv", file, `${file}.before`] : deleteSection(taken),
    ["supervisorctl", ...(config === null ? [] : ["-c", config]), "remove", program],
  ].map((argv) => toCommandLine(["sudo", ...argv]));
}
