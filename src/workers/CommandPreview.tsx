import { useWatch } from "react-hook-form";
import { toCommandLine, workerArguments } from "../../contract/workers/command.ts";
import { CopyButton } from "../ui/button/CopyButton.tsx";
import { CommandLine } from "../ui/text/CommandLine.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { memoryText } from "../ui/text/memory-text.ts";
import { toPreview, type WorkerFormValues } from "./worker-form.ts";

type CommandPreviewProps = {
  artisan: readonly string[];
  /** Memory of the machine in MB; null where it is unknown. */
  machineMemory: number | null;
};

/** The command that the present values of the form describe. */
export function CommandPreview({ artisan, machineMemory }: CommandPreviewProps) {
  const worker = toPreview(useWatch<WorkerFormValues>());
  const { processes, memory } = worker;
  const command = toCommandLine(workerArguments(artisan, worker));
  return (
    <Panel title="Command" actions={<CopyButton label="Copy command" text={() => command} />}>
      <output aria-label="Command" className="block bg-sunken px-4 py-3">
        <CommandLine command={command} />
      </output>
      <p className="border-t border-line px-4 py-2.5 text-sm text-muted">
        {processes === 1 ? "One process" : `${processes} processes`} of up to {memoryText(memory)}
        {machineMemory !== null && `, on a machine with ${memoryText(machineMemory)}`}
      </p>
    </Panel>
  );
}
