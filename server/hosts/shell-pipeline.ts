// Runs several programs in a shell pipeline, and reports the exit code of each.

type Argv = readonly [string, ...string[]];

const mark = "quarterdeck ended";

/**
 * The arguments are passed as positional parameters, so none has to be quoted.
 * @returns the argument list to run; `pipelineEnds` reads its error stream
 */
export function pipelineOf(...stages: readonly [Argv, ...Argv[]]): Argv {
  let count = 0;
  const steps = stages.map((argv, index) => {
    const words = argv.map(() => `"\${${(count += 1)}}"`).join(" ");
    const output = index === stages.length - 1 ? ">&3 " : "";
    return `{ ${words} ${output}3>&- 4>&-; echo ${index} "$?" >&4; }`;
  });
  // Descriptor 3 is the output of the pipeline, 4 collects the exit codes.
  const script = `exec 3>&1; ended=$({ ${steps.join(" | ")}; } 4>&1); echo ${mark} $ended >&2`;
  return ["sh", "-c", script, "sh", ...stages.flat()];
}

/** @returns exit codes in the order of the programs, 128 and more for a signal; null where the shell itself was ended */
export function pipelineEnds(stderr: string): number[] | null {
  const told = new RegExp(`^${mark}((?: \\d+ \\d+)+)$`).exec(
    stderr.trimEnd().split("\n").at(-1) ?? "",
  );
  if (told === null) return null;
  const codes: number[] = [];
  for (const [, index, code] of (told[1] ?? "").matchAll(/ (\d+) (\d+)/g))
    codes[Number(index)] = Number(code);
  return codes;
}

/** Whether a line of the error stream comes from the pipeline, not from one of its programs. */
export const isPipelineEnd = (line: string): boolean => line.startsWith(mark);
