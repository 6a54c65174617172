// Samples of badges, dots and other signs of state.
import { Badge } from "../ui/feedback/Badge.tsx";
import { Button } from "../ui/button/Button.tsx";
import { EmptyArt } from "../ui/feedback/EmptyArt.tsx";
import { EmptyState } from "../ui/feedback/EmptyState.tsx";
import { linkClass } from "../ui/text/link-class.ts";
import { Mark } from "../ui/Mark.tsx";
import { Notice } from "../ui/feedback/Notice.tsx";
import { Panel } from "../ui/page/Panel.tsx";
import { Progress } from "../ui/feedback/Progress.tsx";
import { Skeleton } from "../ui/feedback/Skeleton.tsx";
import { LineDot } from "../ui/feedback/StatusDot.tsx";
import { Time } from "../ui/time/Time.tsx";
import { Toast } from "../ui/feedback/Toast.tsx";
import type { Tone } from "../ui/feedback/tone.ts";
import { Sample } from "./Sample.tsx";

const tones: Tone[] = ["good", "busy", "warn", "bad", "idle"];
const sizes = ["text-xs", "text-sm", "text-base", "text-lg", "text-xl", "text-figure"];
const arts = [
  "backups",
  "workers",
  "webhooks",
  "notifications",
  "servers",
  "activity",
  "tokens",
  "search",
] as const;
const agoMs = 5 * 60_000;
const moment = new Date(Date.now() - agoMs).toISOString();

export function States() {
  return (
    <>
      <Sample name="Badge, LineDot, Mark">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone} tip={`What ${tone} means`}>
            {tone}
          </Badge>
        ))}
        <Badge tone="busy" isMoving>
          moving
        </Badge>
        {tones.map((tone) => (
          <LineDot key={tone} tone={tone} />
        ))}
        <Mark />
      </Sample>
      <Sample name="Type, linkClass">
        {sizes.map((size) => (
          <span key={size} className={size}>
            37 of 80
          </span>
        ))}
        <code className="font-mono text-sm">queue:work</code>
        <a href="#type" className={linkClass}>
          A link
        </a>
      </Sample>
      <Sample name="EmptyArt">
        {arts.map((name) => (
          <EmptyArt key={name} name={name} />
        ))}
      </Sample>
      <Sample name="Time">
        <Time value={moment} />
        <Time value={moment} format="duration" />
      </Sample>
      {(["good", "busy", "warn", "bad"] as const).map((tone) => (
        <Notice key={tone} tone={tone} actions={<Button size="sm">Action</Button>}>
          A notice that is {tone}.
        </Notice>
      ))}
      <div className="grid max-w-sm gap-2">
        <Toast tone="good" text="Worker 7 is stopped." onDismiss={() => {}} />
        <Toast
          tone="bad"
          text="Restart did not work on worker 7."
          detail="It is being removed."
          action={{ label: "Again", run: () => {} }}
          onDismiss={() => {}}
        />
      </div>
      <Sample name="Progress, Skeleton">
        <Progress label="Half" share={0.5} />
        <Progress label="Unknown" share={null} />
        <Skeleton width="w-12" />
        <Skeleton width="w-24" />
        <Skeleton width="w-40" />
      </Sample>
      <Panel>
        <EmptyState
          art="workers"
          title="No workers yet"
          action={<Button variant="primary">New worker</Button>}
        >
          What such a thing is good for, and the first step.
        </EmptyState>
      </Panel>
    </>
  );
}
