/** What a list without rows says: how to get some. */
import type { Kind } from "@/api/kinds";
import { go } from "@/app/router";
import { useMay } from "@/app/session";
import { Button, Empty } from "@/kit";
import { texts } from "@/texts/curate";

interface NoRecordsProps {
  kind: Kind;
  isNarrowed: boolean;
  onClear: () => void;
}

export function NoRecords({ kind, isNarrowed, onClear }: NoRecordsProps) {
  const mayCurate = useMay("curate");
  if (isNarrowed) {
    return (
      <Empty
        icon="filter"
        title={texts.noRecords.noMatch(kind.many)}
        actions={
          <Button look="primary" onClick={onClear}>
            {texts.noRecords.clearFilters}
          </Button>
        }
      />
    );
  }
  const { source } = kind;
  const isOffered = source && (mayCurate || source.screen !== "/search");
  return (
    <Empty
      icon={kind.icon}
      title={texts.noRecords.noYet(kind.many)}
      actions={
        isOffered && (
          <Button look="primary" onClick={() => go(source.screen)}>
            {source.action}
          </Button>
        )
      }
    >
      <p>
        {source?.text} {texts.noRecords.theyAppearHereAutomatically}
      </p>
    </Empty>
  );
}
