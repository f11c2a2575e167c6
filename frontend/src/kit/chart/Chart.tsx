/** A time chart: uPlot with our colours, our words and the size of its box. */
import { useEffect, useMemo, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./chart.css";
import { useIsDark } from "@/app/theme";
import { texts } from "@/texts/format";

export interface Series {
  name: string;
  /** A token's name, like "--c1". */
  color: string;
  values: (number | null)[];
  shown?: boolean;
}

interface ChartProps {
  label: string;
  /** Seconds since 1970. */
  times: number[];
  series: readonly Series[];
  height?: number;
  filled?: boolean;
}

export default function Chart({ label, times, series, height = 220, filled }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const isDark = useIsDark();
  const shape = series.map((one) => `${one.name}${one.color}${one.shown}`).join("|");
  const data = useMemo<uPlot.AlignedData>(
    () => [times, ...series.map((one) => one.values)],
    [times, series],
  );
  const newest = useRef({ series, data });
  newest.current = { series, data };

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours and names are read anew when these change.
  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const options = optionsFor(box, newest.current.series, height, filled ?? false);
    chart.current = new uPlot(options, newest.current.data, box);
    const watch = new ResizeObserver(() => {
      chart.current?.setSize({ width: box.clientWidth, height });
    });
    watch.observe(box);
    return () => {
      watch.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape, isDark, height, filled]);

  useEffect(() => chart.current?.setData(data), [data]);

  return <div ref={place} className="chart" role="img" aria-label={label} style={{ height }} />;
}

function optionsFor(
  box: HTMLElement,
  series: readonly Series[],
  height: number,
  filled: boolean,
): uPlot.Options {
  const text = colorOf(box, "--text-faint");
  const line = colorOf(box, "--line");
  const axis = {
    stroke: text,
    font: "11px Inter, system-ui, sans-serif",
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  };
  return {
    width: box.clientWidth || 600,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 60, values: (_, times) => times.map(clock) },
      { ...axis, size: 44 },
    ],
    series: [
      {},
      ...series.map((one) => {
        const stroke = colorOf(box, one.color);
        return {
          label: one.name,
          stroke,
          width: 1.75,
          show: one.shown ?? true,
          points: { show: false },
          paths: uPlot.paths.spline?.() ?? null,
          ...(filled ? { fill: translucent(stroke) } : {}),
        } as uPlot.Series;
      }),
    ],
  };
}

const CLOCK = new Intl.DateTimeFormat(texts.dates, { hour: "2-digit", minute: "2-digit" });

const clock = (time: number): string => CLOCK.format(new Date(time * 1000));

/** A canvas cannot read tokens: an element has to work the colour out. */
function colorOf(box: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  box.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

function translucent(color: string): string {
  return color.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");
}
