// Sorts a table by the column whose heading is activated; a second time in the other direction.
// An access that is linked to opens itself.
(function () {
  "use strict";
  function value(row, column) {
    return row.cells[column].getAttribute("data-value");
  }
  function order(column, sign) {
    return function (a, b) {
      var x = value(a, column), y = value(b, column), m = Number(x), n = Number(y);
      if (!isNaN(m) && !isNaN(n)) { return sign * (m - n); }
      return sign * x.localeCompare(y);
    };
  }
  document.querySelectorAll("th > button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.parentNode, table = head.closest("table"), body = table.tBodies[0];
      var sign = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
      Array.from(body.rows).sort(order(head.cellIndex, sign)).forEach(function (row) {
        body.appendChild(row);
      });
    });
  });
  function open() {
    var target = document.getElementById(location.hash.slice(1));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", open);
  open();
})();
