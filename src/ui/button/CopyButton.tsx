import { useState } from "react";
import { Button } from "./Button.tsx";
import { copyText } from "./copy-text.ts";
import { Icon } from "../Icon.tsx";

type CopyButtonProps = {
  /** Label, e.g. "Copy command". */
  label: string;
  /** Called on click, so that a long text is built only when needed. */
  text: () => string;
};

const shownMs = 1_500;
const icons = { idle: "copy", copied: "check", failed: "close" } as const;
const words = { idle: "", copied: "Copied", failed: "Couldn't copy" };

export function CopyButton({ label, text }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<keyof typeof words>("idle");
  const copy = async () => {
    setOutcome((await copyText(text())) ? "copied" : "failed");
    setTimeout(() => setOutcome("idle"), shownMs);
  };
  return (
    <>
      <Button
        variant="ghost"
        size="icon"
        command={{ label, reads: true }}
        onClick={() => void copy()}
      >
        <Icon name={icons[outcome]} />
      </Button>
      <output className="sr-only">{words[outcome]}</output>
    </>
  );
}
