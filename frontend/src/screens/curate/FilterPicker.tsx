/** One button for every filter: type a word, choose what the list has of it. */
import { type KeyboardEvent, useDeferredValue, useId, useState } from "react";
import type { Kind } from "@/api/kinds";
import { Button, Popover, short } from "@/kit";
import { texts } from "@/texts/curate";
import type { Filter } from "./filters";
import { narrowed, type Suggestion, useSuggestions } from "./suggestions";

const FIELD = "field ";

interface FilterPickerProps {
  kind: Kind;
  filters: readonly Filter[];
  opener: React.RefObject<HTMLButtonElement | null>;
  onFilters: (filters: readonly Filter[]) => void;
  /** A condition is put together by hand, on this field. */
  onCondition: (field: string | null) => void;
}

export function FilterPicker(props: FilterPickerProps) {
  return (
    <Popover
      label={texts.filterBar.filterButton}
      icon="filter"
      hotkey="f"
      opener={props.opener}
      boxClass="filter-picker"
    >
      {(close) => <Choices {...props} close={close} />}
    </Popover>
  );
}

function Choices({
  kind,
  filters,
  onFilters,
  onCondition,
  close,
}: FilterPickerProps & { close: () => void }) {
  const [words, setWords] = useState("");
  const [place, setPlace] = useState(0);
  const list = useId();
  const { found, isLoading } = useSuggestions(kind, filters, useDeferredValue(words.trim()));
  const current = Math.min(place, found.length - 1);

  function pick(one: Suggestion | undefined) {
    if (!one) return;
    setWords("");
    setPlace(0);
    if (one.filter) {
      onFilters(narrowed(filters, one.filter));
      return;
    }
    close();
    onCondition(one.id.slice(FIELD.length));
  }

  function press(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") pick(found[current]);
    else if (by !== undefined) setPlace((current + by + found.length) % Math.max(1, found.length));
    else return;
    event.preventDefault();
  }

  return (
    <>
      <input
        className="input"
        role="combobox"
        aria-label={texts.filterBar.whatToFilterBy}
        aria-expanded={found.length > 0}
        aria-controls={found.length > 0 ? list : undefined}
        aria-activedescendant={found[current] ? `${list}-${current}` : undefined}
        placeholder={texts.filterBar.whatToFilterBy}
        value={words}
        onChange={({ target }) => {
          setWords(target.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      {found.length > 0 ? (
        <div id={list} role="listbox" aria-label={texts.filterBar.suggestions} className="choices">
          {found.map((one, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
            // biome-ignore lint/a11y/useFocusableInteractive: the input has the focus.
            <div
              key={one.id}
              id={`${list}-${at}`}
              role="option"
              aria-selected={at === current}
              ref={(box) => {
                if (at === current) box?.scrollIntoView({ block: "nearest" });
              }}
              onClick={() => pick(one)}
            >
              {one.field && <span className="small soft">{one.field}</span>}
              <span className="foreign cut grow">{one.name}</span>
              {one.count !== null && <span className="number small soft">{short(one.count)}</span>}
            </div>
          ))}
        </div>
      ) : (
        <p className="small soft">
          {isLoading ? texts.filterBar.looking : texts.filterBar.nothingSuggested}
        </p>
      )}
      <Button
        small
        look="quiet"
        icon="plus"
        onClick={() => {
          close();
          onCondition(null);
        }}
      >
        {texts.filterBar.moreConditions}
      </Button>
    </>
  );
}
