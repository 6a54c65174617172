import { Time } from "../ui/time/Time.tsx";

/** The text of a webhook whose attempts fail, wherever it is shown. */
export const FailingFor = ({ since }: { since: string }) => (
  <>
    Failing for <Time value={since} format="duration" />
  </>
);
