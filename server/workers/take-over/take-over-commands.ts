// Lists the commands that are left to the operator after a take-over, because Quarterdeck does not change foreign configuration.
import { toCommandLine } from "../../../contract/workers/command.ts";
import type { TakenProgram } from "../../store/tables/workers.ts";

type Taken = Pick<TakenProgram, "program" | "file" | "config" | "is_alone">;

const quoted = (name: string) => name.replaceAll(/[[\]^$.*/\\]/g, String.raw`\$&`);

/**
 * Deletes a section, up to the line before the next section. A copy of the previous file is kept under its own name, because
 * another section may be deleted later.
 */
const deleteSection = ({ program, file }: Taken): string[] => {
  const first = String.raw`/^\[program:${quoted(program)}\]/`;
  const suffix = `.before-${program.replaceAll(/[^\w.-]/g, "-")}`;
  return ["sed", `-i${suffix}`, String.raw`${first},/^\[/{${first}d;/^\[/!d}`, file];
};

/** Returns commands of one line each for a shell on the server. */
export function takeOverCommands(taken: Taken): string[] {
  const { program, file, config, is_alone: isAlone } = taken;
  return [
    // Renamed, not deleted, because the file may have been extended since it was read.
    isAlone ? ["mv", file, `${file}.before`] : deleteSection(taken),
    ["supervisorctl", ...(config === null ? [] : ["-c", config]), "remove", program],
  ].map((argv) => toCommandLine(["sudo", ...argv]));
}
