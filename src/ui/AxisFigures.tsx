type AxisFiguresProps = {
  /** Where the axis ends, with its unit. */
  top: string;
  className: string;
};

/** Beside a chart, as high as it: where its axis ends, and 0. What is read out says the same of each point. */
export const AxisFigures = ({ top, className }: AxisFiguresProps) => (
  <div aria-hidden className={`flex flex-col justify-between leading-none ${className}`}>
    <span>{top}</span>
    <span>0</span>
  </div>
);
