for (const field of document.querySelectorAll("input[data-search]")) {
  field.hidden = false;
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase();
    for (const row of field.closest("section").querySelectorAll("tbody tr")) {
      row.classList.toggle("miss", !row.textContent.toLowerCase().includes(wanted));
    }
  });
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const text = button.parentElement.querySelector("pre");
    getSelection().selectAllChildren(text);
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text.textContent).then(() => { button.textContent = "copied"; }, () => {});
    }
  });
}
