import type { ComponentProps } from "react";

type CheckboxProps = Omit<ComponentProps<"input">, "className" | "type" | "ref"> & {
  /** Neither checked nor not: some of what it stands for is. */
  isMixed?: boolean;
};

export function Checkbox({ isMixed = false, ...rest }: CheckboxProps) {
  return (
    <input
      {...rest}
      ref={(box) => {
        // No attribute says this.
        if (box !== null) box.indeterminate = isMixed;
      }}
      type="checkbox"
      className="size-6 shrink-0 p-1 accent-accent sm:size-4"
    />
  );
}
