import { Fragment } from "react";

/**
 * An id that may be wrapped where it is long: another service's may have sixteen digits, and a phone is 360 px wide.
 */
export function IdText({ id }: { id: number }) {
  const [first, ...rest] = String(id).match(/\d{1,6}/g) ?? [];
  return (
    <span>
      {first}
      {rest.map((part, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- parts of one text, which can be alike
        <Fragment key={index}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </span>
  );
}
