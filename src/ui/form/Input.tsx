import type { ComponentProps } from "react";
import { controlClass } from "./control-class.ts";

type InputProps = Omit<ComponentProps<"input">, "className"> & {
  /** Shown at the end of the field; the help text must mention it. */
  unit?: string | undefined;
  /** For names, paths and tokens. */
  isCode?: boolean | undefined;
};

export function Input({ unit, isCode = false, ...rest }: InputProps) {
  const input = (
    <input
      autoComplete="off"
      spellCheck={false}
      // A phone would capitalize a name, path or confirmation text, which would change it.
      autoCapitalize="none"
      autoCorrect="off"
      {...rest}
      className={`${controlClass} ${isCode ? "font-mono text-sm" : ""} ${unit === undefined ? "" : "pe-10"}`}
    />
  );
  if (unit === undefined) return input;
  return (
    <span className="relative block">
      {input}
      <span
        aria-hidden
        className="pointer-events-none absolute inset-y-0 end-2.5 flex items-center text-sm text-muted"
      >
        {unit}
      </span>
    </span>
  );
}
