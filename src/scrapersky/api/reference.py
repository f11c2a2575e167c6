"""The API's reference page: Swagger UI from the package, nothing from elsewhere."""

from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from scrapersky.api.dependency import PUBLIC

router = APIRouter(include_in_schema=False, dependencies=[PUBLIC])

ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
PAGE: Final = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>ScraperSky API</title>
  <link rel="icon" href="{root}/docs/assets/favicon-32x32.png">
  <link rel="stylesheet" href="{root}/docs/assets/swagger-ui.css">
</head>
<body>
  <div id="reference" data-document="{root}/openapi.json"></div>
  <script src="{root}/docs/assets/swagger-ui-bundle.js"></script>
  <script src="{root}/docs/assets/start.js"></script>
</body>
</html>
"""
START: Final = """const place = document.getElementById("reference");
SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
});
"""


@router.get("/openapi.json")
async def document(request: Request) -> JSONResponse:
    """Describe the API for programs."""
    return JSONResponse(request.app.openapi())


@router.get("/docs")
async def page(request: Request) -> HTMLResponse:
    """Show the reference of the API."""
    return HTMLResponse(PAGE.format(root=request.scope.get("root_path", "")))


@router.get("/docs/assets/{name}")
async def asset(name: str) -> Response:
    """Serve what the reference page needs."""
    caching = {"Cache-Control": "public, max-age=3600"}
    if name == "start.js":
        return Response(START, media_type="text/javascript", headers=caching)
    if name not in ASSETS:
        raise HTTPException(404)
    content = (files("fastapi_swagger") / "resources" / name).read_bytes()
    return Response(content, media_type=ASSETS[name], headers=caching)
