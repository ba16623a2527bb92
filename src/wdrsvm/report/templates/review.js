"use strict";
// Collects the decisions of the reader, and offers them as a table.
const cards = Array.from(document.querySelectorAll("#review fieldset"));
const progress = document.getElementById("progress");
const download = document.getElementById("download");
let unsaved = false;

// A cell in quotes, so that commas, quotes and line ends in labels do no harm.
const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

function decision(card) {
  const other = card.querySelector("[data-other]").value;
  return other || card.querySelector("input:checked")?.value || "";
}

function table() {
  const lines = cards
    .map((card) => [card.dataset.row, card.dataset.given, decision(card)])
    .filter(([, , label]) => label !== "")
    .map(([row, given, label]) => [row, quoted(given), quoted(label)].join(","));
  return ["row,given,reviewed", ...lines, ""].join("\n");
}

function update() {
  let decided = 0, corrected = 0;
  cards.forEach((card) => {
    const label = decision(card), changed = label !== "" && label !== card.dataset.given;
    card.classList.toggle("decided", label !== "");
    card.classList.toggle("corrected", changed);
    decided += label !== "";
    corrected += changed;
  });
  progress.textContent = `${decided} of ${cards.length} labels decided, ${corrected} corrected.`;
  download.disabled = decided === 0;
}

cards.forEach((card) => {
  const other = card.querySelector("[data-other]");
  // A choice of one kind takes back the choice of the other kind.
  card.addEventListener("change", (event) => {
    if (event.target === other) {
      card.querySelectorAll("input").forEach((input) => { input.checked = !other.value && input.value === ""; });
    } else {
      other.value = "";
    }
    unsaved = true;
    update();
  });
});

download.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.download = "reviewed.csv";
  link.click();
  URL.revokeObjectURL(link.href);
  unsaved = false;
});

window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
document.getElementById("review").addEventListener("submit", (event) => event.preventDefault());
update();
