/** What a list without rows says: how to get some. */
import type { Kind } from "@/api/kinds";
import { go } from "@/app/router";
import { Button, Empty } from "@/kit";

interface NoRecordsProps {
  kind: Kind;
  isNarrowed: boolean;
  onClear: () => void;
}

export function NoRecords({ kind, isNarrowed, onClear }: NoRecordsProps) {
  if (isNarrowed) {
    return (
      <Empty
        icon="filter"
        title={`No ${kind.many} match`}
        actions={
          <Button look="primary" onClick={onClear}>
            Clear filters
          </Button>
        }
      />
    );
  }
  const { source } = kind;
  return (
    <Empty
      icon={kind.icon}
      title={`No ${kind.many} yet`}
      actions={
        source && (
          <Button look="primary" onClick={() => go(source.screen)}>
            {source.action}
          </Button>
        )
      }
    >
      <p>{source?.text} They appear here automatically.</p>
    </Empty>
  );
}
