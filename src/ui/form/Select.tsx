import type { ComponentProps } from "react";
import { controlClass } from "./control-class.ts";
import { Icon } from "../Icon.tsx";

export function Select(props: Omit<ComponentProps<"select">, "className">) {
  return (
    <span className="relative block">
      <select {...props} className={`${controlClass} appearance-none pe-8`} />
      <span className="pointer-events-none absolute top-2.5 end-2.5 text-muted">
        <Icon name="down" />
      </span>
    </span>
  );
}
