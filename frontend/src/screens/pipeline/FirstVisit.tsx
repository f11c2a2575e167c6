import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import { Icon, type IconName } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/pipeline";
import { DemoOffer, useDemo } from "./Demo";

const STEPS: readonly { icon: IconName; name: string; text: string }[] = [
  {
    icon: "search",
    name: common.search,
    text: texts.firstVisit.enterABusinessType,
  },
  { icon: "check", name: texts.firstVisit.decide, text: texts.firstVisit.keepWhatFitsAtEveryStep },
  { icon: "contact", name: common.export, text: texts.firstVisit.contactsWithTheSourceOfEvery },
];
/** An empty system explains itself, and offers two ways to begin. */
export function FirstVisit() {
  const demo = useDemo();
  const maySearch = useMay("curate");
  return (
    <section className="first panel" aria-label={texts.firstVisit.welcome}>
      <div className="first-head">
        <h2>{texts.firstVisit.welcomeThereIsNoDataYet}</h2>
        <p className="soft">{texts.firstVisit.searchFindsBusinesses}</p>
      </div>
      <ol className="first-steps">
        {STEPS.map((step) => (
          <li key={step.name}>
            <span className="empty-icon">
              <Icon name={step.icon} size={22} />
            </span>
            <div>
              <h3>{step.name}</h3>
              <p className="small soft">{step.text}</p>
            </div>
          </li>
        ))}
      </ol>
      <div className="first-ways">
        {demo.data?.is_available && <DemoOffer />}
        {maySearch && (
          <div className="first-way">
            <h3>{texts.firstVisit.startASearch}</h3>
            <p className="small soft">{texts.firstVisit.openstreetmapNeedsNoApiKey}</p>
            <Link to="/search" className="button">
              {texts.firstVisit.startASearch}
            </Link>
          </div>
        )}
      </div>
    </section>
  );
}
