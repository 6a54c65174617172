import type { ReactNode } from "react";
import { FailingFor } from "../app/FailingFor.tsx";
import { Link } from "../app/Link.tsx";
import { paths } from "../paths.ts";
import { Panel } from "../ui/page/Panel.tsx";
import { handFocusOn } from "../ui/focus/hand-focus-on.ts";
import { LineDot } from "../ui/feedback/StatusDot.tsx";
import { Time } from "../ui/time/Time.tsx";
import type { Tone } from "../ui/feedback/tone.ts";
import { ActionButton } from "./ActionButton.tsx";
import {
  linesOf,
  listOf,
  many,
  type Problem,
  type ProblemGroup,
  type ProblemKind,
  type ProblemAction,
} from "./problems.ts";

type LineProps = {
  tone: Tone;
  title: string;
  detail: ReactNode;
  link: { to: string; label: string };
  action?: ProblemAction | undefined;
};

const Line = ({ tone, title, detail, link, action }: LineProps) => (
  <li
    ref={handFocusOn}
    className="flex min-h-12 items-center gap-3 border-b border-line px-4 py-2 text-sm last:border-b-0 max-sm:px-3"
  >
    <LineDot tone={tone} />
    <div className="min-w-0 flex-1">
      <p className="font-medium wrap-anywhere">
        {action === undefined ? (
          title
        ) : (
          <Link
            to={link.to}
            className="underline decoration-edge underline-offset-4 hover:decoration-current"
          >
            {title}
          </Link>
        )}
      </p>
      {detail !== null && <p className="line-clamp-2 text-xs wrap-anywhere text-muted">{detail}</p>}
    </div>
    {action === undefined ? (
      <Link
        to={link.to}
        // The label alone would not say what it applies to.
        aria-label={`${link.label}: ${title}`}
        className="inline-flex min-h-8 shrink-0 items-center rounded-md border border-line px-2.5 font-medium hover:bg-hover max-sm:px-2 max-sm:text-xs"
      >
        {link.label}
      </Link>
    ) : (
      <ActionButton action={action} />
    )}
  </li>
);

function ProblemLine({
  problem: { tone, title, place, reason, at, isFailing, link, action },
}: {
  problem: Problem;
}) {
  return (
    <Line
      tone={tone}
      title={title}
      // The reason comes last, because it is truncated where there is no room.
      detail={
        <>
          {place}
          {place !== null && at !== null && " · "}
          {at !== null && (isFailing ? <FailingFor since={at} /> : <Time value={at} />)}
          {reason !== null && reason !== "" && `${(place ?? at) ? " · " : ""}${reason}`}
        </>
      }
      link={link}
      action={action}
    />
  );
}

function GroupLine({
  group: { kind, total, title, action, to = paths.problems(kind), problems },
  at,
}: {
  group: ProblemGroup;
  at: string;
}) {
  const tones = new Set(problems.map(({ tone }) => tone));
  const worst = (["bad", "warn"] as const).find((tone) => tones.has(tone));
  const names = problems.slice(0, 3).map(({ title, place }) => place ?? title);
  return (
    <Line
      tone={worst ?? "idle"}
      title={title(total)}
      detail={
        at === "" ? (
          `On ${[...new Set(names)].join(", ")}${new Set(problems.map(({ place }) => place)).size > 3 ? " and others" : ""}`
        ) : (
          <>
            Newest <Time value={at} />
          </>
        )
      }
      link={{ to, label: action }}
    />
  );
}

const titles: Record<ProblemKind, string> = {
  unprotected: "Unprotected",
  down: "Down",
  undelivered: "Undelivered",
};

type ProblemListProps = {
  groups: readonly ProblemGroup[];
  /** Shows only this kind; null = all. */
  shown: ProblemKind | null;
};

export function ProblemList({ groups, shown }: ProblemListProps) {
  if (shown !== null) {
    const { problems, more } = listOf(groups, shown);
    return (
      <Panel
        title={`${titles[shown]} (${problems.length + more})`}
        actions={
          <Link
            to={paths.home()}
            className="inline-flex min-h-8 items-center text-sm underline decoration-edge underline-offset-4 hover:decoration-current"
          >
            Show all problems
          </Link>
        }
      >
        {problems.length === 0 && (
          <p className="flex min-h-12 items-center px-4 text-sm text-muted max-sm:px-3">
            Nothing needs attention here.
          </p>
        )}
        <ul>
          {problems.map((problem) => (
            <ProblemLine key={problem.key} problem={problem} />
          ))}
        </ul>
        {more > 0 && (
          <p className="border-t border-line px-4 py-2 text-sm text-muted max-sm:px-3">
            {many(more, "more is", "more are")} not listed. Open their servers to see them.
          </p>
        )}
      </Panel>
    );
  }
  const lines = linesOf(groups);
  if (lines.length === 0) return null;
  return (
    <Panel title="Problems">
      <ul>
        {lines.map((line) =>
          line.type === "group" ? (
            <GroupLine key={line.group.key} group={line.group} at={line.at} />
          ) : (
            <ProblemLine key={line.problem.key} problem={line.problem} />
          ),
        )}
      </ul>
    </Panel>
  );
}
