// The state of a worker's take-over of a supervisord program, and what is left to do by hand.
import type { TakeOver } from "../../contract/workers/take-over.ts";
import { lookUp } from "../look-up.ts";
import { DocsLink } from "../ui/text/DocsLink.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { TextBox } from "../ui/text/TextBox.tsx";

/** Describes the state; an unknown one of another version is shown unchanged. */
function textOf({ program, status }: TakeOver): string {
  switch (status) {
    case "waiting":
      return `Taking over ${program}: supervisord stops it once this worker has been up for 5 seconds.`;
    case "stopping":
      return `Taking over ${program}: supervisord is stopping it, which may take as long as its running job.`;
    case "finished":
      return `Took over ${program}. supervisord starts it again with its own next start, unless you remove it from its configuration:`;
    case "failed":
      return `${program} was not taken over.`;
    default:
      return `Taking over ${program}: ${String(status)}`;
  }
}

const tones = { waiting: "busy", stopping: "busy", finished: "warn", failed: "bad" } as const;

export function TakeOverNotice({ takeOver }: { takeOver: TakeOver }) {
  const { status, reason, commands } = takeOver;
  // Nothing is left to do.
  if (status === "finished" && commands.length === 0) return null;
  return (
    <Notice tone={lookUp(tones, status) ?? "busy"}>
      <div className="grid gap-1">
        <p>
          {textOf(takeOver)} {reason}
          {status === "failed" && (
            <>
              {" "}
              To try again, scan the server. <DocsLink page="inventory">How it works</DocsLink>
            </>
          )}
        </p>
        {commands.length > 0 && <TextBox title="Commands" text={commands.join("\n")} isCode />}
      </div>
    </Notice>
  );
}
