import type { ComponentProps } from "react";

type CheckboxProps = Omit<ComponentProps<"input">, "className" | "type"> & {
  /** Neither checked nor not: some of what it stands for is. */
  isMixed?: boolean;
};

export function Checkbox({ isMixed, ref, ...rest }: CheckboxProps) {
  // No attribute says this. A form's box is never mixed, and keeps the ref of its form.
  const mix = (box: HTMLInputElement | null) => {
    if (box !== null) box.indeterminate = isMixed ?? false;
  };
  return (
    <input
      {...rest}
      ref={isMixed === undefined ? ref : mix}
      type="checkbox"
      className="size-6 shrink-0 sm:size-4"
    />
  );
}
