// An error while reading, with a retry.
import { ErrorText } from "../../app/ErrorText.tsx";
import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";

type ReadErrorProps = { error: Error; isReading: boolean; onRetry: () => void };

export const ReadError = ({ error, isReading, onRetry }: ReadErrorProps) => (
  <Notice
    tone="bad"
    isAlert
    actions={
      <Button size="sm" isChange={false} isPending={isReading} onClick={onRetry}>
        Try again
      </Button>
    }
  >
    <ErrorText error={error} />
  </Notice>
);
