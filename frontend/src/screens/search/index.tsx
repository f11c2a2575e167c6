import type { ScreenProps } from "@/app/screen";
import { useMay } from "@/app/session";
import { ScreenHead } from "@/kit";
import { Automatic } from "./Automatic";
import { SearchDetail } from "./SearchDetail";
import { SearchForm } from "./SearchForm";
import { SearchList } from "./SearchList";
import "./search.css";
import { common } from "@/texts/common";
import { texts } from "@/texts/search";

export default function SearchScreen({ params }: ScreenProps) {
  const may = useMay("curate");
  if (params.id) {
    return (
      <div className="screen">
        <SearchDetail key={params.id} id={params.id} />
      </div>
    );
  }
  return (
    <div className="screen">
      <ScreenHead title={common.search} about={texts.screen.everySearchFeedsThePipeline} />
      <div className="search-columns">
        {may && <SearchForm />}
        <div className="stack wide">
          {may && <Automatic />}
          <SearchList />
        </div>
      </div>
    </div>
  );
}
