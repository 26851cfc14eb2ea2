// What htmx leaves to do when it swaps the listing: speak the count, keep the box true, keep the focus somewhere.

const status = document.getElementById("count-status");
const box = document.getElementById("q");

function settle() {
  const results = document.getElementById("results");
  if (!results) return;
  const count = document.getElementById("count");
  status.textContent = count.textContent;
  if (document.activeElement !== box) box.value = results.dataset.q;
  // The link that was pressed may be gone (a chip, an emptied page): htmx keeps the focus only on what has the same id.
  if (document.activeElement === document.body) count.focus({ preventScroll: true });
}

document.body.addEventListener("htmx:afterSettle", settle);
document.body.addEventListener("htmx:historyRestore", settle);

// An error has a page of its own: go there as a link would.
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:swapError"]) {
  document.body.addEventListener(name, (event) => {
    const path = event.detail.pathInfo?.finalRequestPath ?? event.detail.pathInfo?.requestPath;
    if (path) location.assign(path);
  });
}

// Another page restored from the browser's own memory shows what was typed last, not what is listed.
addEventListener("pageshow", (event) => {
  if (event.persisted) settle();
});
