import { filtered, KINDS, type KindName } from "@/api/kinds";
import type { KindCount } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Icon, short } from "@/kit";

/** The records between two stages, and how many of them wait for a decision. */
export function StoreNode({ kind: name, count }: { kind: KindName; count: KindCount | undefined }) {
  const kind = KINDS[name];
  const waiting = count?.byStatus.New ?? 0;
  return (
    <Link
      to={waiting > 0 ? filtered(kind, kind.status, "New") : kind.screen}
      className={`store ${waiting > 0 ? "waits" : ""}`}
    >
      <span className="store-icon">
        <Icon name={kind.icon} size={20} />
      </span>
      <span className="store-name">{kind.title}</span>
      <span className="store-count number">{count ? short(count.total) : "–"}</span>
      <span className="store-new small number">
        {waiting > 0 ? `${short(waiting)} to decide` : count?.total ? "all decided" : "none yet"}
      </span>
    </Link>
  );
}
