import { useState } from "react";
import { Button } from "../button/Button.tsx";
import { copyText } from "../button/copy-text.ts";
import { Icon } from "../Icon.tsx";

type SecretBoxProps = {
  /** Label, e.g. "Copy secret". */
  label: string;
  secret: string;
  /** Called when the secret is on the clipboard. */
  onCopied: () => void;
};

const states = {
  idle: { icon: "copy", word: "" },
  copied: { icon: "check", word: "Copied." },
  failed: {
    icon: "alert",
    word: "Couldn't copy. Select the text and copy it manually.",
  },
} as const;

/** A secret that is shown once, with a button to copy it. */
export function SecretBox({ label, secret, onCopied }: SecretBoxProps) {
  const [state, setState] = useState<keyof typeof states>("idle");
  const copy = async () => {
    const isCopied = await copyText(secret);
    setState(isCopied ? "copied" : "failed");
    if (isCopied) onCopied();
  };
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap items-center gap-2 rounded-md border border-edge bg-sunken py-1.5 pe-1.5 ps-3">
        {/* One click selects all of it, where the clipboard is unavailable. */}
        <code className="min-w-0 flex-1 basis-64 font-mono text-sm wrap-anywhere select-all">
          {secret}
        </code>
        <Button variant="primary" onClick={() => void copy()}>
          <Icon name={states[state].icon} />
          {`Copy ${label}`}
        </Button>
      </div>
      {/* Its height is reserved, so that the text moves nothing. */}
      <output className={`min-h-5 text-sm ${state === "failed" ? "text-bad" : "text-muted"}`}>
        {states[state].word}
      </output>
    </div>
  );
}
