/** Leads by category and town: where there are many, where nobody has looked. */
import { useQuery } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Failure, Panel, Skeleton, whole } from "@/kit";
import { readable } from "@/screens/curate/model";
import { texts } from "@/texts/results";

type Line = Schemas["CoverageLine"];

const MOST_TOWNS = 10;
const MOST_CATEGORIES = 20;
const LEADS = "/curate/companies";
/** Percent of the accent at most: words stay readable on it. */
const FULL = 45;

export function Coverage() {
  const { data, error, refetch } = useQuery({
    queryKey: ["coverage"],
    queryFn: () => read("/reports/coverage"),
  });
  return (
    <Panel
      title={texts.coverage.title}
      about={data?.is_exact === false ? texts.coverage.estimated : texts.coverage.about}
      className="coverage-panel"
      flush
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={8} />
      ) : data.items.length === 0 ? (
        <p className="coverage-empty small soft">{texts.coverage.none}</p>
      ) : (
        <>
          <Matrix lines={data.items} />
          <Hidden lines={data.items} />
        </>
      )}
    </Panel>
  );
}

/** The names that the most leads have, the most frequent first. */
function largest(lines: readonly Line[], name: "category" | "city", most: number): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const key = line[name] ?? "";
    counts.set(key, (counts.get(key) ?? 0) + line.companies);
  }
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .slice(0, most)
    .map(([key]) => key);
}

/** The rows and columns that there is room for, and how many more there are. */
function shownOf(lines: readonly Line[]) {
  const towns = largest(lines, "city", MOST_TOWNS);
  const isShown = (category: string) =>
    lines.some((one) => (one.category ?? "") === category && towns.includes(one.city ?? ""));
  const categories = largest(lines, "category", MOST_CATEGORIES).filter(isShown);
  const count = (name: "category" | "city") => new Set(lines.map((line) => line[name] ?? "")).size;
  return {
    towns,
    categories,
    hidden: [count("city") - towns.length, count("category") - categories.length] as const,
  };
}

function Hidden({ lines }: { lines: readonly Line[] }) {
  const [towns, categories] = shownOf(lines).hidden;
  if (towns + categories === 0) return null;
  return <p className="coverage-empty small soft">{texts.coverage.others(towns, categories)}</p>;
}

function Matrix({ lines }: { lines: readonly Line[] }) {
  const { towns, categories } = shownOf(lines);
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups a table, not the fields of a form.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <div className="table-box" role="group" aria-label={texts.coverage.title} tabIndex={0}>
      <table className="coverage">
        <thead>
          <tr>
            <th scope="col">{texts.coverage.category}</th>
            {towns.map((town) => (
              <th key={town} scope="col" className="foreign">
                {town || texts.coverage.without}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {categories.map((category) => (
            <tr key={category}>
              <th scope="row">{readable(category) || texts.coverage.withoutCategory}</th>
              {towns.map((town) => (
                <td key={town}>
                  <Cell
                    line={lines.find(
                      (one) => (one.category ?? "") === category && (one.city ?? "") === town,
                    )}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ line }: { line: Line | undefined }) {
  if (!line) return <span className="faint">·</span>;
  const { category, city, companies, named_people: people } = line;
  const conditions = [
    category === null ? "" : `categories:equal:${category}`,
    city === null ? "city:unknown" : `city:equal:${city}`,
  ];
  const query = new URLSearchParams(conditions.filter(Boolean).map((one) => ["filter", one]));
  const strength = companies ? Math.round((people / companies) * FULL) : 0;
  return (
    <Link
      to={`${LEADS}?${query}`}
      className="number"
      style={{ "--share": `${strength}%` } as CSSProperties}
      aria-label={texts.coverage.cell(
        readable(category ?? "") || texts.coverage.withoutCategory,
        city ?? texts.coverage.without,
        companies,
        people,
      )}
    >
      {whole(companies)}
    </Link>
  );
}
