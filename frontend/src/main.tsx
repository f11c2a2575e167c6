import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./style/font.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/kit.css";
import "./style/layout.css";
import { App } from "./app/App";

const place = document.getElementById("page");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
