import { filtered, type Kind } from "@/api/kinds";
import type { KindCount } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Icon, short } from "@/kit";
import { texts } from "@/texts/pipeline";

/** The records between two stages, and how many of them wait for a decision. */
export function StoreNode({ kind, count }: { kind: Kind; count: KindCount | undefined }) {
  const waiting = count?.waiting ?? 0;
  return (
    <Link
      to={waiting > 0 ? filtered(kind.screen, kind.status, kind.undecided) : kind.screen}
      className={`store ${waiting > 0 ? "waits" : ""}`}
    >
      <span className="store-icon">
        <Icon name={kind.icon} size={20} />
      </span>
      <span className="store-name">{kind.title}</span>
      <span className="store-count number">{count ? short(count.total) : "–"}</span>
      <span className="store-new small number">
        {waiting > 0
          ? texts.storeNode.toDecide(short(waiting))
          : count && (count.total ? texts.storeNode.noneToDecide : texts.storeNode.noneYet)}
      </span>
    </Link>
  );
}
