import type { ComponentProps } from "react";

export function Checkbox(props: Omit<ComponentProps<"input">, "className" | "type">) {
  return (
    <input {...props} type="checkbox" className="size-6 shrink-0 p-1 accent-accent sm:size-4" />
  );
}
