/** What came of it: the yield of each search, the work of each person, what is covered. */
import { ScreenHead } from "@/kit";
import { texts } from "@/texts/results";
import { Coverage } from "./Coverage";
import { Funnels } from "./Funnels";
import { Work } from "./Work";
import "./results.css";

export default function Results() {
  return (
    <div className="screen">
      <ScreenHead title={texts.screen.results} about={texts.screen.about} />
      <div className="results">
        <Funnels />
        <Work />
        <Coverage />
      </div>
    </div>
  );
}
