/* Nothing typed is lost: the form is kept on the server while somebody types, and in the browser where that fails.
   The same request brings back what publishing still needs, records that may be doubles, and hints. */

const desk = document.getElementById("desk");
const form = document.getElementById("incident_form");
const PAUSE = 900;
const BEACON_LIMIT = 60_000; // bytes; browsers refuse larger ones while a page closes

function start() {
  const status = desk.querySelector("[data-kept]");
  const checklist = document.querySelector("[data-checklist]");
  const place = `incident-form:${location.pathname}`;
  let isDirty = false;
  let isLeaving = false;
  let timer = 0;
  let chain = Promise.resolve();

  function values(keep) {
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(form)) data.append(name, typeof value === "string" ? value : "");
    data.set("object_id", desk.dataset.objectId);
    if (keep) data.set("keep", "yes");
    return data;
  }

  function say(text, isBad) {
    status.textContent = text;
    status.classList.toggle("is-bad", Boolean(isBad));
  }

  function keepHere() {
    try {
      localStorage.setItem(place, values(true).toString());
      return true;
    } catch {
      return false;
    }
  }

  async function ask(keep) {
    let response;
    try {
      response = await fetch(desk.dataset.assistUrl, { method: "POST", body: values(keep), credentials: "same-origin" });
    } catch {
      if (keep) say(keepHere() ? "서버에 닿지 않아 이 브라우저에 간직했습니다." : "서버에 닿지 않습니다.", true);
      return false;
    }
    const isJson = (response.headers.get("Content-Type") || "").includes("json");
    if (response.redirected || !isJson || !response.ok) {
      if (!keep) return false;
      keepHere();
      if (response.redirected || response.status === 403) {
        say("로그인이 풀렸습니다. 쓰신 글은 이 브라우저에 간직했습니다. 새 창에서 로그인한 뒤 이어서 저장하십시오.", true);
      } else {
        say("서버가 받지 않아 이 브라우저에 간직했습니다.", true);
      }
      return false;
    }
    show(await response.json());
    if (keep) {
      localStorage.removeItem(place);
      say(`간직함 ${new Date().toLocaleTimeString("ko-KR", { hour: "2-digit", minute: "2-digit", second: "2-digit" })}`);
    }
    return true;
  }

  function queue(keep) {
    chain = chain.then(() => ask(keep));
    return chain;
  }

  function fill(list, entries, build) {
    list.replaceChildren(...entries.map(build));
    const part = list.closest("[hidden], [data-doubles-part], [data-hints-part]");
    if (part && part !== checklist) part.hidden = entries.length === 0;
  }

  function fieldLink(entry) {
    const item = document.createElement("li");
    const rows = { causes: "cause_tags-group", components: "component_tags-group", factors: "factor_tags-group", sources: "sources-group" };
    const link = document.createElement("a");
    link.href = `#${rows[entry.field] || `id_${entry.field}`}`;
    link.textContent = entry.message;
    item.append(link);
    return item;
  }

  function doubleLink(entry) {
    const item = document.createElement("li");
    if (entry.certain) item.className = "is-certain";
    const link = document.createElement("a");
    link.href = entry.url;
    link.target = "_blank";
    link.textContent = `${entry.id} ${entry.title}`;
    item.append(link, ` (${entry.status}) ${entry.reason}`);
    return item;
  }

  function show(answer) {
    checklist.hidden = false;
    const left = answer.gaps.length;
    checklist.querySelector("[data-checklist-state]").textContent = left ? `${left}가지가 남았습니다.` : "게시할 수 있습니다.";
    fill(checklist.querySelector("[data-gaps]"), answer.gaps, fieldLink);
    fill(checklist.querySelector("[data-doubles]"), answer.doubles, doubleLink);
    fill(checklist.querySelector("[data-hints]"), answer.hints, fieldLink);
  }

  function changed() {
    isDirty = true;
    clearTimeout(timer);
    timer = setTimeout(() => queue(true), PAUSE);
  }

  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  document.addEventListener("formset:removed", changed);

  let isReady = false;
  form.addEventListener("submit", async (event) => {
    if (isReady || !isDirty) {
      isLeaving = true;
      return;
    }
    event.preventDefault();
    const submitter = event.submitter;
    clearTimeout(timer);
    // The text is safe before it is sent; a session that ended meanwhile shows itself here and costs nothing.
    if (await queue(true)) {
      isReady = true;
      isLeaving = true;
      form.requestSubmit(submitter);
    }
  });

  window.addEventListener("pagehide", () => {
    if (!isDirty || isLeaving) return;
    const data = values(true);
    const isSent = data.toString().length < BEACON_LIMIT && navigator.sendBeacon(desk.dataset.assistUrl, data);
    if (!isSent) keepHere();
  });

  const left = localStorage.getItem(place);
  if (left) offer(left);
  queue(false);

  function offer(text) {
    const box = document.createElement("div");
    box.className = "kept";
    const words = document.createElement("p");
    words.textContent = "이 브라우저에 저장하지 않은 글이 남아 있습니다.";
    const back = document.createElement("button");
    back.type = "button";
    back.className = "button";
    back.textContent = "되살리기";
    back.addEventListener("click", async () => {
      const data = new URLSearchParams(text);
      data.set("csrfmiddlewaretoken", form.querySelector("input[name=csrfmiddlewaretoken]").value);
      const response = await fetch(desk.dataset.assistUrl, { method: "POST", body: data, credentials: "same-origin" });
      if (response.ok && !response.redirected) {
        localStorage.removeItem(place);
        location.search = "?recover=1";
      }
    });
    const drop = document.createElement("button");
    drop.type = "button";
    drop.className = "button";
    drop.textContent = "버리기";
    drop.addEventListener("click", () => {
      localStorage.removeItem(place);
      box.remove();
    });
    box.append(words, back, " ", drop);
    desk.after(box);
  }
}

if (desk && form && desk.dataset.canSave === "yes") start();
