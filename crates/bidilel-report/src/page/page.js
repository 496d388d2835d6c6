"use strict";
// What needs a script on the page: light and dark, sorting, what lies under the pointer, maps, confusion matrices.
// Names of classes go into the page as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const tip = document.getElementById("tip");
  const redraws = [];
  const redraw = () => redraws.forEach((draw) => draw());

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  const element = (name, text) => {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  };

  /** Shows lines of text, the first of them strong, and perhaps a picture, beside a place on the screen. */
  function showTip(lines, x, y, picture) {
    tip.replaceChildren();
    if (picture) {
      const image = document.createElement("img");
      image.src = picture;
      image.alt = "";
      tip.append(image);
    }
    lines.forEach((line, index) => tip.append(element(index === 0 ? "strong" : "div", line)));
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - height - 4))}px`;
  }
  const hideTip = () => { tip.hidden = true; };

  // --- light and dark -------------------------------------------------------------------------------------------

  const system = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const isDark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const setTheme = (value) => {
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
    nameTheme();
    redraw();
  };
  theme.hidden = false;
  theme.setAttribute("aria-label", "Switch between light and dark");
  nameTheme();
  theme.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  system.addEventListener("change", () => setTheme(document.documentElement.dataset.theme));
  // Paper is white.
  let before;
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; setTheme("light"); });
  addEventListener("afterprint", () => setTheme(before));

  // --- tables ---------------------------------------------------------------------------------------------------

  const collator = new Intl.Collator(undefined, { numeric: true });
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const numbers = body.rows.length > 0 && body.rows[0].cells[column].hasAttribute("data-v");
      // Numbers begin with the largest, names with A.
      const was = head.getAttribute("aria-sort");
      const up = was ? was === "descending" : !numbers;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => (numbers ? Number(row.cells[column].dataset.v) : row.cells[column].textContent);
      const order = numbers ? (a, b) => a - b : collator.compare;
      const rows = [...body.rows].sort((a, b) => (up ? 1 : -1) * order(key(a), key(b)));
      body.append(...rows);
    }));
  }

  // --- charts ---------------------------------------------------------------------------------------------------

  document.addEventListener("pointermove", (event) => {
    const told = event.target.closest && event.target.closest("[data-tip]");
    if (told) showTip([told.dataset.tip], event.clientX, event.clientY);
    else if (event.target.tagName !== "CANVAS") hideTip();
  });
  document.addEventListener("scroll", hideTip, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  /** Fits a canvas to its width; `height` is that of a canvas so wide. Returns its context and size in CSS pixels. */
  function fitted(canvas, height) {
    const width = canvas.clientWidth;
    const scale = devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    const font = `14px ${getComputedStyle(document.body).fontFamily}`;
    context.font = font;
    const high = height(width, context);
    canvas.style.height = `${high}px`;
    // A new size clears the canvas and its font.
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(high * scale);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = font;
    return [context, width, high];
  }

  /** Keeps a drawing up to date with the width of its canvas and the colors of the page. */
  function keep(canvas, draw) {
    redraws.push(draw);
    let width = 0;
    new ResizeObserver(() => {
      if (canvas.clientWidth !== width) {
        width = canvas.clientWidth;
        draw();
      }
    }).observe(canvas);
  }

  const within = (canvas, event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** A text that is at most so wide. */
  function shortened(context, text, most) {
    if (context.measureText(text).width <= most) return text;
    let end = text.length;
    while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > most) end -= 1;
    return `${text.slice(0, end)}…`;
  }

  // --- confusion matrices ---------------------------------------------------------------------------------------

  for (const canvas of document.querySelectorAll("canvas[data-confusion]")) {
    const { rows, columns, known, cells, totals } = data.confusions[Number(canvas.dataset.confusion)];
    const counts = new Map(cells.map(([row, column, count]) => [row * columns.length + column, count]));
    const live = canvas.parentElement.querySelector(".live");
    let left = 0, top = 0, cell = 1, at = null;

    const AXIS = "predicted →";
    /** Room for names on both axes and for what the axes are; none where a row would be lower than a line of text. */
    const room = (context, width) => {
      const longest = rows.reduce((most, name) => Math.max(most, context.measureText(name).width), 0);
      const names = Math.max(48, Math.ceil(context.measureText(AXIS).width) + 12, Math.min(200, Math.ceil(longest) + 14));
      return width >= 560 && (width - names) / columns.length >= 16 ? names : 0;
    };
    const draw = () => {
      let names = 0;
      const [context, width] = fitted(canvas, (wide, context) => {
        names = room(context, wide);
        cell = Math.min((wide - names) / columns.length, 36);
        return Math.ceil(names + cell * rows.length);
      });
      [left, top] = [names, names];
      const [right, wrong] = [color("--s1"), color("--s2")];
      // The frame of the matrix: it may be narrower than the canvas.
      context.strokeStyle = color("--grid");
      context.strokeRect(left + 0.5, top + 0.5, Math.min(cell * columns.length, width) - 1, cell * rows.length - 1);
      for (const [row, column, count] of cells) {
        context.globalAlpha = 0.12 + 0.88 * Math.sqrt(count / Math.max(1, totals[row]));
        context.fillStyle = rows[row] === columns[column] ? right : wrong;
        context.fillRect(left + column * cell, top + row * cell, Math.max(cell, 1), Math.max(cell, 1));
      }
      context.globalAlpha = 1;
      if (known) {
        const [x, y] = [left + known * cell, top + known * cell];
        context.strokeStyle = color("--muted");
        context.beginPath();
        context.moveTo(x, top); context.lineTo(x, top + cell * rows.length);
        context.moveTo(left, y); context.lineTo(left + cell * columns.length, y);
        context.stroke();
      }
      canvas.dataset.named = String(names ? rows.length : 0);
      if (names) {
        context.fillStyle = color("--ink");
        context.textBaseline = "middle";
        const written = (name) => shortened(context, name, names - 12);
        rows.forEach((name, row) => context.fillText(written(name), 4, top + (row + 0.5) * cell));
        columns.forEach((name, column) => {
          context.save();
          context.translate(left + (column + 0.5) * cell, top - 6);
          context.rotate(-Math.PI / 2);
          context.fillText(written(name), 0, 0);
          context.restore();
        });
        context.fillStyle = color("--muted");
        context.textAlign = "right";
        context.fillText(AXIS, left - 6, top - 32);
        context.textAlign = "left";
        context.fillText("true ↓", 4, top - 12);
      }
      if (at) {
        context.strokeStyle = color("--ink");
        context.lineWidth = 2;
        context.strokeRect(left + at[1] * cell, top + at[0] * cell, Math.max(cell, 4), Math.max(cell, 4));
      }
    };
    keep(canvas, draw);

    const lines = ([row, column]) => {
      const count = counts.get(row * columns.length + column) || 0;
      const share = Math.round((100 * count) / Math.max(1, totals[row]));
      return [rows[row], rows[row] === columns[column] ? "recognized" : `taken for ${columns[column]}`, `${count} of ${totals[row]} (${share} %)`];
    };
    const move = (to, x, y) => {
      at = to;
      draw();
      const said = lines(at);
      live.textContent = said.join(", ");
      showTip(said, x, y);
    };
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = within(canvas, event);
      const place = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
      const inside = place[0] >= 0 && place[1] >= 0 && place[0] < rows.length && place[1] < columns.length;
      if (inside) move(place, event.clientX, event.clientY);
      else hideTip();
    });
    canvas.addEventListener("pointerleave", () => { at = null; hideTip(); draw(); });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const [row, column] = at || [0, -step[1]];
      const to = [Math.min(Math.max(row + step[0], 0), rows.length - 1), Math.min(Math.max(column + step[1], 0), columns.length - 1)];
      const box = canvas.getBoundingClientRect();
      move(to, box.left + left + (to[1] + 0.5) * cell, box.top + top + (to[0] + 0.5) * cell);
    });
  }

  // --- maps -----------------------------------------------------------------------------------------------------

  for (const canvas of document.querySelectorAll("canvas[data-map]")) {
    const map = data.maps[Number(canvas.dataset.map)];
    const box = canvas.parentElement;
    const live = box.querySelector(".live");
    const key = box.querySelector(".key");
    const role = (name) => box.querySelector(`[data-role="${name}"]`);
    // Known classes, unseen classes, instances: one list, in the order in which they are drawn.
    const items = [
      ...map.points.map((at, index) => ({ at, kind: "point", index })),
      ...map.landmarks.map((at, index) => ({ at, kind: "landmark", index })),
      ...map.embeddings.map((at, index) => ({ at, kind: "embedding", index })),
    ];
    const xs = items.map((item) => item.at[0]), ys = items.map((item) => item.at[1]);
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    const middle = [(least(xs) + most(xs)) / 2, (least(ys) + most(ys)) / 2];
    const extent = Math.max(most(xs) - least(xs), most(ys) - least(ys)) || 1;
    let view = { zoom: 1, x: 0, y: 0 }, size = [1, 1], chosen = null, dragged = null;

    const place = ([x, y]) => {
      const scale = (view.zoom * (Math.min(...size) - 40)) / extent;
      return [size[0] / 2 + view.x + scale * (x - middle[0]), size[1] / 2 + view.y - scale * (y - middle[1])];
    };
    const unseenOf = (candidate) => map.unseen.indexOf(map.candidates[candidate]);
    const isShown = (item) => {
      const only = role("class").value;
      if (only === "" || item.kind === "landmark") return true;
      if (item.kind === "embedding") return item.index === Number(only);
      return unseenOf(map.truth[item.index]) === Number(only) || unseenOf(map.guesses[item.index][0]) === Number(only);
    };
    const isRight = (item) => map.guesses[item.index][0] === map.truth[item.index];
    // Hues a golden angle apart: neighbors in the list differ most.
    const hue = (index) => `hsl(${(index * 137.5) % 360} 65% ${isDark() ? 68 : 42}%)`;
    const paint = (item) => {
      const by = role("color").value;
      if (by === "truth") return hue(map.truth[item.index]);
      if (by === "guess") return hue(map.guesses[item.index][0]);
      return isRight(item) ? colors.right : colors.wrong;
    };
    let colors = {};

    const draw = () => {
      const [context, width, height] = fitted(canvas, (wide) => Math.max(300, Math.min(620, wide)));
      size = [width, height];
      colors = { right: color("--s1"), wrong: color("--s2"), known: color("--muted"), unseen: color("--s4"), ink: color("--ink"), paper: color("--paper") };
      // A finger scrolls the page until there is something to move.
      canvas.style.touchAction = view.zoom > 1 ? "none" : "pan-y";
      const radius = map.points.length > 3000 ? 1.8 : map.points.length > 800 ? 2.4 : 4;
      const hues = role("color").value !== "right";
      key.classList.toggle("hues", hues);
      let drawn = 0;
      for (const item of items) {
        if (!isShown(item)) continue;
        const [x, y] = place(item.at);
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        drawn += 1;
        if (item.kind === "point") {
          context.globalAlpha = map.points.length > 800 ? 0.7 : 0.85;
          context.beginPath();
          // Mistakes are crosses: a color alone says nothing to some readers, and on paper.
          if (isRight(item)) {
            context.fillStyle = paint(item);
            context.arc(x, y, radius, 0, 7);
            context.fill();
          } else {
            context.strokeStyle = paint(item);
            context.lineWidth = Math.max(1.2, radius / 2);
            context.moveTo(x - radius, y - radius); context.lineTo(x + radius, y + radius);
            context.moveTo(x - radius, y + radius); context.lineTo(x + radius, y - radius);
            context.stroke();
          }
          context.globalAlpha = 1;
        } else if (item.kind === "landmark") {
          context.strokeStyle = colors.known;
          context.lineWidth = 1.5;
          context.strokeRect(x - 3.5, y - 3.5, 7, 7);
        } else {
          context.fillStyle = hues ? hue(map.candidates.indexOf(map.unseen[item.index])) : colors.unseen;
          context.strokeStyle = colors.paper;
          context.lineWidth = 1.5;
          context.beginPath();
          context.moveTo(x, y - 8); context.lineTo(x + 8, y); context.lineTo(x, y + 8); context.lineTo(x - 8, y);
          context.closePath();
          context.fill();
          context.stroke();
        }
      }
      names(context, width, height);
      if (chosen) {
        const [x, y] = place(chosen.at);
        context.strokeStyle = colors.ink;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, 11, 0, 7);
        context.stroke();
      }
      canvas.dataset.drawn = String(drawn);
    };

    /** Names of all unseen classes beside the whole map, with lines to their marks, where they have no room on it. */
    const namesInMargins = (context, width, height, shown) => {
      const side = Math.min(width, height) - 40;
      const [left, top] = [(width - side) / 2, (height - side) / 2];
      if (shown.length !== map.margins.length || view.zoom !== 1 || view.x || view.y || left < 120 || side < 500) return false;
      for (const [item, x, y] of shown) {
        const [onRight, share] = map.margins[item.index];
        const [at, high] = [onRight ? left + side + 8 : left - 8, top + share * side];
        context.textAlign = onRight ? "left" : "right";
        context.fillStyle = colors.ink;
        context.fillText(shortened(context, map.unseen[item.index], left - 16), at, high);
        const reach = Math.hypot(at - x, high - y);
        context.beginPath();
        context.moveTo(at + (onRight ? -4 : 4), high);
        context.lineTo(x + (7 * (at - x)) / reach, y + (7 * (high - y)) / reach);
        context.strokeStyle = colors.known;
        context.lineWidth = 0.8;
        context.stroke();
      }
      context.textAlign = "left";
      canvas.dataset.named = String(shown.length);
      return true;
    };

    /** Names of unseen classes, on the first side of the mark where they cover no other mark and no other name; known classes
     * are kept free where that is possible. */
    const names = (context, width, height) => {
      const shown = items.filter((one) => one.kind === "embedding" && isShown(one)).map((item) => [item, ...place(item.at)]);
      context.textBaseline = "middle";
      if (namesInMargins(context, width, height, shown)) return;
      const marks = shown.map(([, x, y]) => [x - 8, y - 8, 16, 16]);
      const known = items.filter((one) => one.kind === "landmark").map((item) => place(item.at)).map(([x, y]) => [x - 5, y - 5, 10, 10]);
      const taken = [];
      const meets = ([a, b, c, d]) => ([x, y, w, h]) => a < x + w && x < a + c && b < y + h && y < b + d;
      context.lineJoin = "round";
      shown.forEach(([item, x, y], index) => {
        const text = shortened(context, map.unseen[item.index], 150);
        const wide = context.measureText(text).width;
        const [right, left, middle, above, below] = [x + 11, x - 11 - wide, x - wide / 2, y - 26, y + 10];
        const sides = [[right, y - 8], [left, y - 8], [middle, above], [middle, below], [right - 5, above + 6], [right - 5, below - 6], [left + 5, above + 6], [left + 5, below - 6]]
          .map(([left, top]) => [left, top, wide, 16]);
        const isFree = (area) => area[0] >= 2 && area[1] >= 2 && area[0] + wide <= width - 2 && area[1] + 16 <= height - 2
          && !taken.some(meets(area)) && !marks.some((mark, other) => other !== index && meets(area)(mark));
        const area = sides.find((side) => isFree(side) && !known.some(meets(side))) || sides.find(isFree);
        if (!area) return;
        taken.push(area);
        context.strokeStyle = colors.paper;
        context.lineWidth = 4;
        context.strokeText(text, area[0], area[1] + 8);
        context.fillStyle = colors.ink;
        context.fillText(text, area[0], area[1] + 8);
      });
      canvas.dataset.named = String(taken.length);
    };
    keep(canvas, draw);

    const said = (item) => {
      if (item.kind === "landmark") return [map.known[item.index], "known class"];
      if (item.kind === "embedding") return [map.unseen[item.index], "unseen class, embedded by its description"];
      const [first, ...others] = map.guesses[item.index].map((guess) => map.candidates[guess]);
      const truth = map.candidates[map.truth[item.index]];
      const name = map.names[item.index] || `instance ${map.instances[item.index]}`;
      const verdict = first === truth ? "recognized" : `mistaken for ${first}`;
      return [truth, verdict, name, others.length ? `then ${others.join(", ")}` : ""].filter((line) => line !== "");
    };
    const choose = (item) => {
      chosen = item;
      draw();
      if (!item) {
        live.textContent = "";
        return hideTip();
      }
      const corner = canvas.getBoundingClientRect();
      const [x, y] = place(item.at);
      live.textContent = said(item).join(", ");
      showTip(said(item), corner.left + x, corner.top + y, item.kind === "point" ? map.pictures[item.index] : "");
    };
    const nearest = (x, y, reach) => {
      let best = null, least = reach * reach;
      for (const item of items) {
        if (!isShown(item)) continue;
        const [px, py] = place(item.at);
        const apart = (px - x) ** 2 + (py - y) ** 2 - (item.kind === "point" ? 0 : 16);
        if (apart < least) [best, least] = [item, apart];
      }
      return best;
    };
    const zoom = (factor, x = size[0] / 2, y = size[1] / 2) => {
      const to = Math.min(40, Math.max(1, view.zoom * factor));
      const ratio = to / view.zoom;
      view = { zoom: to, x: (view.x - (x - size[0] / 2)) * ratio + (x - size[0] / 2), y: (view.y - (y - size[1] / 2)) * ratio + (y - size[1] / 2) };
      if (to === 1) view = { zoom: 1, x: 0, y: 0 };
      choose(null);
    };

    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = within(canvas, event);
      if (dragged) {
        view.x += x - dragged[0];
        view.y += y - dragged[1];
        dragged = [x, y];
        return choose(null);
      }
      const item = nearest(x, y, 12);
      if (item !== chosen) choose(item);
    });
    canvas.addEventListener("pointerdown", (event) => {
      dragged = within(canvas, event);
      canvas.setPointerCapture(event.pointerId);
      const item = nearest(...dragged, 16);
      if (item) choose(item);
    });
    canvas.addEventListener("pointerup", () => { dragged = null; });
    canvas.addEventListener("pointercancel", () => { dragged = null; });
    canvas.addEventListener("pointerleave", () => { dragged = null; choose(null); });
    canvas.addEventListener("wheel", (event) => {
      // The page scrolls, unless the map was chosen first.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, ...within(canvas, event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
      if (event.key === "+" || event.key === "=") return zoom(1.5);
      if (event.key === "-") return zoom(1 / 1.5);
      if (event.key === "0") return zoom(0);
      if (!direction) return;
      event.preventDefault();
      const [x, y] = chosen ? place(chosen.at) : [size[0] / 2, size[1] / 2];
      let best = null, least = Infinity;
      for (const item of items) {
        if (item === chosen || !isShown(item)) continue;
        const [px, py] = place(item.at);
        const along = (px - x) * direction[0] + (py - y) * direction[1];
        const aside = Math.abs((px - x) * direction[1] - (py - y) * direction[0]);
        if (along > 0.5 && along + 2 * aside < least) [best, least] = [item, along + 2 * aside];
      }
      if (best) choose(best);
    });
    role("color").addEventListener("change", draw);
    role("class").addEventListener("change", () => choose(null));
    role("in").addEventListener("click", () => zoom(1.5));
    role("out").addEventListener("click", () => zoom(1 / 1.5));
    role("reset").addEventListener("click", () => zoom(0));
  }

  // --- contents -------------------------------------------------------------------------------------------------

  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const headings = [...links.keys()].map((id) => document.getElementById(id));
  let waits = false;
  /** Marks the last heading that the upper third of the window has reached. */
  const mark = () => {
    waits = false;
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
    const current = (passed.at(-1) || headings[0] || {}).id;
    links.forEach((link, id) => (id === current ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  };
  document.addEventListener("scroll", () => {
    if (!waits) requestAnimationFrame(mark);
    waits = true;
  }, { passive: true });
  mark();
})();
