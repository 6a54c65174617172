import type { ComponentProps } from "react";
import { controlClass } from "./control-class.ts";

type InputProps = Omit<ComponentProps<"input">, "className"> & {
  /** Stands at the end of the field; the help text says it in words. */
  unit?: string | undefined;
  /** For names, paths and tokens. */
  isCode?: boolean | undefined;
};

export function Input({ unit, isCode = false, ...rest }: InputProps) {
  const input = (
    <input
      autoComplete="off"
      spellCheck={false}
      // A phone would begin a name, a path or a word to confirm with a capital, which is another one.
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
