type AxisFiguresProps = {
  /** Upper end of the axis, with its unit. */
  top: string;
  className: string;
};

/** The labels of an axis next to a chart of the same height. Hidden from screen readers, which read each point. */
export const AxisFigures = ({ top, className }: AxisFiguresProps) => (
  <div aria-hidden className={`flex flex-col justify-between leading-none ${className}`}>
    <span>{top}</span>
    <span>0</span>
  </div>
);
