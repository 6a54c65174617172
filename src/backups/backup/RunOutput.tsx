import { type UIEvent, useLayoutEffect, useRef, useState } from "react";
import { CopyButton } from "../../ui/button/CopyButton.tsx";
import { Panel } from "../../ui/page/Panel.tsx";
import { visibleText } from "../../ui/text/visible-text.ts";

/** Tolerance for rounded scroll positions. */
const bottomPx = 16;

type RunOutputProps = { title: string; text: string };

/** The growing output of a run, restore or drill. Scrolls along until the reader scrolls up. */
export function RunOutput({ title, text }: RunOutputProps) {
  const box = useRef<HTMLPreElement>(null);
  const [isFollowing, setIsFollowing] = useState(true);
  useLayoutEffect(() => {
    if (isFollowing && text !== "") box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text, isFollowing]);
  const readScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent) =>
    setIsFollowing(scrollHeight - scrollTop - clientHeight <= bottomPx);
  return (
    <Panel
      title={title}
      actions={<CopyButton label={`Copy ${title.toLowerCase()}`} text={() => text} />}
    >
      <pre
        ref={box}
        role="log"
        aria-live="off"
        aria-label={title}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a box that scrolls must be reachable by key
        tabIndex={0}
        onScroll={readScroll}
        className="max-h-80 min-h-16 overflow-auto bg-sunken px-4 py-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap -outline-offset-2 max-sm:px-3"
      >
        {text === "" ? <span className="text-muted">No output yet.</span> : visibleText(text)}
      </pre>
    </Panel>
  );
}
