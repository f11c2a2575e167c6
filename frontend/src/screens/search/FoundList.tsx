import { Link } from "@/app/router";
import { Panel, Status, short, whole } from "@/kit";
import { texts } from "@/texts/search";
import { type FoundPlace, placesOf, type Search, useFoundPlaces } from "./data";

const MOST = 8;

/** The best known of what a search found; the rest is one click away. */
export function FoundList({ search }: { search: Search }) {
  const { data } = useFoundPlaces(search);
  if (!data?.places.length) return null;
  return (
    <Panel
      title={texts.foundList.places}
      about={texts.foundList.mostReviewedFirst}
      flush
      actions={
        <Link to={placesOf(search)} className="small">
          {texts.foundList.all(whole(search.found_count))}
        </Link>
      }
    >
      <ul className="found-list">
        {data.places.slice(0, MOST).map((place) => (
          <li key={place.id}>
            <Link to={`${placesOf(search)}&open=${place.id}`}>
              <span className="grow">
                <span className="foreign cut strong">
                  {place.name || texts.foundList.unnamedPlace}
                </span>
                <span className="foreign cut small soft">{place.address}</span>
              </span>
              <Rated place={place} />
              <Status status={place.status} />
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Rated({ place: { rating, reviews_count } }: { place: FoundPlace }) {
  if (rating === null) return null;
  return (
    <span className="small soft number">
      {rating.toFixed(1)}
      {reviews_count !== null && <span className="faint"> ({short(reviews_count)})</span>}
    </span>
  );
}
